"""
TREC runs and relevance judgements: `qid Q0 docid rank score tag` and `qid 0 docid relevance`.

Readers stop at the first fault; `evaluation.validate` is what reports all of them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ccrag.errors import InputError
from ccrag.formats.plain_files import plain_text
from ccrag.types import DocId, Hit, QueryId, Ranking

TrecRun = dict[QueryId, list[tuple[str, float]]]
QrelsByQuery = dict[QueryId, dict[DocId, int]]

MICRO = 1_000_000
"""Scores are printed with six decimals and handled as whole millionths."""
RUN_COLUMNS = 6
QRELS_COLUMNS = 4
QRELS_HEADER = ("query-id", "corpus-id", "score")
GRADE_NAMES = frozenset(
    {"score", "rel", "relevance", "relevancy", "grade", "label", "judgment", "judgement", "qrel"}
)
"""Names of the last column in the first line of a file that has such a line."""


def run_lines(
    ranking: Ranking, *, tag: str, level: Literal["document", "passage"]
) -> Iterator[str]:
    """
    Yield the lines of one query, best first, without line ends; an empty ranking gives none.

    At document level a document stands where its best passage stood. Printed scores strictly
    decrease: a tie is written a millionth lower, or as far as 32-bit floats need to tell the two
    apart, because trec_eval reads those and orders ties by document id.

    Raises:
        InputError: an id or the tag is empty or holds white space, or a score is not finite.
    """
    _check_word(ranking.query_id, "query id")
    _check_word(tag, "tag")
    above: int | None = None
    for rank, (name, score) in enumerate(_entries(ranking, level).items(), start=1):
        _check_word(name, f"{level} id")
        above = _below(above, score, query_id=ranking.query_id)
        yield f"{ranking.query_id} Q0 {name} {rank} {_decimal(above)} {tag}"


def read_run(path: Path) -> TrecRun:
    """
    Return ids and scores of each query, in the file's order.

    Raises:
        InputError: a line without six columns, a score that is no finite number, or a repeated id.
    """
    run: dict[QueryId, dict[str, float]] = {}
    for line, text in _lines(path):
        columns = text.split()
        if len(columns) != RUN_COLUMNS:
            raise InputError(f"expected 6 columns, got {len(columns)}", path=path, line=line)
        query_id, _, name, _, score, _ = columns
        scores = run.setdefault(query_id, {})
        if name in scores:
            raise InputError(f"{name!r} twice for query {query_id!r}", path=path, line=line)
        scores[name] = _score(score, path=path, line=line)
    return {query_id: list(scores.items()) for query_id, scores in run.items()}


def read_qrels(path: Path) -> QrelsByQuery:
    """
    Return judgements of each query: TREC's four columns, or TSV headed `query-id corpus-id score`.

    A byte order mark, gzip, blank lines and a line of column names are read over; a judgement that
    stands twice counts once. A relevance below zero counts as not relevant, as in trec_eval.

    Raises:
        InputError: no judgement, another number of columns, a relevance that is no whole number, or
            two different judgements of one document for one query.
    """
    return merge_qrels([path])


def merge_qrels(paths: Sequence[Path]) -> QrelsByQuery:
    """
    Return the judgements of several files together; a query may stand in more than one.

    Raises:
        InputError: as `read_qrels`; of two judgements that differ, both files are named.
    """
    qrels: QrelsByQuery = {}
    first: dict[tuple[QueryId, DocId], str] = {}
    for path in paths:
        empty = True
        for line, query_id, doc_id, relevance in _judgements(path):
            empty = False
            before = qrels.setdefault(query_id, {}).setdefault(doc_id, relevance)
            place = first.setdefault((query_id, doc_id), f"{path}:{line}")
            if before != relevance:
                raise InputError(
                    f"query {query_id!r}: {doc_id!r} is judged {relevance} here and {before} in "
                    f"{place}; keep one of them",
                    path=path,
                    line=line,
                )
        if empty:
            raise InputError("holds no judgement", path=path)
    return qrels


def _judgements(path: Path) -> Iterator[tuple[int, QueryId, DocId, int]]:
    """Yield line, query, document and relevance of each judgement."""
    tsv = False
    for at, (line, text) in enumerate(_lines(path)):
        columns = [column.strip() for column in text.split("\t")] if tsv else text.split()
        if at == 0 and columns[-1].lower() in GRADE_NAMES:
            tsv = len(columns) == len(QRELS_HEADER)
            continue
        yield line, *_judgement(columns, tsv=tsv, path=path, line=line)


def _entries(ranking: Ranking, level: Literal["document", "passage"]) -> Mapping[str, float]:
    entries: dict[str, float] = {}
    for hit in ranking:
        entries.setdefault(_name(hit, level), hit.score)
    return entries


def _name(hit: Hit, level: Literal["document", "passage"]) -> str:
    return hit.doc_id if level == "document" else hit.passage_id


def _check_word(word: str, what: str) -> None:
    if word.split() != [word]:
        raise InputError(f"{what} {word!r} cannot stand in a TREC run: it must be one word")


def _below(above: int | None, score: float, *, query_id: QueryId) -> int:
    """Return `score` in millionths, lowered below `above` where it would tie with it."""
    if not math.isfinite(score):
        raise InputError(f"query {query_id!r}: score {score} cannot stand in a TREC run")
    micros = round(score * MICRO)
    return micros if above is None else min(micros, above - _step(above))


def _step(micros: int) -> int:
    """
    Return more than the gap between 32-bit floats at `micros`: two numbers this far apart differ.
    """
    magnitude = math.frexp(abs(micros) / MICRO + 1)[1]  # + 1: the step may cross a power of two
    return math.floor(math.ldexp(MICRO, magnitude - 24)) + 1


def _decimal(micros: int) -> str:
    sign = "-" if micros < 0 else ""
    whole, rest = divmod(abs(micros), MICRO)
    return f"{sign}{whole}.{rest:06d}"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield lines that are not blank, counted from 1."""
    for line, content in enumerate(plain_text(path).split("\n"), start=1):
        if content.strip():
            yield line, content


def _score(text: str, *, path: Path, line: int) -> float:
    try:
        score = float(text)
    except ValueError as error:
        raise InputError(f"score {text!r} is not a number", path=path, line=line) from error
    if not math.isfinite(score):
        raise InputError(f"score {text!r} is not finite", path=path, line=line)
    return score


def _judgement(
    columns: list[str], *, tsv: bool, path: Path, line: int
) -> tuple[QueryId, DocId, int]:
    expected = len(QRELS_HEADER) if tsv else QRELS_COLUMNS
    if len(columns) != expected:
        raise InputError(f"expected {expected} columns, got {len(columns)}", path=path, line=line)
    return columns[0], columns[-2], _relevance(columns[-1], path=path, line=line)


def _relevance(text: str, *, path: Path, line: int) -> int:
    """Return a whole number, which some tools write as `1.0`."""
    try:
        relevance = float(text)
    except ValueError as error:
        problem = f"relevance {text!r} is not a whole number"
        raise InputError(problem, path=path, line=line) from error
    if not relevance.is_integer():
        raise InputError(f"relevance {text!r} is not a whole number", path=path, line=line)
    return int(relevance)
