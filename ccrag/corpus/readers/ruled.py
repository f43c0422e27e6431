"""
Tables set between horizontal rules, as papers have them: rows and columns by place. Pure.

Rules of one width, one above the other, part a table into bands (head, body). Its columns are what
blank strips part in nearly all rows; a row that is mostly blank, the first column too, goes on with
the row above.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import inf
from operator import itemgetter
from typing import NamedTuple

from ccrag.corpus.readers.layout import CAPTION
from ccrag.corpus.readers.lines import Glyph, Line, blank_between, join_words, lines_of, tidy

SAME_EDGE = 3.0
"""Points by which the ends of a table's rules may differ."""
DOUBLE_RULE = 6.0
"""Points within which two rules are one, drawn twice."""
SAME_ROW = 0.7
"""Difference of two baselines of one row, in units of the font's size: scripts, large operators."""
COLUMN_GAP = 0.5
"""Width of a blank strip between columns, in the same units."""
WORD_GAP = 0.5
"""Blank between words of one cell, in the same units."""
MONO_GAP = 1.0
"""The same where all letters are as wide."""
JUMP = 1.0
"""Blank, in the same units, that ends a word even if no white space does."""
SPANNING = 0.15
"""Share of a table's rows that may run across a strip: heads over several columns."""
MAX_FILLED = 0.85
"""Share of the columns' width that rows cover on average; above, it is text set in columns."""
MIN_WITH_CELLS = 1 / 3
"""Share of a table's rows that have several cells; less is text between the rules of a page."""
MANY_ROWS = 12
MAX_HEAD_ROWS = 2
_PARTED = "\u0002"
"""The hyphen of a word that goes on in the next row."""


class Rule(NamedTuple):
    """A horizontal line on a page, in points."""

    left: float
    right: float
    height: float
    """Above the page's lower edge."""


class _Box(NamedTuple):
    """The place of a table on its page."""

    left: float
    right: float
    bottom: float
    top: float

    def holds(self, shown: "Glyph | _Word") -> bool:
        middle = (shown.left + shown.right) / 2
        return (
            self.left - SAME_EDGE <= middle <= self.right + SAME_EDGE
            and self.bottom <= shown.baseline <= self.top
        )

    def overlaps(self, other: "_Box") -> bool:
        """Tell whether a character could lie in both."""
        return (
            self.left - SAME_EDGE < other.right + SAME_EDGE
            and other.left - SAME_EDGE < self.right + SAME_EDGE
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)


class _Word(NamedTuple):
    """Glyphs between white space."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    mono: bool

    def distance(self, row: "_Row") -> float:
        return abs(self.baseline - row.baseline)


@dataclass(slots=True)
class _Row:
    """The words of one row."""

    baseline: float
    size: float
    """Height of its largest word, in points."""
    words: list[_Word]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def runs(self) -> list[list[_Word]]:
        """Return its words, grouped where more than a blank is between them."""
        runs: list[list[_Word]] = []
        edge, mono = -inf, False
        for word in self.words:
            blank = MONO_GAP if mono and word.mono else WORD_GAP
            if word.left - edge > blank * self.size:
                runs.append([])
            runs[-1].append(word)
            edge, mono = max(edge, word.right), word.mono
        return runs


def lines_with_tables(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> list[Line]:
    """Return a page's lines, those of tables between `rules` as rows, in the order as set."""
    tables = _accepted(list(_words(glyphs)), rules) if len(rules) > 1 else []
    if not tables:
        return lines_of(glyphs)
    lines: list[Line] = []
    text: list[Glyph] = []
    written: set[_Box] = set()
    for glyph in glyphs:
        held = glyph.inked and next((item for item in tables if item[0].holds(glyph)), None)
        if not held:
            text.append(glyph)
        elif held[0] not in written:
            written.add(held[0])
            lines += [*lines_of(text), *held[1]]
            text = []
    return [*lines, *lines_of(text)]


def _accepted(words: Sequence["_Word"], rules: Sequence[Rule]) -> list[tuple[_Box, list[Line]]]:
    """
    Return the tables between `rules`.

    Where boxes overlap, the largest that is a table is it: its cells may be framed themselves.
    """
    tables: list[tuple[_Box, list[Line]]] = []
    for box in sorted(_boxes(words, rules), key=_Box.area, reverse=True):
        if not any(box.overlaps(other) for other, _ in tables):
            lines = _table(_rows(words, box), box)
            if lines is not None:
                tables.append((box, lines))
    return tables


def _boxes(words: Sequence[_Word], rules: Sequence[Rule]) -> Iterator[_Box]:
    """Yield runs of bands that hold cells, between rules of one width."""
    for group in _same_width(rules):
        heights: list[float] = []
        for height in sorted((rule.height for rule in group), reverse=True):
            if not heights or heights[-1] - height > DOUBLE_RULE:  # of a double rule the upper
                heights.append(height)
        left, right = min(r.left for r in group), max(r.right for r in group)
        bands = [_Box(left, right, bottom, top) for top, bottom in pairwise(heights)]
        yield from _tables(bands, [_rows(words, band) for band in bands])


def _tables(bands: Sequence[_Box], rows: Sequence[Sequence[_Row]]) -> Iterator[_Box]:
    """Yield neighbouring bands that hold cells as one box, a head over all columns with them."""
    # The rows of a table's band have a blank strip in common, and none of them is a caption.
    celled = [bool(held and _column_edges(held)) and not _has_caption(held) for held in rows]
    for at in range(len(bands) - 1):
        may_be_head = 0 < len(rows[at]) <= MAX_HEAD_ROWS and not _has_caption(rows[at])
        celled[at] = celled[at] or (celled[at + 1] and may_be_head)
    for is_table, run in groupby(zip(celled, bands, strict=True), key=itemgetter(0)):
        if is_table:
            boxes = [box for _, box in run]
            yield boxes[0]._replace(bottom=boxes[-1].bottom)


