"""From characters with places to the lines of a page. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from ccrag.text.words import WIDE

WIDE_GAP = 1.5
"""Blank between two characters, in units of the font's size, that separates table cells."""
_LIGATURES = {
    "\uf0b7": "•",
    "\uf0a7": "•",
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "\u00a0": " ",
}
_LOST = {chr(code): "\ufffd" for code in (*range(0x20), 0x7F) if not chr(code).isspace()}
"""Codes of glyphs that a font names no character for."""
_MEANINGLESS = frozenset({"\ufffd", "\ufffe", "\uffff"} | set(_LOST) - {"\u0002"})
_TRANSLATED = str.maketrans(_LOST | _LIGATURES | {"\u0002": ""})
_WIDE_END = re.compile(rf"[{WIDE}]$")
_WIDE_START = re.compile(rf"[{WIDE}]")
_MARK = (
    r"[\u3001-\u3003\u3008-\u301f\u30fb\ufe30-\ufe4f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff60]"
)
_MARK_END = re.compile(rf"{_MARK}$")
_MARK_START = re.compile(_MARK)
MAX_JUSTIFIED = 0.65
"""Blank between two ideographs or kana, in units of the font's size, that only fills the line."""
MAX_CLIMB = 4.0
"""Distance of two lines of one paragraph at most, in units of the font's size."""
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"(\d{1,4})(?:\s|$)")
MIN_NUMBERED = 10


class Glyph(NamedTuple):
    """One character on a page, in points; the origin is the page's lower left corner."""

    character: str
    size: float
    bold: bool
    mono: bool
    left: float
    right: float
    baseline: float
    hyphen: bool
    """True for a hyphen that only divides a word at the end of a line."""
    inked: bool
    """True if it can be seen: no blank, not invisible."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one column."""

    cells: tuple[str, ...]
    """Its text, split where gaps are wide."""
    size: float
    bold: bool
    mono: bool
    left: float
    right: float
    baseline: float
    hyphen: bool = False
    """Its last word goes on in the next line."""
    row: bool = False
    """It is known to be a table's."""

    @property
    def text(self) -> str:
        return " ".join(self.cells)


def tidy(text: str) -> str:
    """Return `text` with ligatures undone and white space made single blanks."""
    return _SPACE.sub(" ", text.translate(_TRANSLATED)).strip()


def has_meaning(character: str) -> bool:
    """Tell whether `character` has a meaning: it is no private or replacement character."""
    return character in _LIGATURES or not (
        "\ue000" <= character <= "\uf8ff" or character >= "\U000f0000" or character in _MEANINGLESS
    )


def blank_between(before: str, after: str) -> str:
    """
    Return what joins two lines of one paragraph: a blank, or nothing where the script has none.

    Ideographs, kana and their full-width marks follow one another without; a full-width mark takes
    none on either side; between an ideograph and a Latin word, and in Korean, there is one.
    """
    if before.isascii() and after.isascii():
        return " "
    wide = _WIDE_END.search(before) and _WIDE_START.match(after)
    return "" if wide or _MARK_END.search(before) or _MARK_START.match(after) else " "


def join_words(words: Sequence[str]) -> str:
    """Return `words` as one text, with blanks where their script has them."""
    joined = [*words[:1]]
    for before, word in pairwise(words):
        joined += [blank_between(before, word), word]
    return "".join(joined)


def lines_of(glyphs: Iterable[Glyph]) -> list[Line]:
    """Return the lines of a page in the order of its characters, parts of one row joined."""
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
    """Yield the line that `run` makes; none without ink."""
    ink = [glyph for glyph in run if glyph.inked]
    if not ink:
        return
    size = Counter(round(glyph.size, 1) for glyph in ink).most_common(1)[0][0] or 1.0
    cells: list[list[str]] = [[]]
    edge, before = ink[0].left, ""
    for glyph in run:
        if glyph.inked:
            gap, cell = glyph.left - edge, cells[-1]
            if gap > WIDE_GAP * size:
                cells.append([])
            elif (  # a blank that only fills the line, between signs of a script without blanks
                cell
                and cell[-1].isspace()
                and gap / size <= MAX_JUSTIFIED
                and not blank_between(before, glyph.character)
            ):
                cell.pop()
            edge, before = max(edge, glyph.right), glyph.character
        cells[-1].append(glyph.character)
    texts = (tidy("".join(cell)) for cell in cells)
    yield Line(
        tuple(text for text in texts if text),
        size,
        sum(glyph.bold for glyph in ink) * 2 > len(ink),
        sum(glyph.mono for glyph in ink) * 2 > len(ink),
        min(glyph.left for glyph in ink),
        max(glyph.right for glyph in ink),
        median(glyph.baseline for glyph in ink),
        hyphen,
    )


def _side_by_side(lines: Sequence[Line]) -> list[Line]:
    """Return parts of one row, set one after the other, as one line of several cells."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if (
            before is not None
            and abs(before.baseline - line.baseline) < 0.25 * line.size
            and line.left > before.right
        ):
            cells = (*before.cells, *line.cells)
            joined[-1] = Line(
                cells if line.left - before.right > WIDE_GAP * line.size else (join_words(cells),),
                before.size,
                before.bold and line.bold,
                before.mono and line.mono,
                before.left,
                line.right,
                before.baseline,
                line.hyphen,
            )
        else:
            joined.append(line)
    return joined


def from_top(lines: Sequence[Line]) -> list[Line]:
    """Return `lines` with each run of them that climbs line by line the other way round."""
    ordered: list[Line] = []
    run: list[Line] = []
    for line in lines:
        if run and not 0 < line.baseline - run[-1].baseline < MAX_CLIMB * line.size:
            ordered += run[::-1]
            run = []
        run.append(line)
    return ordered + run[::-1]


def without_numbers(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """
    Return pages without the numbers that manuscripts have in the margin, line by line.

    They are numbers when most lines begin with one, nearly always the one before plus 1.
    """
    numbers = [int(found[1]) for found in map(_number, chain(*pages)) if found]
    steps = sum(b - a == 1 for a, b in pairwise(numbers))
    most = 2 * len(numbers) >= sum(map(len, pages)) and 5 * steps >= 4 * len(numbers)
    if not most or len(numbers) < MIN_NUMBERED:
        return [*map(list, pages)]
    return [[bare for line in lines if (bare := _without_number(line)).cells] for lines in pages]


def _number(line: Line) -> re.Match[str] | None:
    return _NUMBER.match(line.text)


def _without_number(line: Line) -> Line:
    found = None if line.row else _number(line)
    if found is None:
        return line
    first = line.cells[0].removeprefix(found[1]).lstrip()
    return replace(line, cells=(first, *line.cells[1:]) if first else line.cells[1:])
