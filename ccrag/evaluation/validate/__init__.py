"""
Shared-task submissions, checked more strictly than the organisers' own tools do.

Nothing here writes: a validator that repairs hides what the writer did wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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
from ccrag.formats.run_folder import IR_METADATA, TREC_RUN
from ccrag.types import Candidates, Query, QueryId

__all__ = ["Format", "Problem", "validate"]

TREC_DEPTH = 100
"""Lines per topic of a TREC RAG retrieval run."""
RUN_DEPTH = 1000
"""Lines per query elsewhere, the custom of TREC."""

AskedQueries = Path | Sequence[Query] | None
"""The queries that were asked: as values, as the task's own file, or not known."""


class FormatCheck(NamedTuple):
    """The checks of one shared task."""

    rules: Callable[[AskedQueries], Rules]
    depth: int = RUN_DEPTH
    has_metadata: bool = False
    """A run's folder must hold a valid `ir-metadata.yml`."""


def _queries(asked: AskedQueries) -> Sequence[Query] | None:
    if isinstance(asked, Path):
        raise InputError("longeval needs queries with their candidates", path=asked)
    return asked


def _topics(asked: AskedQueries) -> Sequence[Query] | None:
    return read_topics(asked) if isinstance(asked, Path) else asked


def _tasks(asked: AskedQueries) -> Sequence[Task] | None:
    if asked is None or isinstance(asked, Path):
        return None if asked is None else read_tasks(asked)
    raise InputError("mtrag needs the tasks' file, which names each task's collection and turns")


CHECKS: dict[Format, FormatCheck] = {
    Format.LONGEVAL: FormatCheck(lambda asked: longeval_rules(_queries(asked)), has_metadata=True),
    Format.TREC_RAG24: FormatCheck(lambda asked: trec_rag24_rules(_topics(asked)), TREC_DEPTH),
    Format.TREC_RAG25: FormatCheck(lambda asked: trec_rag25_rules(_topics(asked)), TREC_DEPTH),
    Format.MTRAG_A: FormatCheck(lambda asked: mtrag_rules("a", _tasks(asked))),
    Format.MTRAG_B: FormatCheck(lambda asked: mtrag_rules("b", _tasks(asked))),
    Format.MTRAG_C: FormatCheck(lambda asked: mtrag_rules("c", _tasks(asked))),
}
"""The checks of every format; a new one is a module of rules and a line here."""


def validate(
    path: Path,
    *,
    format: Format,  # noqa: A002  # the word of the command line
    queries: AskedQueries,
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
    check = CHECKS[format]
    rules = check.rules(queries)
    if not path.is_dir():
        return file_problems(path, rules)
    problems = _answer_problems(path, rules)
    if check.has_metadata:
        problems += ir_metadata_problems(path / IR_METADATA)
    if (path / TREC_RUN).is_file():
        problems += run_problems(
            path / TREC_RUN,
            depth=depth or check.depth,
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


def _candidates(asked: AskedQueries) -> Mapping[QueryId, Candidates] | None:
    if asked is None or isinstance(asked, Path):
        return None
    return {query.query_id: query.candidates for query in asked}