def _same_width(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    groups: list[list[Rule]] = []
    for rule in sorted(rules):
        for group in groups:
            if max(abs(rule.left - group[0].left), abs(rule.right - group[0].right)) <= SAME_EDGE:
                group.append(rule)
                break
        else:
            groups.append([rule])
    yield from (group for group in groups if len(group) > 1)


def _has_caption(rows: Sequence[_Row]) -> bool:
    return any(CAPTION.match(row.text) for row in rows)


def _rows(words: Sequence[_Word], box: _Box) -> list[_Row]:
    """
    Return the rows in a box, from above: what is set larger or longer makes them, scripts join.
    """
    rows: list[_Row] = []
    baselines: list[float] = []
    held = [word for word in words if box.holds(word)]
    for word in sorted(held, key=lambda w: (-round(w.size), -len(w.text))):
        at = bisect(baselines, word.baseline)
        near = min(rows[max(0, at - 1) : at + 1], key=word.distance, default=None)
        if near is not None and word.distance(near) <= SAME_ROW * near.size:
            near.words.append(word)
        else:
            rows.insert(at, _Row(word.baseline, word.size, [word]))
            baselines.insert(at, word.baseline)
    for row in rows:
        row.words.sort(key=lambda word: word.left)
    return rows[::-1]


def _words(glyphs: Iterable[Glyph]) -> Iterator[_Word]:
    """Yield words in the order of their glyphs."""
    run: list[Glyph] = []
    for glyph in glyphs:
        if run and (not glyph.inked or _jumps(run[-1], glyph)):
            yield _word(run, parted=glyph.hyphen)
            run = []
        if glyph.inked:
            run.append(glyph)
    if run:
        yield _word(run, parted=False)


def _jumps(before: Glyph, glyph: Glyph) -> bool:
    size = max(before.size, glyph.size)
    aside = glyph.left - before.right > JUMP * size or before.left - glyph.left > JUMP * size
    return aside or abs(before.baseline - glyph.baseline) > JUMP * size


def _word(run: Sequence[Glyph], *, parted: bool) -> _Word:
    largest = max(run, key=lambda glyph: glyph.size)
    return _Word(
        "".join(glyph.character for glyph in run) + (_PARTED if parted else ""),
        min(glyph.left for glyph in run),
        max(glyph.right for glyph in run),
        largest.baseline,
        largest.size,
        largest.mono,
    )


def _table(rows: Sequence[_Row], box: _Box) -> list[Line] | None:
    """Return the lines of a table; None for text that merely lies between rules."""
    edges = _column_edges(rows)
    if len(rows) < 2 or not edges:
        return None
    if len(rows) > MANY_ROWS and _filled(rows, box) > MAX_FILLED:
        return None
    if len(rows) > MANY_ROWS:
        with_cells = sum(sum(map(bool, _cells(row, edges))) > 1 for row in rows)
        if with_cells < MIN_WITH_CELLS * len(rows):
            return None
    lines: list[tuple[_Row, list[str]]] = []
    for row in rows:
        cells = _cells(row, edges)
        if lines and not cells[0] and sum(map(bool, cells)) <= len(cells) // 2:
            above = lines[-1][1]
            above[:] = [_joined(a, b) for a, b in zip(above, cells, strict=True)]
        else:
            lines.append((row, cells))
    return [
        Line(
            tuple(map(tidy, cells)),
            round(row.size, 1),
            bold=False,
            mono=False,
            left=box.left,
            right=box.right,
            baseline=row.baseline,
            row=True,
        )
        for row, cells in lines
    ]


def _joined(above: str, below: str) -> str:
    if above.endswith(_PARTED):
        return above + below
    return above + blank_between(above, below) + below if above and below else above or below


def _column_edges(rows: Sequence[_Row]) -> list[float]:
    """Return the edges of columns: the middles of strips that are blank in nearly all rows."""
    covered: Counter[int] = Counter()
    for row in rows:
        runs = row.runs()
        covered.update({x for run in runs for x in range(_left(run), _right(run) + 1)})
    most = int(SPANNING * len(rows))
    width = COLUMN_GAP * max(row.size for row in rows)
    inked = sorted(x for x, count in covered.items() if count > most)
    return [(a + b) / 2 for a, b in pairwise(inked) if b - a - 1 >= width]


def _left(run: Sequence[_Word]) -> int:
    return round(min(word.left for word in run))


def _right(run: Sequence[_Word]) -> int:
    return round(max(word.right for word in run))


def _filled(rows: Sequence[_Row], box: _Box) -> float:
    """Return the share of the box's width that rows cover, on average."""
    inked = sum(_right(run) - _left(run) for row in rows for run in row.runs())
    return inked / (len(rows) * (box.right - box.left))


def _cells(row: _Row, edges: Sequence[float]) -> list[str]:
    """
    Return the texts of a row, one a column; what runs across an edge stays with where it begins.
    """
    columns: list[list[str]] = [[] for _ in range(len(edges) + 1)]
    for run in row.runs():
        at = sum(edge <= run[0].left for edge in edges)
        columns[at] += [word.text for word in run]
    return [join_words(column) for column in columns]
