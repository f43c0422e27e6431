"""
Blocks of a text: what is a paragraph, a table, a caption, a formula, a footnote, the bibliography.

Reads the marks of Markdown, of HTML tables inside it, and of reStructuredText tables. Pure: no I/O,
no settings. Kinds are recognised by form alone; what has no form is a paragraph.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ccrag.text.sections import Heading, find_headings

BlockKind = Literal[
    "heading",
    "paragraph",
    "list",
    "table",
    "caption",
    "figure",
    "formula",
    "code",
    "footnote",
    "reference",
]


class Block(NamedTuple):
    """`text[start:end]`, with the white space after it."""

    kind: BlockKind
    start: int
    end: int


_CAPTION = (
    r"(?:\*\*|_)?(?:table|figure|fig\.|algorithm|listing|scheme|box|tabelle|abbildung|tableau)"
    r"[ \u00a0](?:(?:[a-z]\.?)?\d+(?:\.\d+)*|[ivx]+)(?:\*\*|_)?[.:\u2014|]|[表图圖][ \u00a0]?\d+"
)
_STARTS: tuple[tuple[BlockKind, re.Pattern[str]], ...] = (
    ("code", re.compile(r"`{3,}|~{3,}")),
    ("formula", re.compile(r"\$\$|\\\[|\\begin\{(?:equation|align|gather|multline|eqnarray)\*?\}")),
    ("table", re.compile(r"<table\b", re.IGNORECASE)),
    ("table", re.compile(r"\||\+[-=]{2,}[-=+]*\+|={2,}(?: +={2,})+$|\\begin\{tabular")),
    ("figure", re.compile(r"!\[[^\]]*\]\([^)]*\)|<img\b", re.IGNORECASE)),
    ("caption", re.compile(_CAPTION, re.IGNORECASE)),
    (
        "footnote",
        re.compile(
            r"\[\^[^\]]+\]:|[†‡§¶](?=\S)|<sup>[^<]{1,3}</sup>|\$\^?\{?\\?d?dagger"
            r"|\$\s*\^\s*\{?[\d*]+\}?\s*\$|\*(?=[^\s*])[^*]*$"
        ),
    ),
    ("list", re.compile(r"(?:[-*+•◦‣]|\(?(?:\d{1,2}|[a-z])[.)])\s+\S")),
)
"""Patterns of a block's first line, without its indentation; the first that fits counts."""
_ENDS: dict[str, re.Pattern[str]] = {
    "```": re.compile(r"\s*`{3,}\s*$"),
    "~~~": re.compile(r"\s*~{3,}\s*$"),
    "$$": re.compile(r".*\$\$\s*$"),
    "\\[": re.compile(r".*\\\]\s*$"),
    "\\begin": re.compile(r".*\\end\{"),
    "<table": re.compile(r".*</table>", re.IGNORECASE),
}
"""Patterns of the last line of a block that began so; until then blank lines are part of it."""
_TABLE_ROW = re.compile(r"\s*(?:\||\+[-=])")
_ANYTHING = re.compile(r"")
_RULED = re.compile(r"={2,}(?: +={2,})+$")
_NEW_ANYWHERE = frozenset(("code", "formula", "table", "figure", "list"))
"""Kinds that need no blank line before them; the others could be a wrapped line of a paragraph."""
_BIBLIOGRAPHY = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s+|[A-Z]\.?\s+)?(?:references|bibliography|literature(?: cited)?"
    r"|works cited|references and notes|literatur(?:verzeichnis)?|参考文献|參考文獻)\s*:?",
    re.IGNORECASE,
)


def is_bibliography(title: str) -> bool:
    """Tell whether a section of this heading lists the works cited."""
    return _BIBLIOGRAPHY.fullmatch(title.strip(" *_#")) is not None


def find_blocks(text: str, headings: Sequence[Heading] | None = None) -> list[Block]:
    """
    Return the blocks of `text`, in order; they tile it from its first character that is not white
    space.

    A caption right below a table or figure is a block of its own. Below a heading that
    `is_bibliography` all is `reference`, up to the next heading.

    Args:
        headings: those of `text`, if the caller has them already.
    """
    blocks: list[Block] = []
    start, cited = 0, False
    for heading in find_headings(text) if headings is None else headings:
        blocks += _between(text, start, heading.start, cited=cited)
        blocks.append(Block("heading", heading.start, heading.end))
        start, cited = heading.end, is_bibliography(heading.title)
    return [*blocks, *_between(text, start, len(text), cited=cited)]


def _between(text: str, start: int, end: int, *, cited: bool) -> Iterator[Block]:
    """Yield the blocks between two headings."""
    begun = list(_starts(text, start, end))
    ends = [*(at for _, at in begun), end][1:]
    for (kind, at), after in zip(begun, ends, strict=True):
        yield Block("reference" if cited else kind, at, after)


def _starts(text: str, start: int, end: int) -> Iterator[tuple[BlockKind, int]]:
    """Yield the kind of each block and where it begins."""
    kind: BlockKind | None = None
    closing: re.Pattern[str] | None = None
    rows = _ANYTHING
    for at, line in _lines(text, start, end):
        if closing is not None:
            if closing.match(line):
                kind = closing = None
        elif not line.strip():
            kind = None
        elif not (kind == "table" and rows.match(line)):
            bare = line.strip()
            new = _begun_after(kind, bare)
            if new is not None:
                yield new, at
                opening = _opening_of(bare, new)
                closing = _ENDS[opening] if opening else None
                kind = new
                if opening and _ENDS[opening].match(bare[len(opening) :]):
                    kind = closing = None
                rows = _ANYTHING if _RULED.match(bare) else _TABLE_ROW


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    at = start
    while at < end:
        after = text.find("\n", at, end) + 1 or end
        yield at, text[at:after]
        at = after


def _begun_after(kind: BlockKind | None, line: str) -> BlockKind | None:
    """
    Return the kind of block that `line` begins inside or after a block of `kind`; None: it goes on.
    """
    begun = next((begun for begun, start in _STARTS if start.match(line)), None)
    if kind is None or kind == "table":
        return begun or "paragraph"
    if kind == "figure":
        return begun or "caption"  # words right below an image
    return begun if begun in _NEW_ANYWHERE else None


def _opening_of(line: str, kind: BlockKind) -> str | None:
    """Return the start of `line` if it opens a block that blank lines do not end, else None."""
    if kind not in ("code", "formula", "table"):
        return None
    return next((opening for opening in _ENDS if line.lower().startswith(opening)), None)
