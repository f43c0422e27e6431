"""`ccrag chat`: a dialogue in the terminal, or line by line through a pipe."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import (
    CollectionOption,
    DocsFileOption,
    DocsOption,
    IndexNameOption,
    OverridesOption,
    PipelineNameOption,
    WholeIndexOption,
    read_candidates,
)
from ccrag.cli.progress import waiting
from ccrag.text.truncate import short_repr

if TYPE_CHECKING:
    from ccrag.chat.commands import Command
    from ccrag.chat.file import ChatFile
    from ccrag.chat.session import Chat
    from ccrag.config import Settings
    from ccrag.types import Candidates

PROMPT = "> "


def chat(
    index: IndexNameOption,
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    pipeline: PipelineNameOption = "chat",
    overrides: OverridesOption = None,
    file: Annotated[
        Path | None, typer.Option(help="Where the dialogue is kept, and gone on with if it exists.")
    ] = None,
) -> None:
    """
    Ask questions that may lean on earlier ones: a line each, from a terminal or a pipe.

    Example: ccrag chat --index demo --docs assert,debugger --file assert.jsonl
    """
    from ccrag.chat.session import Chat
    from ccrag.config.load import load_settings
    from ccrag.library import Library
    from ccrag.pipeline.factory import open_pipeline

    with user_errors():
        settings = load_settings(pipeline, overrides or [])
        candidates = read_candidates(docs, docs_file, whole_index, collection)
        opened = _open_file(file, index, candidates, settings)
        talk = Chat(
            Library(open_pipeline(settings, index, notify=notify)),
            candidates,
            file=opened,
            history_words=settings.chat.history_words,
        )
        if file is not None and opened is not None:
            opened.begin()
    _greet(talk, settings, index, opened)
    if not _converse(talk):
        raise typer.Exit(1)


def _open_file(
    file: Path | None, index: str, candidates: "Candidates", settings: "Settings"
) -> "ChatFile | None":
    """The file that was named; for a person at a terminal, a new one otherwise."""
    from datetime import datetime

    from ccrag.chat.file import ChatFile
    from ccrag.chat.session import new_file
    from ccrag.chat.transcript import Ground

    if file is None and not sys.stdin.isatty():
        return None
    path = file or new_file(index, settings.chat, now=datetime.now())
    return ChatFile(path, Ground(index, candidates, settings))


def _greet(talk: "Chat", settings: "Settings", index: str, file: "ChatFile | None") -> None:
    """Say what is talked with and where it is kept; through a pipe, only what may be amiss."""
    from ccrag.chat.session import reads_turns

    if not reads_turns(settings):
        notify(
            f"pipeline {settings.name} reads each question as it stands; "
            "--pipeline chat fills in what earlier ones say"
        )
    if talk.left_out:
        notify(f"not in the index, left out: {', '.join(talk.left_out)}")
    if file is not None and file.is_torn:
        notify(f"{file.path}: its last line was not written whole, and is left out")
    if not sys.stdin.isatty():
        return
    notify(f"{index}, {talk.total} documents, pipeline {settings.name}; /help lists the commands")
    if talk.conversation.last is not None:
        asked = short_repr(talk.conversation.last.question)
        notify(f"{len(talk.conversation)} answered so far, last: {asked}")
    if file is not None:
        notify(f"kept in {file.path}")


def _converse(talk: "Chat") -> bool:
    """
    Respond line by line; whether all went well, if the lines come through a pipe.

    Raises:
        KeyboardInterrupt: there is nobody at a terminal to go on; the command ends with code 130.
    """
    from ccrag.errors import CcragError, InvariantError

    typed, well = sys.stdin.isatty(), True
    for line in _typed_lines() if typed else _piped_lines():
        before = talk.conversation
        try:
            if not _respond(talk, line):
                break
        except KeyboardInterrupt:
            if not typed:
                raise
            given_up = "given up; the dialogue is as it was before this question"
            notify(given_up if talk.conversation is before else "stopped; the answer is kept")
        except InvariantError:
            raise
        except CcragError as error:
            notify(f"error: {error}")
            well = False
    return well or typed


def _typed_lines() -> Iterator[str]:
    """Lines from a person: prompted for, and edited where readline is at hand."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() uses it once it is imported
    while True:
        notify("")
        try:
            line = _prompted()
        except EOFError:
            notify("")
            return
        except KeyboardInterrupt:
            notify("\nCtrl-D or /quit ends")
        except UnicodeDecodeError:
            notify("error: that line is not UTF-8")
        else:
            yield line


def _prompted() -> str:
    """
    One line, asked for on the terminal and never in a stdout that goes elsewhere.

    Raises:
        EOFError: there is none any more.
    """
    if sys.stdout.isatty():
        return input(PROMPT)
    sys.stderr.write(PROMPT)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _piped_lines() -> Iterator[str]:
    """Lines from a program; bytes that are no UTF-8 stand as lone surrogates."""
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "surrogateescape")


def _respond(talk: "Chat", line: str) -> bool:
    """
    Do what a line says; whether there is to be another.

    Raises:
        CcragError: it could not be done; nothing of the dialogue is lost.
    """
    from ccrag.chat.commands import ChatQuestion, read_line

    said = read_line(line)
    if isinstance(said, ChatQuestion):
        _answer(talk, said.text)
    elif said is not None:
        return _obey(talk, said)
    return True


def _answer(talk: "Chat", question: str) -> None:
    from ccrag.cli import render

    with waiting("reading"):
        reply = talk.ask(question)
    render.print_answer(reply.result, explain=False)
    if not sys.stdin.isatty():
        typer.echo()
    if reply.unsaved is not None:
        raise reply.unsaved


def _obey(talk: "Chat", command: "Command") -> bool:
    from ccrag.chat.commands import HELP
    from ccrag.cli import render

    if command.name == "docs":
        render.print_documents(talk.documents(command.words))
    elif command.name == "why" and talk.conversation.last is not None:
        render.print_trace(talk.conversation.last)
    elif command.name == "why":
        notify("nothing has been answered yet")
    elif command.name == "new":
        talk.begin_anew()
        notify("a new dialogue")
    elif command.name == "help":
        notify(HELP)
    return command.name != "quit"
