"""Read a line of a chat as a question or as one of a few commands. Pure."""

from dataclasses import dataclass
from typing import Literal, get_args

from ccrag.errors import InputError
from ccrag.text.truncate import short_repr

CommandName = Literal["docs", "why", "new", "help", "quit"]
NAMES: tuple[CommandName, ...] = get_args(CommandName)
HELP = """\
A line is a question; it may lean on the ones before it.
/docs [WORDS]  the documents that may be read, * before those cited; with WORDS, by their titles
/why           how the last answer came about: variants, ranks, evidence, notes
/new           forget the dialogue so far; its file keeps it
/help          this list
/quit          end (so does Ctrl-D); Ctrl-C gives up the answer under way
A question that begins with / is asked with a space before it."""


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """Something to be answered."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """Something to be done."""

    name: CommandName
    words: str = ""
    """Words after the command; `docs` alone takes any."""


def read_line(line: str) -> ChatQuestion | Command | None:
    """
    Return what `line` means; None if it is blank.

    Raises:
        InputError: it begins with `/` and is no command, or it is not UTF-8.
    """
    if any("\ud800" <= character <= "\udfff" for character in line):
        raise InputError(f"not UTF-8, so nothing is asked: {short_repr(line)}")
    if not line.strip():
        return None
    if not line.startswith("/"):
        return ChatQuestion(line.strip())
    name, _, words = line[1:].strip().partition(" ")
    if name not in NAMES:
        known = ", ".join(f"/{known}" for known in NAMES)
        raise InputError(
            f"no command {short_repr('/' + name)}; there are {known}; "
            "put a space before a question that begins with /"
        )
    if words and name != "docs":
        raise InputError(f"/{name} stands alone, and {short_repr(words)} behind it means nothing")
    return Command(name, words.strip())
