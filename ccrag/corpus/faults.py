"""Errors of one record or file of a collection, and their places. Pure."""

from pathlib import Path
from typing import Literal, NamedTuple

from ccrag.corpus.readers.registry import is_page, reader_of
from ccrag.errors import InputError

Fault = Literal["encoding", "syntax", "id", "field", "duplicate", "size", "file", "no text"]
"""
Kinds of errors of one record; "file": of all that is left of its file; "no text": it is a page
file that holds nothing to be found, such as scans or a page that a script makes.
"""


class RecordError(InputError):
    """
    One record that cannot be used; the others of its file can.

    Args:
        fault: its kind, for counting.
        problem: what is wrong and what was expected.
        path: the file, where the place is not added later.
    """

    def __init__(self, fault: Fault, problem: str, *, path: Path | None = None) -> None:
        self.fault = fault
        super().__init__(problem, path=path)


class RecordPlace(NamedTuple):
    """The place of a record: its line or, in a JSON list, its position; a page file itself."""

    path: Path
    number: int
    """From 1."""

    @property
    def line(self) -> int | None:
        """Return the line, where records have one: not in a JSON list, nor in a page file."""
        reader = reader_of(self.path)
        counted = reader is None or (reader.content == "records" and reader.counts_lines)
        return self.number if counted else None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.path}:{self.line}"
        return str(self.path) if is_page(self.path) else f"{self.path}: record {self.number}"


def at(place: RecordPlace, error: InputError) -> InputError:
    """Return `error`, now saying where: its message, `path` and `line` name the place."""
    error.path = place.path
    error.line = place.line
    error.args = (f"{place}: {error.problem}",)
    return error


def json_type(value: object) -> str:
    """Return the name a user knows the type of a JSON value by."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
