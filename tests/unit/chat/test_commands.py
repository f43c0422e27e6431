"""Lines of a chat."""

import pytest

from ccrag.chat.commands import HELP, NAMES, ChatQuestion, Command, read_line
from ccrag.errors import InputError


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", None),
        (" \t\n", None),
        ("Why?\n", ChatQuestion("Why?")),
        ("  What about its limits?  ", ChatQuestion("What about its limits?")),
        ("docs", ChatQuestion("docs")),
        (" /etc/hosts is what?", ChatQuestion("/etc/hosts is what?")),
        ("/docs", Command("docs")),
        ("/docs  heat pump \r\n", Command("docs", "heat pump")),
        ("/why\n", Command("why")),
        ("/new", Command("new")),
        ("/help", Command("help")),
        ("/quit", Command("quit")),
    ],
)
def test_what_a_line_means(line: str, said: object) -> None:
    assert read_line(line) == said


@pytest.mark.parametrize("line", ["/x", "/", "//", "/Docs", "/whyever", "/docs\x1b[2J"])
def test_an_unknown_command_is_named_with_those_there_are(line: str) -> None:
    with pytest.raises(InputError, match="no command '/") as caught:
        read_line(line)
    assert "there are /docs, /why, /new, /help, /quit" in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("line", ["/new dialogue", "/quit now", "/why not", "/help me"])
def test_words_behind_a_command_that_takes_none_are_refused(line: str) -> None:
    with pytest.raises(InputError, match=f"^{line.split()[0]} stands alone, and '"):
        read_line(line)


def test_bytes_that_are_no_text_are_not_asked() -> None:
    line = b"caf\xe9?".decode("utf-8", "surrogateescape")
    with pytest.raises(InputError, match=r"^not UTF-8, so nothing is asked: 'caf\\udce9\?'"):
        read_line(line)


def test_a_long_line_is_not_repeated_in_full() -> None:
    with pytest.raises(InputError) as caught:
        read_line("/" + "x" * 5_000)
    assert len(str(caught.value)) < 250


def test_help_names_every_command() -> None:
    assert all(f"\n/{name} " in HELP for name in NAMES)
