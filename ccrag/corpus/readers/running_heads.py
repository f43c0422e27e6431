"""
Find the running heads and feet of a file's pages. Pure.

A line is left out only if it stands at the upper or lower edge of its page, set apart from the text
by more than the usual distance of two lines and not larger than the text, and the pages around it
(`WINDOW` before and after) show that it is no content:

1. *Its number changes with the page*: at least two of those pages (one, in a file of two) have a
   line at the same place and in the same size with the same text but for a number that grows by one
   a page; or with another text, as where heads name the section, if the number stands at an end and
   the text is no sentence. Of several such numbers on a page, the pages around decide for one.
2. *Its text is repeated* at the same place on two of those pages. A table's head is, too, but its
   rows are close.
3. *Its place is that of heads* found by 1 or 2, and the same words stand elsewhere in the file (a
   section's title): nothing is lost.
4. *It is only a number* that fits the page numbers found by 1 on those pages; it may be closer.

Edges are worked off from the outside: behind the first line that stays, all stay. A heading on the
first page of a chapter stands lower or larger than the head that repeats it, so it stays.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ccrag.corpus.readers.lines import Line

WINDOW = 4
"""Pages before and after a page that are compared with it: left and right pages differ."""
MAX_ROWS = 3
"""Rows at each edge that may be heads."""
SAME_PLACE = 1.5
"""Points by which two heights of one head may differ."""
LARGER = 1.1
"""A line larger than the text by this factor is content."""
TEXT_SHARE = 0.15
"""Share of a file's characters that a size of its text has; it may have several."""
APART = 1.35
"""Distance to the next row, in units of the usual one, that sets a head apart."""
MIN_OTHERS = 2
"""Pages of the window that must show the same."""
_ROMAN = re.compile(r"(?=[ivxl])(x{0,3}|xl|lx{0,3})(ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_INTEGER = re.compile(r"\d{1,5}(?!\d)")
_DIGITS = re.compile(r"\d+")
_TRIM = " .,:;|·•-–—()[]/"
_LONE = re.compile(
    r"(?:page|p\.|seite|第)?\W*#\W*(?:(?:of|von|/)\W*#)?\W*(?:页|頁|ページ)?", re.IGNORECASE
)
"""A page number and nothing else, in the form of an edge."""
_WORDLESS = re.compile(r"[\W\d_]+")


class _Edge(NamedTuple):
    """A line at the edge of a page."""

    page: int
    line: Line
    form: str
    """Its text with numbers replaced by `#`."""
    numbers: frozenset[int]
    """Its numbers, each minus that of the page."""
    end_numbers: frozenset[int]
    """Those of its numbers that are at its beginning or end."""
    apart: bool
    """The next row towards the text is farther away than usual."""


_EdgeRow = list[_Edge]


class _Side(NamedTuple):
    """The rows at the upper or lower edge of each page, the outermost first."""

    rows: list[list[_EdgeRow]]

    def edges(self) -> Iterator[_Edge]:
        """Yield the lines at this edge of all pages."""
        return (edge for rows in self.rows for row in rows for edge in row)

    def near(self, edge: _Edge) -> Iterator[_Edge]:
        """Yield lines of other pages at the place of `edge` and in its size."""
        first = max(0, edge.page - WINDOW)
        for page, rows in enumerate(self.rows[first : edge.page + WINDOW + 1], start=first):
            if page != edge.page:
                yield from (
                    other
                    for row in rows
                    if abs(row[0].line.baseline - edge.line.baseline) <= 2 * SAME_PLACE
                    for other in row
                    if abs(other.line.baseline - edge.line.baseline) <= SAME_PLACE
                    and abs(other.line.size - edge.line.size) <= 0.2
                )


def part_running_heads(
    pages: Sequence[Sequence[Line]],
) -> tuple[list[list[Line]], list[list[Line]]]:
    """Return the lines of each page that are text, and those that are running heads or feet."""
    sizes = Counter[float]()
    for line in (line for lines in pages for line in lines):
        sizes[round(line.size, 1)] += len(line.text)
    if not sizes or len(pages) < 2:
        return [list(lines) for lines in pages], [[] for _ in pages]
    enough = TEXT_SHARE * sizes.total()
    [(usual_size, _)] = sizes.most_common(1)
    common = [size for size, chars in sizes.items() if chars >= enough]
    largest = LARGER * max(common, default=usual_size)
    by_row = [_in_rows(lines) for lines in pages]
    usual = _usual_distance(by_row)
    sides = [
        _Side([_edge_rows(page, rows, usual) for page, rows in enumerate(by_row)]),
        _Side([_edge_rows(page, rows[::-1], usual) for page, rows in enumerate(by_row)]),
    ]
    heads = _find_heads(sides, largest)
    heads |= _repeat_titles(sides, pages, heads)
    gone = {id(line) for side in sides for line in _peel(side, heads)}
    text = [[line for line in lines if id(line) not in gone] for lines in pages]
    return text, [[line for line in lines if id(line) in gone] for lines in pages]


def _in_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of a page, those on one height together, the highest first."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.baseline):
        if rows and rows[-1][0].baseline - line.baseline <= SAME_PLACE:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _usual_distance(by_row: Sequence[Sequence[Sequence[Line]]]) -> float:
    distances = [
        above[0].baseline - row[0].baseline
        for rows in by_row
        for above, row in pairwise(rows)
        if above[0].baseline - row[0].baseline < 3 * row[0].size
    ]
    return median(distances) if distances else 0.0


def _edge_rows(page: int, rows: Sequence[Sequence[Line]], usual: float) -> list[_EdgeRow]:
    """Return the first rows of `rows`, which run from the edge of the page to its middle."""
    made: list[_EdgeRow] = []
    for at, row in enumerate(rows[:MAX_ROWS]):
        inner = rows[at + 1][0].baseline if at + 1 < len(rows) else None
        size = max(line.size for line in row)
        enough = APART * max(usual, size)
        apart = inner is None or abs(row[0].baseline - inner) > enough
        made.append([_edge(page, line, apart=apart) for line in row])
    return made


def _edge(page: int, line: Line, *, apart: bool) -> _Edge:
    words = line.text.split()
    ends = {0: words[0], -1: words[-1]} if words else {}
    values = {at: _roman(word.strip(_TRIM)) for at, word in ends.items()}
    for at, value in values.items():
        if value is not None:
            words[at] = "#"
    found = [[int(number) for number in _INTEGER.findall(word)] for word in words]
    romans = {value - page for value in values.values() if value is not None}
    numbers = {value - page for word in found for value in word} | romans
    first = found[0][:1] + found[0][-1:] if found else []
    last = found[-1][-1:] if found else []
    is_sentence = len(words) > 3 and words[-1][-1] in ".!?。！？"
    at_ends = set[int]() if is_sentence else {value - page for value in first + last} | romans
    form = _DIGITS.sub("#", " ".join(words))
    return _Edge(page, line, form, frozenset(numbers), frozenset(at_ends), apart)


def _roman(word: str) -> int | None:
    """Return the value of a Roman numeral up to 89; None for other words."""
    if not word or _ROMAN.fullmatch(word) is None:
        return None
    digits = [_ROMAN_VALUES[letter] for letter in word.lower()]
    return sum(-a if a < b else a for a, b in pairwise([*digits, 0]))


def _find_heads(sides: Sequence[_Side], largest: float) -> set[int]:
    """Return the `id` of each line that may be a head."""
    edges = [
        (side, edge)
        for side in sides
        for edge in side.edges()
        if edge.line.size < largest or _LONE.fullmatch(edge.form)
    ]
    steps = [_steps(side, edge) for side, edge in edges]
    best = _page_numbers(zip([edge.page for _, edge in edges], steps, strict=True))
    heads: set[int] = set()
    for (side, edge), own in zip(edges, steps, strict=True):
        of_page = best.get(edge.page)
        in_step = of_page is not None and of_page in own
        if in_step or _is_repeated(side, edge) or _is_page_number(edge, best):
            heads.add(id(edge.line))
    return heads


def _steps(side: _Side, edge: _Edge) -> dict[int, int]:
    """Return how much its numbers exceed the page's, and on how many pages the same is seen."""
    pages: dict[int, set[int]] = {}
    for other in side.near(edge):
        if other.form == edge.form:
            shared = edge.numbers & other.numbers
        else:
            shared = edge.end_numbers & other.end_numbers
        for number in shared:
            pages.setdefault(number, set()).add(other.page)
    needed = min(MIN_OTHERS, len(side.rows) - 1)
    return {number: len(others) for number, others in pages.items() if len(others) >= needed}


def _page_numbers(found: Iterable[tuple[int, Mapping[int, int]]]) -> dict[int, int]:
    """
    Return for each page how much the number printed on it exceeds its position.

    It is what most pages of the window show: the numbers of footnotes, one a page, may grow with
    the page as well, but not for long.
    """
    seen: dict[int, Counter[int]] = {}
    for page, steps in found:
        seen.setdefault(page, Counter()).update(steps)
    best: dict[int, int] = {}
    for page, own in seen.items():
        around = Counter[int]()
        for near in range(page - 2 * WINDOW, page + 2 * WINDOW + 1):
            around.update(seen.get(near, ()))
        if own:
            best[page] = max(own, key=lambda number: (around[number], -abs(number)))
    return best


def _is_repeated(side: _Side, edge: _Edge) -> bool:
    others = {
        other.page for other in side.near(edge) if other.apart and other.line.text == edge.line.text
    }
    return edge.apart and len(others) >= MIN_OTHERS


def _is_page_number(edge: _Edge, best: Mapping[int, int]) -> bool:
    if _LONE.fullmatch(edge.form) is None:
        return False
    near = range(edge.page - WINDOW, edge.page + WINDOW + 1)
    known = {best[page] for page in near if page in best}
    return not edge.numbers.isdisjoint(known)


def _repeat_titles(
    sides: Sequence[_Side], pages: Sequence[Sequence[Line]], heads: Set[int]
) -> set[int]:
    """Return the `id` of each line at the place of heads that repeats a title of the file."""
    in_place = {
        id(edge.line): edge.line
        for side in sides
        for edge in side.edges()
        if edge.apart
        and id(edge.line) not in heads
        and len({other.page for other in side.near(edge) if id(other.line) in heads}) >= MIN_OTHERS
    }
    titles = {
        _words(line)
        for lines in pages
        for line in lines
        if id(line) not in in_place and id(line) not in heads
    }
    return {at for at, line in in_place.items() if _words(line) in titles - {""}}


def _words(line: Line) -> str:
    """Return the letters of a line."""
    return _WORDLESS.sub("", line.text).casefold()


def _peel(side: _Side, heads: Set[int]) -> Iterator[Line]:
    """Yield the heads with nothing but heads between them and the edge of their page."""
    for rows in side.rows:
        waiting: list[Line] = []
        for row in rows:
            found = [edge for edge in row if id(edge.line) in heads]
            waiting += [edge.line for edge in found]
            if found and (row[0].apart or all(_LONE.fullmatch(edge.form) for edge in row)):
                yield from waiting
                waiting = []
            if len(found) < len(row):
                break
