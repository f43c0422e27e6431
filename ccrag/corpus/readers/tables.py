"""
Rows of CSV and TSV files.

CSV cells may be quoted (RFC 4180). TSV has no quotes, as the field's own files have it: a cell
that begins with a quotation mark is that text, and a row is a line.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.readers.record_lines import RecordLines
from ccrag.corpus.readers.source import NumberedRecord, RecordSource
from ccrag.errors import InputError

_SHAPE = (re.compile(r"\d+"), re.compile(r"[^\W\d]+"))


def read_tsv(source: RecordSource) -> Iterator[NumberedRecord]:
    """
    Yield the rows of a TSV file, cells by the names of their columns, after their lines.

    Warns through `source.doubt` of the first cell that is quoted as in CSV.

    Raises:
        InputError: the header cannot be used.
    """
    header: Sequence[str] | None = None
    warned = source.doubt is None
    with source.lines() as lines:
        for row in _tsv_rows(lines):
            place = RecordPlace(source.path, lines.number)
            if isinstance(row, RecordError):
                yield lines.number, _usable(row, header, place)
                continue
            if header is None:
                header = source.columns.without_header(row) if source.columns else None
                if header is None:
                    header = _checked_header(row, place)
                    continue
            if source.doubt is not None and not warned and any(map(_is_quoted, row)):
                source.doubt(lines.number, "a cell is quoted as in CSV; in TSV the quotes are text")
                warned = True
            hint = " (a TSV cell holds no tab and no line break)"
            yield lines.number, _fields(header, row, hint)


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


def read_csv(source: RecordSource) -> Iterator[NumberedRecord]:
    """
    Yield the rows of a CSV file, cells by the names of their columns, after their first lines.

    Warns through `source.doubt` of cells that seem to hold whole rows, where a quotation mark is
    missing or one too many.

    Raises:
        InputError: the header cannot be used.
    """
    with source.lines() as lines:
        yield from _csv_rows(source, lines)


def _csv_rows(source: RecordSource, lines: RecordLines) -> Iterator[NumberedRecord]:
    path, doubt = source.path, source.doubt
    # Python's own limit is 131,072 characters; a long text has more.
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
                cell = f"the header is one cell, {header[0]!r}"
                problem = f"{cell}: commas separate cells, not {other.pop()!r}"
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
