"""
From characters with places to Markdown: lines, columns, headings, tables, code, paragraphs. Pure.

All of it is by size, weight and place, which is all a PDF says. What typesetting does not mark is
not found: a heading in the size and weight of the text is a paragraph, a table without gaps between
its columns is text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

WIDE_GAP = 1.5
"""Blank between two characters of a line, in units of the font's size, that parts table cells."""
HEADING_SCALE = 1.1
"""A heading is larger than the text by this factor, or as large and bold."""
PARAGRAPH_GAP = 1.35
"""Distance of two lines, in units of the usual one, that parts paragraphs."""
MAX_HEADING_CHARS = 120
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "\u00a0": " ", "\u0002": ""}
)
_SPACE = re.compile(r"\s+")
_MARKED = re.compile(r"#{1,6}\s|```|~~~|\|")
"""What would be read as Markdown at the beginning of a paragraph."""
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:page\s+)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d+)?\W*", re.I)
_NUMBERED = re.compile(r"(?:(?P<number>\d{1,2}(?:\.\d{1,2})*)[.:]?|(?:[A-Z]|[IVX]{1,5})[.:])\s+\S")
_CAPTION = re.compile(r"(?:Table|Figure|Fig\.|Algorithm|Listing)\s\d+[.:]|Table\s[IVX]+\b")
_ENDS_SENTENCE = re.compile(r"[.!?:;]['\"”’)\]]*$")
_HEADING_END = re.compile(r"[,;]$|[a-z)]\.$")
_HEADING_WORD = re.compile(r"[^\W\d_]{4}|[\u3040-\u30ff\u3400-\u9fff]{2}")
_FORMULA = re.compile(r"[=\u2200-\u23ff♣]")


class Glyph(NamedTuple):
    """One character on a page, in points; the origin is the lower left corner."""

    character: str
    size: float
    bold: bool
    mono: bool
    left: float
    right: float
    bottom: float
    hyphen: bool
    """A hyphen that only parts a word at the end of a line."""

    @property
    def inked(self) -> bool:
        """Whether anything is to be seen."""
        return self.right > self.left and not self.character.isspace()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one column."""

    cells: tuple[str, ...]
    """Its text, parted where gaps are wide."""
    size: float
    bold: bool
    mono: bool
    left: float
    right: float
    bottom: float
    hyphen: bool = False
    """Its last word goes on in the next line."""

    @property
    def text(self) -> str:
        return " ".join(self.cells)


def lines_of(glyphs: Iterable[Glyph]) -> list[Line]:
    """The lines of a page in the order of its characters, pieces of one row joined."""
    lines: list[Line] = []
    run: list[Glyph] = []
    for glyph in glyphs:
        if glyph.character in "\r\n":
            lines += _line(run, hyphen=False)
            run = []
        elif glyph.hyphen:
            lines += _line(run, hyphen=True)
            run = []
        else:
            run.append(glyph)
    return _side_by_side([*lines, *_line(run, hyphen=False)])


def _line(run: Sequence[Glyph], *, hyphen: bool) -> Iterator[Line]:
    """The line that `run` makes; none without ink."""
    ink = [glyph for glyph in run if glyph.inked]
    if not ink:
        return
    size = Counter(round(glyph.size, 1) for glyph in ink).most_common(1)[0][0]
    cells = [[""]]
    edge = ink[0].left
    for glyph in run:
        if glyph.inked and glyph.left - edge > WIDE_GAP * size:
            cells.append([""])
        cells[-1].append(glyph.character)
        edge = max(edge, glyph.right) if glyph.inked else edge
    texts = (_SPACE.sub(" ", "".join(cell).translate(_LIGATURES)).strip() for cell in cells)
    yield Line(
        tuple(text for text in texts if text),
        size,
        sum(glyph.bold for glyph in ink) * 2 > len(ink),
        sum(glyph.mono for glyph in ink) * 2 > len(ink),
        min(glyph.left for glyph in ink),
        max(glyph.right for glyph in ink),
        median(glyph.bottom for glyph in ink),
        hyphen,
    )


def _side_by_side(lines: Sequence[Line]) -> list[Line]:
    """Pieces of one row, set one after the other, as one line of several cells."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if (
            before is not None
            and abs(before.bottom - line.bottom) < 0.25 * line.size
            and line.left > before.right
        ):
            cells = (*before.cells, *line.cells)
            joined[-1] = Line(
                cells if line.left - before.right > WIDE_GAP * line.size else (" ".join(cells),),
                before.size,
                before.bold and line.bold,
                before.mono and line.mono,
                before.left,
                line.right,
                before.bottom,
                line.hyphen,
            )
        else:
            joined.append(line)
    return joined


