"""
Shared-task submissions, checked more strictly than the organisers' own tools do.

Nothing here writes: a validator that repairs hides what the writer did wrong.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ccrag.errors import InputError
from ccrag.evaluation.validate.ir_metadata import ir_metadata_problems
from ccrag.evaluation.validate.longeval import longeval_rules
from ccrag.evaluation.validate.mtrag import mtrag_rules
from ccrag.evaluation.validate.problems import Problem
from ccrag.evaluation.validate.submission import Rules, file_problems
from ccrag.evaluation.validate.tasks import Task, read_tasks, read_topics
from ccrag.evaluation.validate.trec_rag24 import trec_rag24_rules
from ccrag.evaluation.validate.trec_rag25 import trec_rag25_rules
from ccrag.evaluation.validate.trec_run import run_problems
from ccrag.formats import Format
from ccrag.types import Candidates, Query, QueryId

__all__ = ["Format", "Problem", "validate"]

METADATA_NAME = "ir-metadata.yml"
RUN_NAME = "run.trec"
TREC_DEPTH = 100
"""Lines per topic of a TREC RAG retrieval run."""
RUN_DEPTH = 1000
"""Lines per query elsewhere, the custom of TREC."""


def validate(
    path: Path,
    *,
    format: Format,  # noqa: A002  # the word of the command line
    queries: Path | Sequence[Query] | None,
    depth: int | None = None,
) -> list[Problem]:
    """
    Return everything that is wrong with a submission, in the file's order, then what it leaves out.

    Args:
        path: the answers' file, or the run's folder, whose other files are then checked too.
        format: the shared task.
        queries: LongEval: the queries; TREC RAG: the queries, or the topics' file; MTRAGEval: the
            tasks' file. None compares nothing with what was asked.
        depth: lines a `run.trec` may have per query; None means the format's own limit.

    Raises:
        InputError: a file cannot be read, or `queries` is of the wrong kind for the format.
    """
    rules = _rules(format, queries)
    if not path.is_dir():
        return file_problems(path, rules)
    problems = _answer_problems(path, rules)
    if format is Format.LONGEVAL:
        problems += ir_metadata_problems(path / METADATA_NAME)
    if (path / RUN_NAME).is_file():
        problems += run_problems(
            path / RUN_NAME,
            depth=depth or _depth(format),
            asked=rules.asked,
            candidates=_candidates(queries),
        )
    return problems


def _answer_problems(folder: Path, rules: Rules) -> list[Problem]:
    files = sorted(folder.rglob("*.jsonl"))
    if len(files) == 1:
        return file_problems(files[0], rules)
    found = ", ".join(str(file.relative_to(folder)) for file in files) or "none"
    return [Problem(folder, None, None, f"must hold exactly one .jsonl file, found {found}")]


def _rules(format_: Format, queries: Path | Sequence[Query] | None) -> Rules:
    match format_:
        case Format.LONGEVAL:
            if isinstance(queries, Path):
                raise InputError("longeval needs queries with their candidates", path=queries)
            return longeval_rules(queries)
        case Format.TREC_RAG24:
            return trec_rag24_rules(_topics(queries))
        case Format.TREC_RAG25:
            return trec_rag25_rules(_topics(queries))
        case Format.MTRAG_A:
            return mtrag_rules("a", _tasks(queries))
        case Format.MTRAG_B:
            return mtrag_rules("b", _tasks(queries))
        case Format.MTRAG_C:
            return mtrag_rules("c", _tasks(queries))


def _topics(queries: Path | Sequence[Query] | None) -> Sequence[Query] | None:
    return read_topics(queries) if isinstance(queries, Path) else queries


def _tasks(queries: Path | Sequence[Query] | None) -> Sequence[Task] | None:
    if queries is None or isinstance(queries, Path):
        return None if queries is None else read_tasks(queries)
    raise InputError("mtrag needs the tasks' file, which names each task's collection and turns")


def _depth(format_: Format) -> int:
    return TREC_DEPTH if format_ in (Format.TREC_RAG24, Format.TREC_RAG25) else RUN_DEPTH


def _candidates(
    queries: Path | Sequence[Query] | None,
) -> Mapping[QueryId, Candidates] | None:
    if queries is None or isinstance(queries, Path):
        return None
    return {query.query_id: query.candidates for query in queries}
