"""JSON Lines of a user's, with messages that name file and line. For `reading`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from ccrag.errors import InputError
from ccrag.evaluation.validate.jsonl import JsonlRecord, read_lenient
from ccrag.evaluation.validate.shape import Kinds, at, is_text, is_whole, shape_problems
from ccrag.types import QueryId

T = TypeVar("T")
ID_KEYS = ("metadata.narrative_id", "metadata.topic_id", "topic_id", "query_id", "task_id")


def checked_records(path: Path, kinds: Kinds) -> Iterator[JsonlRecord]:
    """
    Yield the objects of a JSON Lines file.

    Raises:
        InputError: it cannot be read, a line holds no sound object, or a key is not as `kinds`
            says.
    """
    records, problems = read_lenient(path)
    for problem in problems:
        raise InputError(problem.message, path=path, line=problem.line)
    for record in records:
        for message in (*record.faults, *shape_problems(record.value, kinds)):
            raise InputError(message, path=path, line=record.line)
        yield record


def query_id_of(value: Mapping[str, object]) -> QueryId | None:
    """Return the query's id as a string, under any name it has in submissions; None without one."""
    found = (at(value, key) for key in ID_KEYS)
    return next((str(item).strip() for item in found if is_text(item) or is_whole(item)), None)


def by_query(path: Path, kinds: Kinds, value_of: Callable[[JsonlRecord], T]) -> dict[QueryId, T]:
    """
    Return one value per query, in the file's order.

    Raises:
        InputError: as `checked_records`, or a query stands twice.
    """
    values: dict[QueryId, T] = {}
    for record in checked_records(path, kinds):
        query_id = required_query_id(path, record)
        if query_id in values:
            raise InputError(f"query {query_id!r} stands twice", path=path, line=record.line)
        values[query_id] = value_of(record)
    return values


def not_empty(path: Path, known: dict[QueryId, T]) -> dict[QueryId, T]:
    """
    Return what a file of gold data holds.

    Raises:
        InputError: nothing; every query would be left out of the measures without a word.
    """
    if not known:
        raise InputError("holds nothing of what was expected of it", path=path)
    return known


def required_query_id(path: Path, record: JsonlRecord) -> QueryId:
    """
    Return the record's query id.

    Raises:
        InputError: it has none.
    """
    query_id = query_id_of(record.value)
    if query_id is None:
        known = ", ".join(ID_KEYS)
        raise InputError(f"names no query; expected one of {known}", path=path, line=record.line)
    return query_id
