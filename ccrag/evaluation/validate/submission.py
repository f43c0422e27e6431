"""Check what every format asks of a file: records that parse, each query once, one run name."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ccrag.evaluation.validate.jsonl import JsonlRecord, read_records
from ccrag.evaluation.validate.problems import Problem
from ccrag.evaluation.validate.shape import at, is_text, is_whole
from ccrag.types import QueryId


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one format, given the queries that were asked."""

    check: Callable[[Mapping[str, object]], Iterator[str]]
    """Messages about one record, which it alone can tell."""
    id_key: str
    """The dotted key of the query's id."""
    constant_keys: tuple[str, ...] = ()
    """Keys that hold one value throughout the file."""
    asked: Collection[QueryId] | None = None
    """Every id that must be answered; None when the queries are not known."""
    max_bytes: int | None = None


def file_problems(path: Path, rules: Rules) -> list[Problem]:
    """
    Return everything that is wrong with a file: what concerns all of it, then by line, then the
    missing.

    Raises:
        InputError: the file cannot be read.
    """
    records, problems = read_records(path)
    for record in records:
        query_id = identifier(record, rules)
        messages = (*record.faults, *rules.check(record.value))
        problems += [Problem(path, record.line, query_id, message) for message in messages]
    problems += _size_problems(path, rules.max_bytes)
    problems += _id_problems(path, records, rules)
    for key in rules.constant_keys:
        problems += _constant_problems(path, records, rules, key)
    return sorted(problems, key=lambda problem: problem.line or 0) + _missing(path, records, rules)


def identifier(record: JsonlRecord, rules: Rules) -> QueryId | None:
    """Return the record's query id as a string; None when it has no usable one."""
    value = at(record.value, rules.id_key)
    return str(value) if is_text(value) or is_whole(value) else None


def _size_problems(path: Path, max_bytes: int | None) -> Iterator[Problem]:
    size = path.stat().st_size
    if max_bytes is not None and size > max_bytes:
        yield Problem(path, None, None, f"has {size:,} bytes, {max_bytes:,} are allowed")


def _id_problems(path: Path, records: Sequence[JsonlRecord], rules: Rules) -> Iterator[Problem]:
    first: dict[QueryId, int] = {}
    for record in records:
        query_id = identifier(record, rules)
        if query_id is None:
            continue
        if query_id in first:
            message = f"answered again, first on line {first[query_id]}"
            yield Problem(path, record.line, query_id, message)
        elif rules.asked is not None and query_id not in rules.asked:
            yield Problem(path, record.line, query_id, "is not among the queries asked")
        first.setdefault(query_id, record.line)


def _constant_problems(
    path: Path, records: Sequence[JsonlRecord], rules: Rules, key: str
) -> Iterator[Problem]:
    values = [(record, value) for record in records if is_text(value := at(record.value, key))]
    for record, value in values:
        first, expected = values[0]
        if value != expected:
            message = f"{key} is {value!r}, but {expected!r} on line {first.line}"
            yield Problem(path, record.line, identifier(record, rules), message)


def _missing(path: Path, records: Sequence[JsonlRecord], rules: Rules) -> list[Problem]:
    answered = {identifier(record, rules) for record in records}
    return [
        Problem(path, None, query_id, "is not answered")
        for query_id in rules.asked or ()
        if query_id not in answered
    ]
