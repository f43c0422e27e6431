"""
Records in JSON: an object on each line, or a list of objects in one file.

A broken record is yielded as an error in its place, so that a caller may skip it and read on.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from ccrag.corpus.faults import RecordError, json_type
from ccrag.corpus.packed import read_whole
from ccrag.corpus.readers.encodings import bom_encoding
from ccrag.corpus.readers.record_lines import decode
from ccrag.corpus.readers.source import NumberedRecord, RecordSource
from ccrag.errors import InputError

_NAME_ENDS = re.compile(rb'"\s*:')
"""The end of every name in JSON; there are never fewer matches than names."""


def read_jsonl(source: RecordSource) -> Iterator[NumberedRecord]:
    """Yield the objects of a file with one on each line, after their lines; blank ones are none."""
    with source.lines() as lines:
        for line in lines:
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                if line.strip():
                    yield lines.number, _why_not_json(line, error, source.path)
                continue
            if type(fields) is not dict:
                yield lines.number, _not_an_object(fields)
            else:
                yield lines.number, _name_given_twice(line, fields) or fields


def _name_given_twice(line: bytes, fields: Mapping[str, object]) -> RecordError | None:
    """Return an error if a field has two values, of which the parser silently keeps the last."""
    if len(_NAME_ENDS.findall(line)) == len(fields):
        return None  # nearly always, and quick to find out
    names = (b'"%s"' % name.encode() for name in fields)
    if b"\\u" not in line and all(line.count(name) <= 1 for name in names):
        return None  # the match that is too many lies deeper, or in a text
    return _stands_twice(json.loads(line, object_pairs_hook=_object_of))


class _Conflicting(dict[str, object]):
    """A JSON object that names a field twice, with two values."""

    field = ""


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these names and values, in order, none left out."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        for name, value in pairs:
            if value != fields[name]:
                conflicting = _Conflicting(fields)
                conflicting.field = name
                return conflicting
    return fields


def _stands_twice(item: object) -> RecordError | None:
    """Return an error if an object read by `_object_of` names a field twice."""
    if not isinstance(item, _Conflicting):
        return None
    return RecordError("syntax", f"the field {item.field!r} occurs twice, with two values")


def _why_not_json(line: bytes, error: orjson.JSONDecodeError, path: Path) -> RecordError:
    try:
        decode(line, path=path)
    except RecordError as encoding:
        return encoding
    if "surrogate" in error.msg:
        return RecordError("encoding", "holds a lone surrogate, which cannot be stored as text")
    return RecordError("syntax", f"not valid JSON: {error.msg} (character {error.pos + 1})")


def _not_an_object(value: object) -> RecordError:
    return RecordError("syntax", f"expected a JSON object, got {json_type(value)}")


def read_json(source: RecordSource) -> Iterator[NumberedRecord]:
    """
    Yield the objects of a JSON list, or of the one list in an object, after their positions.

    Raises:
        InputError: it is not valid JSON, or holds no such list; or it is too large.
    """
    path = source.path
    data = read_whole(path, sizes=source.sizes, limit="json")
    bom, encoding = bom_encoding(data)
    if encoding != "utf-8":
        data = decode(data, path=path).encode()
    # orjson checks what it parses; what the slower parser let through is checked one by one.
    items, checked = _json_items(path, data.removeprefix(bom))
    for number, item in enumerate(items, start=1):
        fields: Mapping[str, object] | RecordError
        if not isinstance(item, dict):
            fields = _not_an_object(item)
        elif twice := _stands_twice(item):
            fields = twice
        elif checked or _is_storable(item):
            fields = item
        else:
            fields = RecordError(
                "encoding", "holds a lone surrogate, which cannot be stored as text"
            )
        yield number, fields


def _json_items(path: Path, data: bytes) -> tuple[list[object], bool]:
    """Return the list that a JSON file is or holds, and whether all its strings can be stored."""
    checked = True
    try:
        value = orjson.loads(data)
        if len(_NAME_ENDS.findall(data)) != _names_in(value):  # or a text holds what looks so
            value = json.loads(data, object_pairs_hook=_object_of)
    except orjson.JSONDecodeError as error:
        value, checked = _parse_with_surrogates(path, data, error), False
    lists = [value]
    if isinstance(value, dict):
        if not _is_record(value) and (twice := _stands_twice(value)):
            raise InputError(twice.problem, path=path)
        lists = [[value]]
        if not _is_record(value):
            lists = [item for item in value.values() if isinstance(item, list)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        problem = "expected a JSON list, an object that holds exactly one list, or one record"
        raise InputError(problem, path=path)
    return lists[0], checked


def _names_in(value: object) -> int:
    """Return how many names the objects in a JSON value have, at any depth."""
    names, inside = 0, [value]
    while inside:
        item = inside.pop()
        if isinstance(item, dict):
            names += len(item)
            inside += item.values()
        elif isinstance(item, list):
            inside += item
    return names


def _is_record(value: Mapping[str, object]) -> bool:
    """Tell whether an object is a record itself: it holds strings, and no list of objects."""
    return any(isinstance(item, str) for item in value.values()) and not any(
        isinstance(item, list) and (not item or isinstance(item[0], dict))
        for item in value.values()
    )


def _parse_with_surrogates(path: Path, data: bytes, error: json.JSONDecodeError) -> object:
    """Return a JSON file that failed, if only lone surrogates did it: the rest may be usable."""
    try:
        text = decode(data, path=path)
        if "surrogate" in error.msg:
            return json.loads(text, object_pairs_hook=_object_of)
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
