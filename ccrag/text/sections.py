"""
Headings and the sections they open. Pure: no I/O, no settings.

Only marked headings count: Markdown `#`, and lines underlined (or over- and underlined) as in
setext and reStructuredText. Extracted papers have none that could be trusted, so none are guessed.
Markdown is read by CommonMark's rules (0.31): what stands in front matter, fenced code, HTML
blocks or indented code is no heading. What is underlined is narrower, for plain texts are read too:
the underline has two marks at least, and the title is one line that stands alone and is not long.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ccrag.types import Section, SectionPath

_ITEM = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})*"
_MARKER = re.compile(
    r"^(?: {0,3}(?P<rule>=={1,}|--{1,}|\*\*{2,}|\^\^{2,}|~~{2,}|\"\"{2,})[ \t]*\r?$"
    r"| {0,3}(?P<hashes>\#{1,6})(?=[ \t])"
    rf"|(?P<container> {{0,3}}{_ITEM})(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})"
    r"| {0,3}(?P<html><(?=[A-Za-z/?!])))",
    re.MULTILINE,
)
_RAW = (
    (re.compile(r"<(?:pre|script|style|textarea)(?=[\s>]|$)", re.IGNORECASE),
     re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)),
    (re.compile(r"<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(">")),
)  # fmt: skip
"""Starts of HTML blocks that reach to a mark, and the mark; to the end of the text without it."""
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd"
    r"|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]"
    r"|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup"
    r"|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    r"(?=[\s>]|/>|$)",
    re.IGNORECASE,
)
_ANY_TAG = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9-]*"
    r"(?:[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^\s\"'=<>`]+|'[^'\n]*'|\"[^\"\n]*\"))?)*"
    r"[ \t]*/?|/[A-Za-z][A-Za-z0-9-]*[ \t]*)>[ \t\r]*$",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"^[ \t\r]*$", re.MULTILINE)
_FRONT_MATTER = re.compile(
    r"\ufeff?(?:---[ \t]*\r?\n(?P<yaml>(?:[ \t]*(?:\#.*)?\r?\n)*[\w.\"'-]+[ \t]*:(?:.*\n)*?)"
    r"(?:---|\.\.\.)[ \t]*\r?$"
    r"|\+\+\+[ \t]*\r?\n(?P<toml>(?:.*\n)*?)\+\+\+[ \t]*\r?$)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^\.\. [\w:+-]+::", re.MULTILINE)
"""A mark of reStructuredText, which Markdown lacks: there, `#` starts comments in code only."""
_CLOSING_HASHES = re.compile(r"[ \t]\#+$")
_SPACE = re.compile(r"\s*")
_NOT_A_TITLE = re.compile(r"[|>]|[-*+•][ \t]|\#{1,6}[ \t]|.*\S(?:\t| {3,})\S")
"""Table rows, quotes, list items, other headings, and columns set apart by wide gaps."""
_LEVELS = {"=": 1, "-": 2}
"""Levels of headings by their underlines, in Markdown."""
MAX_TITLE_CHARS = 200
"""The longest title above an underline shorter than it; longer lines are paragraphs over a rule."""


class Heading(NamedTuple):
    """`text[start:end]` is the heading with its lines and the white space after them."""

    start: int
    end: int
    level: int
    """From 1; for underlined headings of a text without `#`, the order in which styles appear."""
    title: str


class FrontMatter(NamedTuple):
    """The block of fields that a Markdown file may have before its text."""

    kind: str
    """"yaml" or "toml"."""
    content: str
    end: int
    """Where the line that closes it ends."""


class _Line(NamedTuple):
    start: int
    text: str
    """Without its line end; trailing white space removed."""


class _Underlined(NamedTuple):
    heading: Heading
    style: tuple[str, bool]
    """The mark, and whether the title is overlined too; ("", False) for `#` headings."""


def _line_before(text: str, position: int) -> _Line | None:
    """Return the line that ends just before the line starting at `position`."""
    if position == 0:
        return None
    start = text.rfind("\n", 0, position - 1) + 1
    return _Line(start, text[start : position - 1].rstrip())


def _line_at(text: str, position: int) -> _Line:
    """Return the line that starts at `position`."""
    end = text.find("\n", position)
    return _Line(position, text[position : len(text) if end < 0 else end].rstrip())


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the YAML (`---`) or TOML (`+++`) block that a text starts with, if it does."""
    if not text.startswith(("---", "+++", "\ufeff")):
        return None
    found = _FRONT_MATTER.match(text)
    if found is None:
        return None
    kind = "toml" if found["yaml"] is None else "yaml"
    return FrontMatter(kind, found[kind], found.end())


