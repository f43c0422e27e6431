"""TREC runs: six columns, ranks from 1, strictly decreasing scores, one tag, known ids."""

import math
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ccrag.evaluation.validate.problems import Problem
from ccrag.formats.plain_files import file_bytes
from ccrag.types import Candidates, QueryId, doc_id_of

COLUMNS = 6
LARGEST_FLOAT32 = 3.4e38


@dataclass(slots=True)
class _SeenLines:
    """The lines of one query that were seen so far."""

    lines: int = 0
    score: float = math.inf
    names: set[str] = field(default_factory=set)


def run_problems(
    path: Path,
    *,
    depth: int,
    asked: Collection[QueryId] | None = None,
    candidates: Mapping[QueryId, Candidates] | None = None,
) -> list[Problem]:
    """
    Return everything that is wrong with a run, in the file's order; an unranked query is no
    problem.

    Args:
        depth: lines allowed per query.
        asked: the queries' ids; None compares none.
        candidates: what may be ranked, documents or their passages; None compares none.

    Raises:
        InputError: the file cannot be read.
    """
    problems: list[Problem] = []
    seen: dict[QueryId, _SeenLines] = {}
    tag: str | None = None
    content = file_bytes(path)
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    for line, raw in enumerate(lines, start=1):
        columns = raw.decode("utf-8", "replace").split()
        if len(columns) != COLUMNS:
            message = f"expected {COLUMNS} columns, got {len(columns)}"
            problems.append(Problem(path, line, None, message))
            continue
        query_id, tag = columns[0], tag or columns[-1]
        messages = [
            *_query_problems(query_id, asked),
            *_line_problems(columns, seen.setdefault(query_id, _SeenLines()), depth=depth, tag=tag),
            *_closure_problems(columns[2], query_id, candidates),
        ]
        problems += [Problem(path, line, query_id, message) for message in messages]
    return problems


def _query_problems(query_id: QueryId, asked: Collection[QueryId] | None) -> Iterator[str]:
    if asked is not None and query_id not in asked:
        yield "is not among the queries asked"


def _line_problems(columns: list[str], seen: _SeenLines, *, depth: int, tag: str) -> Iterator[str]:
    _, q0, name, rank, score, own_tag = columns
    if q0 != "Q0":
        yield f"the second column must be Q0, got {q0!r}"
    if name in seen.names:
        yield f"{name!r} is ranked twice"
    seen.names.add(name)
    seen.lines += 1
    if rank != str(seen.lines):
        yield f"rank must be {seen.lines}, got {rank!r}"
    if seen.lines == depth + 1:
        yield f"more than {depth} lines for this query"
    yield from _score_problems(score, seen)
    if own_tag != tag:
        yield f"tag is {own_tag!r}, but {tag!r} above"


def _score_problems(text: str, seen: _SeenLines) -> Iterator[str]:
    """Scores are compared as trec_eval holds them, in 32 bits; it reorders those that tie there."""
    score = _float32(text)
    if score is None:
        yield f"score must be a finite number, got {text!r}"
        return
    if score >= seen.score:
        yield f"score {text} is not below the score above it, as 32-bit numbers"
    seen.score = score


def _float32(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    if not abs(score) < LARGEST_FLOAT32:
        return None
    (rounded,) = struct.unpack("f", struct.pack("f", score))
    return float(rounded)


def _closure_problems(
    name: str, query_id: QueryId, candidates: Mapping[QueryId, Candidates] | None
) -> Iterator[str]:
    allowed = None if candidates is None else candidates.get(query_id)
    if allowed is None or allowed.doc_ids is None:
        return
    if name not in allowed and doc_id_of(name) not in allowed:
        yield f"{name!r} is not a candidate of the query, nor a passage of one"
