"""
Files of records, read one record at a time: JSONL, JSON, CSV and TSV, plain or gzipped.

Knows lines, encodings and syntax; what a record's fields mean is for `fields` and `queries`.
A broken record is yielded as an error in its place, so that a caller may skip it and read on.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, NamedTuple, Self

import orjson

from ccrag.errors import InputError

Fault = Literal["encoding", "syntax", "id", "field", "duplicate"]
"""What can be wrong with one record."""

RECORD_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv")
TABLE_SUFFIXES = (".csv", ".tsv")
_BOM = b"\xef\xbb\xbf"
_MAX_CELL_CHARS = 2**31 - 1


class RecordError(InputError):
    """
    One record that cannot be used; the others of its file can.

    Args:
        fault: its kind, for counting.
        problem: what is wrong and what was expected.
    """

    def __init__(self, fault: Fault, problem: str) -> None:
        self.fault = fault
        super().__init__(problem)


Record = tuple[int, Mapping[str, object] | RecordError]
"""The fields of a record, or what is wrong with it, after its number (see `Place`)."""


class Place(NamedTuple):
    """Where a record is: its line or, in a JSON list, whose lines mean nothing, its position."""

    path: Path
    number: int
    """From 1."""

    @property
    def line(self) -> int | None:
        """The line, where records have one."""
        return None if data_suffix(self.path) == ".json" else self.number

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.path}: record {self.number}"
        return f"{self.path}:{self.number}"


def at(place: Place, error: InputError) -> InputError:
    """`error`, now saying where: its message, `path` and `line` name the place."""
    error.path = place.path
    error.line = place.line
    error.args = (f"{place}: {error.problem}",)
    return error


def data_suffix(path: Path) -> str:
    """The suffix that tells the format, in lower case, `.gz` set aside."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


@contextmanager
def open_data(path: Path) -> Iterator[IO[bytes]]:
    """
    Open a plain or gzipped file for reading bytes.

    Raises:
        InputError: it cannot be opened, or is not the gzip file its name says.
    """
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (EOFError, zlib.error) as error:
        raise InputError(f"broken gzip file ({error}); fetch it again", path=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def decode(data: bytes) -> str:
    """
    `data` as UTF-8.

    Raises:
        RecordError: it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise RecordError("encoding", f"{problem}; convert the file to UTF-8") from error


def read_records(path: Path) -> Iterator[Record]:
    """
    The records of a file, in order; memory holds one of them, or the whole of a JSON file.

    Raises:
        InputError: the file cannot be read, is of another kind, or is broken as a whole.
    """
    suffix = data_suffix(path)
    if suffix not in RECORD_SUFFIXES:
        known = ", ".join(RECORD_SUFFIXES)
        raise InputError(f"cannot read {suffix or 'a file without suffix'}; use {known}", path=path)
    with open_data(path) as file:
        if suffix == ".jsonl":
            yield from _read_jsonl(file)
        elif suffix == ".json":
            yield from _read_json(path, file.read())
        else:
            yield from _read_table(path, file, delimiter="\t" if suffix == ".tsv" else ",")


def has_bom(path: Path) -> bool:
    """Whether the file starts with a byte order mark, which reading leaves out."""
    with open_data(path) as file:
        return file.read(len(_BOM)) == _BOM


def without_bom(data: bytes) -> bytes:
    """`data` without the byte order mark it may start with."""
    return data.removeprefix(_BOM)


def _read_jsonl(file: Iterable[bytes]) -> Iterator[Record]:
    for number, line in enumerate(file, start=1):
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            data = without_bom(line).strip() if number == 1 else line.strip()
            if data:
                yield number, _parse_again(data, error)
            continue
        if type(fields) is dict:
            yield number, fields
        else:
            yield number, _not_an_object(fields)


def _parse_again(data: bytes, error: orjson.JSONDecodeError) -> Mapping[str, object] | RecordError:
    """A line that failed: its fields if only a byte order mark was in the way, else why."""
    try:
        decode(data)
        fields = orjson.loads(data)
    except RecordError as encoding:
        return encoding
    except orjson.JSONDecodeError:
        return _json_error(error)
    return fields if isinstance(fields, dict) else _not_an_object(fields)


def _json_error(error: json.JSONDecodeError) -> RecordError:
    if "surrogate" in error.msg:
        return RecordError("encoding", "holds a lone surrogate, which cannot be stored as text")
    return RecordError("syntax", f"not valid JSON: {error.msg} (character {error.pos + 1})")


def _not_an_object(value: object) -> RecordError:
    return RecordError("syntax", f"expected a JSON object, got {json_type(value)}")


def json_type(value: object) -> str:
    """The name a user knows the type of a JSON value by."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _read_json(path: Path, data: bytes) -> Iterator[Record]:
    items, checked = _json_items(path, without_bom(data))
    for number, item in enumerate(items, start=1):
        fields: Mapping[str, object] | RecordError
        if not isinstance(item, dict):
            fields = _not_an_object(item)
        elif checked or _is_storable(item):
            fields = item
        else:
            fields = RecordError(
                "encoding", "holds a lone surrogate, which cannot be stored as text"
            )
        yield number, fields


def _json_items(path: Path, data: bytes) -> tuple[list[object], bool]:
    """The list a JSON file is or holds, and whether all its strings can be stored."""
    checked = True
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        value, checked = _parse_with_surrogates(path, data, error), False
    lists = [value]
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        problem = "expected a JSON list, or an object that holds exactly one list"
        raise InputError(problem, path=path)
    return lists[0], checked


def _parse_with_surrogates(path: Path, data: bytes, error: json.JSONDecodeError) -> object:
    """A JSON file that failed, if only lone surrogates did it: the rest may be usable."""
    try:
        text = decode(data)
        if "surrogate" in error.msg:
            return json.loads(text)
    except RecordError as encoding:
        raise InputError(encoding.problem, path=path) from error
    except json.JSONDecodeError as other:
        error = other
    problem = f"not valid JSON: {error.msg}; one object a line belongs in a .jsonl file"
    raise InputError(problem, path=path, line=error.lineno)


def _is_storable(item: object) -> bool:
    try:
        orjson.dumps(item)
    except orjson.JSONEncodeError:
        return False
    return True


class _Lines:
    """Decoded lines of a table; unlike a generator it goes on after a line that is not UTF-8."""

    def __init__(self, file: Iterable[bytes]) -> None:
        self._lines = iter(file)
        self.number = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return decode(without_bom(line) if self.number == 1 else line)


def _read_table(path: Path, file: Iterable[bytes], *, delimiter: str) -> Iterator[Record]:
    csv.field_size_limit(_MAX_CELL_CHARS)
    lines = _Lines(file)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        number = lines.number + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except (RecordError, csv.Error) as error:
            fault = _row_error(error)
            if header is None:
                raise at(Place(path, number), fault) from error
            yield number, fault
            continue
        if not row:
            continue
        if header is None:
            header = _checked_header(row, Place(path, number))
        elif len(row) == len(header):
            yield number, dict(zip(header, row, strict=True))
        else:
            cells = f"{len(row)} cells where the header has {len(header)}"
            yield number, RecordError("syntax", cells)


def _row_error(error: RecordError | csv.Error) -> RecordError:
    if isinstance(error, RecordError):
        return error
    return RecordError("syntax", f"not a valid table row: {error}")


def _checked_header(row: list[str], place: Place) -> list[str]:
    repeated = [name for position, name in enumerate(row) if name in row[:position]]
    if repeated:
        raise at(place, InputError(f"the header names {repeated[0]!r} twice"))
    return row
