"""
Headings and the sections they open. Pure: no I/O, no settings.

Only marked headings count: Markdown `#`, and lines underlined (or over- and underlined) as in
setext and reStructuredText. Extracted papers have none that could be trusted, so none are guessed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ccrag.types import Section, SectionPath

_MARKER = re.compile(
    r"^(?:(?P<rule>=={2,}|--{2,}|\*\*{2,}|\^\^{2,}|~~{2,}|\"\"{2,})[ \t]*\r?$"
    r"| {0,3}(?P<hashes>\#{1,6})(?=[ \t])"
    r"| {0,3}(?P<fence>`{3,}|~{3,}))",
    re.MULTILINE,
)
_CLOSING_HASHES = re.compile(r"[ \t]\#+$")
_SPACE = re.compile(r"\s*")
_NOT_A_TITLE = re.compile(r"[|>]|[-*+•][ \t]|\#{1,6}[ \t]|.*\S(?:\t| {3,})\S")
"""Table rows, quotes, list items, other headings, and columns set apart by wide gaps."""


class Heading(NamedTuple):
    """`text[start:end]` is the heading with its lines and the white space after them."""

    start: int
    end: int
    level: int
    """From 1; for underlined headings, the order in which their style first appears."""
    title: str


class _Line(NamedTuple):
    start: int
    text: str
    """Without its line end; trailing white space removed."""


def _line_before(text: str, position: int) -> _Line | None:
    """The line that ends just before the line starting at `position`."""
    if position == 0:
        return None
    start = text.rfind("\n", 0, position - 1) + 1
    return _Line(start, text[start : position - 1].rstrip())


def _line_at(text: str, position: int) -> _Line:
    """The line that starts at `position`."""
    end = text.find("\n", position)
    return _Line(position, text[position : len(text) if end < 0 else end].rstrip())


class _Finder:
    """Reads the markers of one text in order; holds what an earlier one decides for later ones."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fence = ""
        self._styles: dict[tuple[str, bool], int] = {}
        self._last_end = 0
        """Where the last heading, with its white space, ended."""

    def headings(self) -> Iterator[Heading]:
        for marker in _MARKER.finditer(self._text):
            heading = self._read(marker)
            if heading is not None:
                self._last_end = heading.end
                yield heading

    def _read(self, marker: re.Match[str]) -> Heading | None:
        run = marker["rule"] or marker["fence"] or ""
        if self._fence:
            if run.startswith(self._fence) and _line_at(self._text, marker.start()).text.endswith(
                run
            ):
                self._fence = ""
            return None
        if marker["hashes"]:
            return self._hashed(marker)
        heading = self._underlined(marker.start(), run) if marker["rule"] else None
        if heading is None and run[0] in "`~":
            self._fence = run
        return heading

    def _hashed(self, marker: re.Match[str]) -> Heading | None:
        line = _line_at(self._text, marker.end())
        title = _CLOSING_HASHES.sub("", line.text).strip()
        if not title.strip("# "):
            return None
        start = marker.start("hashes")
        return self._heading(start, line.start + len(line.text), len(marker["hashes"]), title)

    def _underlined(self, start: int, rule: str) -> Heading | None:
        title = _line_before(self._text, start)
        if title is None or not _may_be_title(title.text, rule):
            return None
        above = _line_before(self._text, title.start)
        overlined = above is not None and above.text == rule
        if not overlined and title.text[0].isspace():
            return None
        alone = above is None or not above.text or title.start == self._last_end
        if not (overlined or alone):
            return None
        level = self._styles.setdefault((rule[0], overlined), len(self._styles) + 1)
        first = above.start if above is not None and overlined else title.start
        return self._heading(first, start + len(rule), level, title.text.strip())

    def _heading(self, start: int, end: int, level: int, title: str) -> Heading:
        return Heading(start, skip_space(self._text, end), level, title)


def skip_space(text: str, position: int) -> int:
    """Where the white space at `position`, if any, ends."""
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _may_be_title(line: str, rule: str) -> bool:
    """Whether `line` can be the title above `rule`, whatever stands above it."""
    return (
        len(line) <= len(rule)
        and any(map(str.isalnum, line))
        and _NOT_A_TITLE.match(line.lstrip()) is None
    )


def find_headings(text: str) -> list[Heading]:
    """The marked headings of `text` outside fenced code, in order."""
    if "\n" not in text and not text.lstrip(" ").startswith("#"):
        return []  # most extracted papers: no need to look at every character
    return list(_Finder(text).headings()) if _MARKER.search(text) else []


def sections_below(text: str, headings: Sequence[Heading]) -> list[Section]:
    """
    The sections that `headings` open; they tile `text`.

    Text before the first heading has path (), unless it is white space, which joins the first
    section. Empty text has no section.
    """
    if not text:
        return []
    sections: list[Section] = []
    path: SectionPath = ()
    levels: list[int] = []
    start = 0
    for heading in headings:
        if text[start : heading.start].strip():
            sections.append(Section(path, start, heading.start))
            start = heading.start
        path = _descend(path, levels, heading)
    sections.append(Section(path, start, len(text)))
    return sections


def _descend(path: SectionPath, levels: list[int], heading: Heading) -> SectionPath:
    """The path of `heading` after `path`, whose headings have `levels`, kept in step."""
    while levels and levels[-1] >= heading.level:
        levels.pop()
    depth = len(levels)
    levels.append(heading.level)
    return (*path[:depth], heading.title)


def split_sections(text: str) -> list[Section]:
    """The sections of `text`, which they tile: one with path () if it has no heading."""
    return sections_below(text, find_headings(text))


def is_heading(text: str, path: SectionPath) -> bool:
    """
    Tell whether a sentence is a heading: marked as one, or word for word one of its `path`.

    Args:
        path: the headings above the sentence.
    """
    found = find_headings(text)
    if found and found[0].start == 0 and found[0].end == len(text):
        return True
    return " ".join(text.split()) in path
