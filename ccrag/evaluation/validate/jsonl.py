"""JSON Lines, read more strictly than `json` does: no BOM, NaN, repeated keys, lone surrogates."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ccrag.evaluation.validate.problems import Problem
from ccrag.formats.plain_files import BOM, file_bytes, plain_bytes


@dataclass(frozen=True, slots=True)
class JsonlRecord:
    """One line's object, and what its writer should not have written."""

    line: int
    value: Mapping[str, object]
    faults: tuple[str, ...]


def read_records(path: Path) -> tuple[list[JsonlRecord], list[Problem]]:
    """
    Return the objects of a file, and a problem for every line that holds none.

    Raises:
        InputError: the file cannot be read.
    """
    content = file_bytes(path)
    records, problems = _objects(path, content.removeprefix(BOM))
    if not content:
        problems.append(Problem(path, None, None, "is empty; expected a JSON object a line"))
    if content.startswith(BOM):
        mark = Problem(path, 1, None, "starts with a byte order mark; write plain UTF-8")
        problems.insert(0, mark)
    return records, problems


def read_lenient(path: Path) -> tuple[list[JsonlRecord], list[Problem]]:
    """
    As `read_records`, of what is known about queries: a mark, gzip and blank lines are no faults.

    Raises:
        InputError: the file cannot be read.
    """
    return _objects(path, plain_bytes(path), blank_lines=True)


def _objects(
    path: Path, content: bytes, *, blank_lines: bool = False
) -> tuple[list[JsonlRecord], list[Problem]]:
    records: list[JsonlRecord] = []
    problems: list[Problem] = []
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    for line, raw in enumerate(lines, start=1):
        if blank_lines and not raw.strip():
            continue
        try:
            records.append(_record(line, raw))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(path, line, None, f"is not a JSON object: {error}"))
    return records, problems


def _record(line: int, raw: bytes) -> JsonlRecord:
    faults: list[str] = []

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts = Counter(key for key, _ in pairs)
        faults.extend(f"key {key!r} stands twice" for key in counts if counts[key] > 1)
        return dict(pairs)

    def finite(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            faults.append(f"{text} is not a JSON number")
        return number

    value = json.loads(
        raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=finite, parse_float=finite
    )
    if not isinstance(value, dict):
        raise ValueError(f"expected {{...}}, got {type(value).__name__}")
    if _has_lone_surrogate(value):
        faults.append("holds half of a surrogate pair, which is no character")
    return JsonlRecord(line, value, tuple(faults))


def _has_lone_surrogate(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