class _Placed(NamedTuple):
    """A line on its page, counted from 0."""

    page: int
    line: Line


def write_pages(pages: Sequence[Sequence[Line]]) -> tuple[str, tuple[int, ...]]:
    """
    The pages as one Markdown text, and where in it each page begins.

    Running heads and page numbers are left out. A paragraph that goes on over a column or a page
    stays one.
    """
    placed = [
        _Placed(number, line)
        for number, lines in enumerate(_without_running_heads(pages))
        for line in lines
    ]
    if not placed:
        return "", (0,) * len(pages)
    writer = _Writer(_Style.of([line for _, line in placed]))
    for block in _blocks(placed, writer.style):
        writer.write(block)
    return writer.text(), writer.starts(len(pages))


def _without_running_heads(pages: Sequence[Sequence[Line]]) -> Iterator[list[Line]]:
    edges = [_edges(lines) for lines in pages]
    seen = Counter(key for page in edges for key in {_key(line) for line in page})
    often = max(3, len(pages) // 3)
    for lines, page in zip(pages, edges, strict=True):
        gone = {
            id(line)
            for line in page
            if seen[_key(line)] >= often or _PAGE_NUMBER.fullmatch(line.text)
        }
        yield [line for line in lines if id(line) not in gone]


def _edges(lines: Sequence[Line]) -> list[Line]:
    """The two highest and the two lowest lines of a page."""
    by_height = sorted(lines, key=lambda line: -line.bottom)
    return [*by_height[:2], *by_height[-2:]] if len(by_height) > 4 else []


def _key(line: Line) -> str:
    return _DIGITS.sub("#", line.text)


@dataclass(frozen=True, slots=True)
class _Style:
    """What is usual in a document."""

    size: float
    bold: bool
    leading: float
    """Distance of two lines of the text."""
    heading_sizes: tuple[float, ...]
    """Sizes larger than the text, the largest first."""

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "_Style":
        chars: Counter[tuple[float, bool]] = Counter()
        for line in lines:
            chars[line.size, line.bold] += len(line.text)
        (size, bold), _ = chars.most_common(1)[0]
        text = [line for line in lines if line.size == size]
        gaps = [
            before.bottom - line.bottom
            for before, line in pairwise(text)
            if 0 < before.bottom - line.bottom < 3 * size
        ]
        larger = {line.size for line in lines if line.size >= HEADING_SCALE * size}
        return cls(
            size, bold, median(gaps) if gaps else 1.2 * size, tuple(sorted(larger, reverse=True))
        )

    def is_heading(self, line: Line) -> bool:
        """Whether a line looks like (a part of) a heading."""
        text = line.text
        marked = line.size >= HEADING_SCALE * self.size or (
            line.bold and not self.bold and line.size >= 0.97 * self.size
        )
        return (
            marked
            and len(line.cells) < 3
            and not line.mono
            and len(text) <= MAX_HEADING_CHARS
            and _HEADING_WORD.search(text) is not None
            and _FORMULA.search(text) is None
            and _CAPTION.match(text) is None
            and _HEADING_END.search(text) is None
        )

    def level(self, line: Line, title: str) -> int:
        """1 for the largest; by its number where it has one."""
        numbered = _NUMBERED.match(title)
        if numbered is not None and numbered["number"]:
            return min(6, 2 + numbered["number"].count("."))
        if line.size in self.heading_sizes:
            return min(4, 1 + self.heading_sizes.index(line.size))
        return min(4, 2 + len(self.heading_sizes))


class _Block(NamedTuple):
    """Consecutive lines of one kind: heading, row (of a table), code, text."""

    kind: str
    lines: Sequence[_Placed]


def _blocks(placed: Sequence[_Placed], style: _Style) -> Iterator[_Block]:
    kinds = _kinds([line for _, line in placed], style)
    for kind, group in groupby(zip(kinds, placed, strict=True), key=lambda item: item[0]):
        run = [item for _, item in group]
        if kind in ("row", "code"):
            yield _Block(kind, run)
        else:
            for lines in _parted(run, style, heading=kind == "heading"):
                yield _Block(kind, lines)


def _kinds(lines: Sequence[Line], style: _Style) -> list[str]:
    kinds = ["heading" if style.is_heading(line) else "text" for line in lines]
    for at, line in enumerate(lines):
        if line.mono:
            kinds[at] = "code"
        elif len(line.cells) > 1 and kinds[at] == "text":
            beside = [lines[near] for near in (at - 1, at + 1) if 0 <= near < len(lines)]
            if any(len(near.cells) > 1 for near in beside):
                kinds[at] = "row"
    return kinds


def _parted(run: Sequence[_Placed], style: _Style, *, heading: bool) -> Iterator[list[_Placed]]:
    """Paragraphs, or the headings that stand below one another."""
    part = [run[0]]
    for before, item in pairwise(run):
        if _parts(before, item, part[0].line, style, heading=heading):
            yield part
            part = []
        part.append(item)
    yield part


def _parts(before: _Placed, item: _Placed, first: Line, style: _Style, *, heading: bool) -> bool:
    """Whether a new block begins with `item`, whose line follows that of `before`."""
    above, line = before.line, item.line
    if above.hyphen:
        return False
    if abs(line.size - above.size) > 0.08 * above.size or _CAPTION.match(line.text):
        return True
    fall = above.bottom - line.bottom
    if before.page != item.page or fall < 0 or fall > 20 * style.leading:
        return heading or _ENDS_SENTENCE.search(above.text) is not None
    if heading:
        return fall > 1.6 * line.size or _NUMBERED.match(line.text) is not None
    if fall > PARAGRAPH_GAP * style.leading * line.size / style.size:
        return True
    indented = 0.8 * line.size < line.left - above.left < 4 * line.size
    return indented and above.left <= first.left + 1 and bool(_ENDS_SENTENCE.search(above.text))


class _Writer:
    """Puts blocks into one text and keeps where each page's first line came to stand."""

    def __init__(self, style: _Style) -> None:
        self.style = style
        self._parts: list[str] = []
        self._length = 0
        self._first: dict[int, int] = {}

    def text(self) -> str:
        return "".join(self._parts)

    def starts(self, pages: int) -> tuple[int, ...]:
        """Where each page begins; one without a line begins where the next does."""
        starts: list[int] = []
        after = self._length
        for page in reversed(range(pages)):
            after = self._first.get(page, after)
            starts.append(after)
        return (0, *reversed(starts[:-1]))

    def write(self, block: _Block) -> None:
        if self._length:
            self._put("\n\n")
        match block.kind:
            case "heading":
                title = " ".join(item.line.text for item in block.lines)
                self._put("#" * self.style.level(block.lines[0].line, title) + " ")
                self._flow(block.lines)
            case "row":
                for item in block.lines:
                    self._at(item, f"| {' | '.join(item.line.cells)} |\n")
            case "code":
                self._put("```\n")
                for item in block.lines:
                    self._at(item, f"{item.line.text}\n")
                self._put("```")
            case _:
                self._flow(block.lines)

    def _flow(self, lines: Sequence[_Placed]) -> None:
        """Lines of one paragraph, parted words together again."""
        for item in lines:
            last = item is lines[-1]
            before = "\\" if item is lines[0] and _MARKED.match(item.line.text) else ""
            self._at(item, before + item.line.text + ("" if item.line.hyphen or last else " "))

    def _at(self, item: _Placed, text: str) -> None:
        self._first.setdefault(item.page, self._length)
        self._put(text)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
