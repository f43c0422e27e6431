"""
Rows of CSV and TSV files.

CSV cells may be quoted (RFC 4180). TSV has no quotes, as the field's own files have it: a cell
that begins with a quotation mark is that text, and a row is a line.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.record_lines import RecordLines
from ccrag.errors import InputError

NumberedRow = tuple[int, Mapping[str, object] | RecordError]
Doubt = Callable[[int, str], None]
"""Hears of a row that may have been read wrongly: its line, and why."""
_SHAPE = (re.compile(r"\d+"), re.compile(r"[^\W\d]+"))


class Columns:
    """
    What the columns of a table are called when it has no header.

    Args:
        header_names: a first row that holds one of these is a header.
        layouts: the names for a table of so many columns.
    """

    def __init__(self, header_names: Iterable[str], *layouts: tuple[str, ...]) -> None:
        self._header_names = frozenset(header_names)
        self._layouts = {len(layout): layout for layout in layouts}

    def without_header(self, row: Sequence[str]) -> tuple[str, ...] | None:
        """Return the names if `row`, a table's first, is no header; None if it is one."""
        if self._header_names.isdisjoint(row):
            return self._layouts.get(len(row))
        return None


def read_tsv(
    path: Path, lines: RecordLines, *, columns: Columns | None = None, doubt: Doubt | None = None
) -> Iterator[NumberedRow]:
    """
    Yield the rows of a TSV file, cells by the names of their columns, after their lines.

    Args:
        columns: names for a table without header; without them the first row is the header.
        doubt: hears of the first cell that is quoted as in CSV.

    Raises:
        InputError: the header cannot be used.
    """
    header: Sequence[str] | None = None
    told = doubt is None
    for row in _tsv_rows(lines):
        if isinstance(row, RecordError):
            yield lines.number, _usable(row, header, RecordPlace(path, lines.number))
            continue
        if header is None:
            header = columns.without_header(row) if columns else None
            if header is None:
                header = _checked_header(row, RecordPlace(path, lines.number))
                continue
        if doubt is not None and not told and any(map(_is_quoted, row)):
            doubt(lines.number, "a cell is quoted as in CSV; in TSV the quotes are text")
            told = True
        yield lines.number, _fields(header, row, " (a TSV cell holds no tab and no line break)")


def _tsv_rows(lines: RecordLines) -> Iterator[list[str] | RecordError]:
    text = lines.text()
    while True:
        try:
            line = next(text).rstrip("\r\n")
        except StopIteration:
            return
        except RecordError as error:
            if error.fault != "encoding":
                raise
            yield error
            continue
        if line:
            yield line.split("\t")


def _is_quoted(cell: str) -> bool:
    return len(cell) > 2 and cell[0] == cell[-1] == '"' and '""' in cell[1:-1]


def read_csv(
    path: Path, lines: RecordLines, *, doubt: Doubt | None = None
) -> Iterator[NumberedRow]:
    """
    Yield the rows of a CSV file, cells by the names of their columns, after their first lines.

    Args:
        doubt: hears of cells that seem to have swallowed rows, where a quotation mark is astray.

    Raises:
        InputError: the header cannot be used.
    """
    csv.field_size_limit(lines.max_bytes)
    rows = csv.reader(lines.text(), strict=True)
    header: Sequence[str] | None = None
    while True:
        number = lines.number + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except (RecordError, csv.Error) as error:
            fault = _row_error(error, number, lines.number)
            if fault.fault not in ("encoding", "syntax"):
                raise
            yield number, _usable(fault, header, RecordPlace(path, number))
            continue
        if not row:
            continue
        if header is None:
            header = _checked_header(row, RecordPlace(path, number))
            if len(header) == 1 and (other := set(header[0]) & {";", "\t"}):
                problem = (
                    f"the header is one cell, {header[0]!r}: commas part cells, not {other.pop()!r}"
                )
                raise InputError(problem, path=path, line=number)
            continue
        if doubt is not None and lines.number > number and _has_swallowed(row):
            doubt(number, f"a quoted cell seems to take in the rows up to line {lines.number}")
        yield number, _fields(header, row)


def _usable(error: RecordError, header: Sequence[str] | None, place: RecordPlace) -> RecordError:
    """Return `error` if only its row is lost; raised if it is the header's."""
    if header is None:
        raise at(place, error)
    return error


def _fields(
    header: Sequence[str], row: Sequence[str], hint: str = ""
) -> Mapping[str, object] | RecordError:
    if len(row) == len(header):
        return dict(zip(header, row, strict=True))
    cells = f"{len(row)} cells where the header has {len(header)}{hint}"
    return RecordError("syntax", cells)


def _row_error(error: RecordError | csv.Error, first: int, last: int) -> RecordError:
    if isinstance(error, RecordError):
        return error
    if last > first:
        problem = f"not a valid table row: {error}; a quotation mark opened in line {first}"
        return RecordError("syntax", f"{problem} takes in all lines up to {last}")
    return RecordError("syntax", f"not a valid table row: {error}")


def _has_swallowed(row: Sequence[str]) -> bool:
    """Tell whether a line in a cell looks like a row: as many commas, an id of the same shape."""
    own = _shape(row[0])
    return (
        len(row) > 1
        and "0" in own
        and any(
            line.count(",") >= len(row) - 1 and _shape(line.partition(",")[0]) == own
            for cell in row
            for line in cell.splitlines()[1:]
        )
    )


def _shape(doc_id: str) -> str:
    """Return what an id looks like: digits are 0, letters a."""
    return _SHAPE[1].sub("a", _SHAPE[0].sub("0", doc_id.strip('" ')))


def _checked_header(row: Sequence[str], place: RecordPlace) -> Sequence[str]:
    row = [name.strip() for name in row]
    repeated = [name for position, name in enumerate(row) if name in row[:position]]
    if repeated:
        raise at(place, InputError(f"the header names {repeated[0]!r} twice"))
    return row