class _Finder:
    """Reads the markers of one text in order; holds what an earlier one decides for later ones."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last_end = 0
        """Where the last heading, with its white space, ended."""
        self._hashes = _DIRECTIVE.search(text) is None

    def headings(self) -> list[Heading]:
        found = list(self._found())
        order = dict.fromkeys(style for _, style in found if style[0])
        levels = {style: level for level, style in enumerate(order, start=1)}
        if len(found) > sum(bool(style[0]) for _, style in found):
            levels |= {(mark, False): level for mark, level in _LEVELS.items()}
        return [
            heading._replace(level=levels[style]) if style[0] else heading
            for heading, style in found
        ]

    def _found(self) -> Iterator[_Underlined]:
        front = find_front_matter(self._text)
        position = 0 if front is None else front.end
        while marker := _MARKER.search(self._text, position):
            position = marker.end()
            if marker["html"]:
                position = self._html_end(marker.start("html"))
                continue
            found = None
            if marker["hashes"]:
                found = self._hashed(marker) if self._hashes else None
            elif marker["rule"]:
                found = self._underlined(marker.start(), marker["rule"])
            if found is not None:
                self._last_end = found.heading.end
                position = max(position, found.heading.end)
                yield found
            elif marker["fence"] or (marker["rule"] or "").startswith("~"):
                position = self._fence_end(marker)

    def _fence_end(self, marker: re.Match[str]) -> int:
        """Return where fenced code ends: at a fence as long, or with the list item around it."""
        run = marker["fence"] or marker["rule"]
        indent = len(marker["container"] or "")
        inside = indent if (marker["container"] or "").strip() else 0
        closing = re.compile(
            rf"^[ ]{{0,{inside + 3}}}{re.escape(run[0])}{{{len(run)},}}[ \t\r]*$", re.MULTILINE
        )
        code = self._line_end(marker.end())
        end = len(self._text)
        if inside:
            after = re.compile(rf"^[ ]{{0,{inside - 1}}}[^ \t\r\n]", re.MULTILINE)
            left = after.search(self._text, code)
            end = left.start() if left else end
        closed = closing.search(self._text, code, end)
        return closed.end() if closed else end

    def _html_end(self, start: int) -> int:
        """Return where the HTML block at `start` ends; just behind it if none starts there."""
        for opening, closing in _RAW:
            if opened := opening.match(self._text, start):
                closed = closing.search(self._text, opened.end())
                return self._line_end(closed.end()) if closed else len(self._text)
        above = _line_before(self._text, self._text.rfind("\n", 0, start) + 1)
        alone = above is None or not above.text or start == self._last_end
        if _BLOCK_TAG.match(self._text, start) or (alone and _ANY_TAG.match(self._text, start)):
            blank = _BLANK_LINE.search(self._text, start)
            return blank.start() if blank else len(self._text)
        return start + 1

    def _line_end(self, position: int) -> int:
        end = self._text.find("\n", position)
        return len(self._text) if end < 0 else end

    def _hashed(self, marker: re.Match[str]) -> _Underlined | None:
        line = _line_at(self._text, marker.end())
        title = _CLOSING_HASHES.sub("", line.text).strip()
        if not title.strip("# "):
            return None
        start = marker.start("hashes")
        end = line.start + len(line.text)
        return _Underlined(self._heading(start, end, len(marker["hashes"]), title), ("", False))

    def _underlined(self, start: int, rule: str) -> _Underlined | None:
        title = _line_before(self._text, start)
        if title is None or not _may_be_title(title.text, rule):
            return None
        above = _line_before(self._text, title.start)
        overlined = above is not None and above.text == rule
        if not overlined and title.text.startswith(("    ", "\t")):
            return None
        alone = above is None or not above.text or title.start == self._last_end
        if not (overlined or alone) or title.start < self._last_end:
            return None
        first = above.start if above is not None and overlined else title.start
        end = start + len(_line_at(self._text, start).text)
        heading = self._heading(first, end, 1, title.text.strip())
        return _Underlined(heading, (rule[0], overlined))

    def _heading(self, start: int, end: int, level: int, title: str) -> Heading:
        return Heading(start, skip_space(self._text, end), level, title)


def skip_space(text: str, position: int) -> int:
    """Return where the white space at `position`, if any, ends."""
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _may_be_title(line: str, rule: str) -> bool:
    """Tell whether `line` can be the title above `rule`, whatever stands above it."""
    long_enough = len(line) <= (MAX_TITLE_CHARS if rule[0] in _LEVELS else len(rule))
    return long_enough and any(map(str.isalnum, line)) and _NOT_A_TITLE.match(line.lstrip()) is None


def find_headings(text: str) -> list[Heading]:
    """Return the marked headings of `text` outside code, HTML blocks and front matter, in order."""
    if "\n" not in text and not text.lstrip(" ").startswith("#"):
        return []  # most extracted papers: no need to look at every character
    return _Finder(text).headings() if _MARKER.search(text) else []


def sections_below(text: str, headings: Sequence[Heading]) -> list[Section]:
    """
    Return the sections that `headings` open; they tile `text`.

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
    """Return the path of `heading` after `path`, whose headings have `levels`, kept in step."""
    while levels and levels[-1] >= heading.level:
        levels.pop()
    depth = len(levels)
    levels.append(heading.level)
    return (*path[:depth], heading.title)


def split_sections(text: str) -> list[Section]:
    """Return the sections of `text`, which they tile: one with path () if it has no heading."""
    return sections_below(text, find_headings(text))


@lru_cache(maxsize=8_192)  # the same sentences are asked about for query after query
def is_heading(sentence: str, path: SectionPath = ()) -> bool:
    """
    Tell whether a sentence of a passage is a heading with all its lines, or word for word one of
    its `path`.

    Args:
        path: the headings above the sentence.
    """
    found = find_headings(sentence)
    if len(found) == 1 and (found[0].start, found[0].end) == (
        skip_space(sentence, 0),
        len(sentence),
    ):
        return True
    return " ".join(sentence.split()) in path
