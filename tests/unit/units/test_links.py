"""Links between documents: given ones, and those found in texts."""

import pytest

from ccrag.types import Document
from ccrag.units.links import LinkFinder

TITLES = {
    "for": 'The "for" statement',
    "calls": "Calls",
    "guide/set-up.md": "Setting up",
    "twin1": "Same name",
    "twin2": "Same name",
    "a b": "",
}


def found(text: str, *, links: tuple[str, ...] = (), doc_id: str = "me") -> list[str]:
    finder = LinkFinder([*TITLES.items(), ("me", "My own title")])
    return finder.links(Document(doc_id, "", text, links=links))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[loops](for)", ["for"]),
        ("[x](for#else) [y](<calls>?a=1)", ["for", "calls"]),
        ('[up](../guide/set-up.html "Title")', ["guide/set-up.md"]),
        ("[up](https://example.org/docs/set-up)", ["guide/set-up.md"]),
        ("[x][1]\n\n[1]: a%20b", ["a b"]),
        ('<a class="y" href="calls.html">z</a>', ["calls"]),
        ("[[Setting up|here]] and [[for]]", ["guide/set-up.md", "for"]),
        ("[twin](Same%20name)", []),
        ("[gone](nowhere.md) [mail](mailto:x@example.org)", []),
        ("[me](me)", []),
    ],
)
def test_addresses(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('see section The "for" statement for more', ["for"]),
        ("as described in the\nfor statement", ["for"]),
        ("See also The for statement.", ["for"]),
        (
            "This is explained in section Setting\n   up (and see Calls).",
            ["guide/set-up.md", "calls"],
        ),
        ("see calls of the function", []),
        ("Calls are made. The for statement loops.", []),
        ("see Same name", []),
        ("you see, Calls", []),
        ("see", []),
    ],
)
def test_references_in_words(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_given_links_come_first_and_only_within_the_collection() -> None:
    assert found("see Calls, [x](for)", links=("for", "elsewhere", "me")) == ["for", "calls"]


def test_given_or_found_can_be_left_out() -> None:
    finder = LinkFinder(TITLES.items())
    document = Document("twin1", "", "[x](for)", links=("calls",))
    assert finder.links(document, found=False) == ["calls"]
    assert finder.links(document, given=False) == ["for"]
