"""Rows of cells as lines of Markdown, which cannot grow without bound. Pure."""

import re

GROWTH = 8
"""
The most characters that repeated cells, in the rows and columns they reach over, may add to a
page, as a multiple of its markup. A cell is written once even when this is used up.
"""
MAX_SPAN = 1_000
"""Columns or rows a cell may cover, as HTML has it."""
_BAR = re.compile(r"\|")
_CELL_MARKS = 3
"""Characters around each cell of a row."""


class Repeats:
    """The room that the tables of one page have left for repeating cells."""

    def __init__(self, markup_chars: int) -> None:
        self._left = GROWTH * markup_chars
        self.refused = 0
        """Cells that were written once only, though they reach further."""

    def allow(self, text: str) -> bool:
        """Tell whether `text` may be written in one more cell; counts it if so."""
        cost = len(text) + _CELL_MARKS
        if cost > self._left:
            self._left = 0
            return False
        self._left -= cost
        return True


class TableGrid:
    """
    A table while its cells are read in order.

    A cell over several rows is written in each of them, one over several columns in the first.
    """

    def __init__(self, repeats: Repeats) -> None:
        self._repeats = repeats
        self._rows: list[list[str]] = []
        self._hanging: dict[int, tuple[int, str]] = {}
        """Column → rows that a cell above still reaches into, and its text."""

    def row(self) -> None:
        """Begin a row."""
        self.end_row()
        self._rows.append([])

    def end_row(self) -> None:
        """Fill in the cells that reach down into the last places of the row."""
        if self._rows:
            self._hang(self._rows[-1])

    def cell(self, text: str, *, columns: int, rows: int) -> None:
        """Add a cell to the row."""
        if not self._rows:
            self.row()
        row = self._rows[-1]
        self._hang(row)
        text = _BAR.sub("\\\\|", text)
        for nth in range(columns):
            shown = "" if nth else text
            if nth and not self._repeats.allow(shown):
                self._repeats.refused += 1
                return
            if rows > 1:
                self._hanging[len(row)] = (rows - 1, shown)
            row.append(shown)

    def _hang(self, row: list[str]) -> None:
        while len(row) in self._hanging:
            left, shown = self._hanging.pop(len(row))
            if not self._repeats.allow(shown):
                self._repeats.refused += 1
                continue
            if left > 1:
                self._hanging[len(row)] = (left - 1, shown)
            row.append(shown)

    def text(self) -> str:
        """Return the rows that hold any text, one a line."""
        self.end_row()
        return "\n".join(f"| {' | '.join(row)} |" for row in self._rows if any(row))


def span(value: str | None) -> int:
    """Return how many columns or rows a cell reaches over; 1, as in browsers, if not a number."""
    value = (value or "1").strip()
    whole = value.isascii() and value.isdecimal() and len(value) < 10
    return min(max(int(value), 1), MAX_SPAN) if whole else 1
