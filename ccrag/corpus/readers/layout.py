"""
From lines with places to Markdown: headings, tables, code, paragraphs. Pure.

All of it is by size, weight and place, for a PDF states nothing else. What typesetting does not
mark is not found: a heading in the size and weight of the text is a paragraph, a table without gaps
between its columns is text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from ccrag.corpus.readers.lines import Line, blank_between, join_words

HEADING_SCALE = 1.1
"""A heading is larger than the text by this factor, or as large and bold."""
PARAGRAPH_GAP = 1.35
"""Distance of two lines, in units of the usual one, from which a new paragraph begins."""
TEXT_SHARE = 0.3
"""Share of a file's characters that is set in the size of its text at least."""
MAX_HEADING_CHARS = 120
_MARKED = re.compile(r"#{1,6}\s|```|~~~|\|")
"""The beginning of a paragraph that would be read as a mark of Markdown."""
_NUMBERED = re.compile(r"(?:(?P<number>\d{1,2}(?:\.\d{1,2})*)[.:]?|(?:[A-Z]|[IVX]{1,5})[.:])\s+\S")
CAPTION = re.compile(
    r"(?:Table|Figure|Fig\.|Algorithm|Listing)\s\d+[.:]|T(?:able|ABLE)\s[IVX]+\b|FIG\.\s\d+\."
)
_CAPITALS = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[A-Z]\.|[IVX]{1,5}\.)\s+[A-Z][A-Z\s,&:/-]{3,}"
    r"|ABSTRACT|REFERENCES|ACKNOWLEDGE?MENTS?|CONCLUSIONS?"
)
"""A heading that only its capitals show."""
_ENDS_SENTENCE = re.compile(r"[.!?:;]['\"”’)\]]*$")
_HEADING_END = re.compile(r"[,;]$|[a-z)]\.$")
_HEADING_WORD = re.compile(r"[^\W\d_]{4}|[\u3040-\u30ff\u3400-\u9fff]{2}")
_LEADERS = re.compile(r"(?:\. ?){4}|…{2}")
"""The dots of a table of contents."""
_FORMULA = re.compile(r"[=\u2200-\u23ff♣]")


class _Placed(NamedTuple):
    """A line on its page, counted from 0."""

    page: int
    line: Line


def write_pages(pages: Sequence[Sequence[Line]]) -> tuple[str, tuple[int, ...]]:
    """
    Return the pages as one Markdown text, and where in it each page begins.

    A paragraph that goes on over a column or a page stays one.
    """
    placed = [_Placed(number, line) for number, lines in enumerate(pages) for line in lines]
    if not placed:
        return "", (0,) * len(pages)
    writer = _Writer(_Style.of([line for _, line in placed]))
    for block in _blocks(placed, writer.style):
        writer.write(block)
    return writer.text(), writer.starts(len(pages))


@dataclass(frozen=True, slots=True)
class _Style:
    """The usual size, distance and type of a document's lines."""

    size: float
    bold: bool
    leading: float
    """Distance of two lines of the text."""
    heading_sizes: tuple[float, ...]
    """Sizes larger than the text, the largest first."""

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "_Style":
        chars: Counter[tuple[float, bool]] = Counter()
        # Code and tables count for the size of the text only where there is nothing else.
        for line in [line for line in lines if not line.mono and not line.row] or lines:
            chars[line.size, line.bold] += len(line.text)
        # The text's size is the largest that is frequent: no heading has so many characters.
        often = [style for style, count in chars.items() if count >= TEXT_SHARE * chars.total()]
        usual = chars.most_common(1)[0][0]
        size, bold = max(often, key=lambda style: (style[0], chars[style]), default=usual)
        text = [line for line in lines if line.size == size]
        gaps = [
            before.baseline - line.baseline
            for before, line in pairwise(text)
            if 0 < before.baseline - line.baseline < 3 * size
        ]
        larger = {line.size for line in lines if line.size >= HEADING_SCALE * size}
        return cls(
            size, bold, median(gaps) if gaps else 1.2 * size, tuple(sorted(larger, reverse=True))
        )

    def is_heading(self, line: Line) -> bool:
        """Tell whether a line looks like (a part of) a heading."""
        text = line.text
        marked = line.size >= HEADING_SCALE * self.size or (
            line.bold and not self.bold and line.size >= 0.97 * self.size
        )
        marked = marked or _CAPITALS.fullmatch(text) is not None
        return (
            marked
            and len(line.cells) < 3
            and not line.mono
            and len(text) <= MAX_HEADING_CHARS
            and _HEADING_WORD.search(text) is not None
            and _FORMULA.search(text) is None
            and CAPTION.match(text) is None
            and _LEADERS.search(text) is None
            and _HEADING_END.search(text) is None
        )

    def level(self, line: Line, title: str) -> int:
        """Return 1 for the largest; by its number where it has one."""
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
        if line.row:
            kinds[at] = "row"
        elif line.mono:
            kinds[at] = "code"
        elif len(line.cells) > 1 and kinds[at] == "text":
            beside = [lines[near] for near in (at - 1, at + 1) if 0 <= near < len(lines)]
            if any(len(near.cells) > 1 for near in beside):
                kinds[at] = "row"
    return kinds


def _parted(run: Sequence[_Placed], style: _Style, *, heading: bool) -> Iterator[list[_Placed]]:
    """Yield paragraphs, or the headings that follow one another."""
    part = [run[0]]
    for before, item in pairwise(run):
        if _parts(before, item, part[0].line, style, heading=heading):
            yield part
            part = []
        part.append(item)
    yield part


def _parts(before: _Placed, item: _Placed, first: Line, style: _Style, *, heading: bool) -> bool:
    """Tell whether a new block begins with `item`, whose line follows that of `before`."""
    above, line = before.line, item.line
    if above.hyphen:
        return False
    if abs(line.size - above.size) > 0.08 * above.size or CAPTION.match(line.text):
        return True
    fall = above.baseline - line.baseline
    if before.page != item.page or fall < 0 or fall > 20 * style.leading:
        return heading or _ENDS_SENTENCE.search(above.text) is not None
    if heading:
        return fall > 1.6 * line.size or _NUMBERED.match(line.text) is not None
    if fall > PARAGRAPH_GAP * style.leading * line.size / style.size:
        return True
    indented = 0.8 * line.size < line.left - above.left < 4 * line.size
    return indented and above.left <= first.left + 1 and bool(_ENDS_SENTENCE.search(above.text))


class _Writer:
    """Join blocks to one text, and note where each page begins in it."""

    def __init__(self, style: _Style) -> None:
        self.style = style
        self._parts: list[str] = []
        self._length = 0
        self._first: dict[int, int] = {}

    def text(self) -> str:
        return "".join(self._parts)

    def starts(self, pages: int) -> tuple[int, ...]:
        """Return where each page begins; one without a line begins where the next does."""
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
                title = join_words([item.line.text for item in block.lines])
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
        """Write the lines of one paragraph, words that a line's end divides made whole."""
        before = None
        for item in lines:
            text = item.line.text
            if before is None:
                text = "\\" + text if _MARKED.match(text) else text
            elif not before.hyphen:
                self._put(blank_between(before.text, text))
            self._at(item, text)
            before = item.line

    def _at(self, item: _Placed, text: str) -> None:
        self._first.setdefault(item.page, self._length)
        self._put(text)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
