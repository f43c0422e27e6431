"""One pipeline over one query file: answered, journalled, written as a submission folder."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from ccrag import __version__
from ccrag.config import Settings
from ccrag.engine.index import IndexFacts
from ccrag.errors import InputError
from ccrag.formats import Format
from ccrag.runs.calls import CallTotals
from ccrag.runs.files import (
    entry_of,
    pipeline_json,
    prompt_of,
    stage_prompts_of,
    write_files,
)
from ccrag.runs.journal import FILE_NAME, Entry, Journal
from ccrag.runs.shapes import Shape, longeval_shape
from ccrag.stages.calibrations import NONE, calibration_label
from ccrag.stages.way import Failure
from ccrag.types import Query, Result


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did."""

    out: Path
    queries: int
    answered: int
    resumed: int
    """Of these, from the journal of an earlier try."""
    abstained: int
    failures: tuple[Failure, ...]
    seconds_per_query: float
    calls: CallTotals
    """To language models, those of earlier tries included."""
    rerank_failed: int = 0
    """Queries that keep the order they had, since a listwise rerank gave them none."""


class Answers(Protocol):
    """Whatever answers the queries of a run: a `Pipeline`, or `GivenContexts`."""

    @property
    def index(self) -> "HasFacts": ...

    def run(self, queries: Sequence[Query]) -> Iterator[Result | Failure]: ...


class HasFacts(Protocol):
    """An index, or what stands in its place."""

    @property
    def facts(self) -> IndexFacts: ...


def run_queries(
    pipeline: Answers,
    queries: Sequence[Query],
    out: Path,
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    shape: Shape | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RunReport:
    """
    Answer `queries` and write responses, TREC run, metadata and provenance into `out`.

    A query that fails is reported and left out of the files; the journal stays, so that `resume`
    tries it again. When all succeeded the journal is removed.

    Args:
        resume: go on with an unfinished run of the same settings, queries and index.
        overwrite: begin anew where an unfinished run lies.
        shape: of the file of answers; None: LongEval's.

    Raises:
        InputError: an unfinished run lies in `out`, or a candidate id cannot stand in a TREC run.
        EngineError: the engine failed; what was answered is in the journal.
    """
    check_ids(queries)
    out.mkdir(parents=True, exist_ok=True)
    journal_path = out / FILE_NAME
    _prepare(journal_path, resume=resume, overwrite=overwrite)
    shape = shape or longeval_shape(settings)
    digest = run_digest(settings, pipeline.index.facts, queries, file_format=shape.format)
    with Journal(journal_path, run_digest=digest) as journal:
        resumed = len(journal)
        failures = answer_into(
            journal,
            pipeline,
            queries,
            lambda result: entry_of(result, settings, shape),
            on_progress=on_progress,
        )
        written = write_files(
            out,
            journal.entries(query.query_id for query in queries),
            settings,
            run=digest,
            facts=pipeline.index.facts,
            prompt=prompt_of(settings),
            failures=failures,
            responses_name=shape.name,
        )
    if not failures:
        journal_path.unlink()
    return RunReport(
        out=out,
        queries=len(queries),
        answered=written.answered,
        resumed=resumed,
        abstained=written.abstained,
        failures=tuple(failures),
        seconds_per_query=written.seconds / written.answered if written.answered else 0.0,
        calls=written.calls,
        rerank_failed=written.not_reranked if settings.rerank.method == "listwise" else 0,
    )


def check_ids(queries: Sequence[Query]) -> None:
    """Before any work: a TREC run is separated by white space, so ids must not hold any."""
    for query in queries:
        for written in (query.query_id, *(query.candidates.doc_ids or ())):
            if len(written.split()) != 1:
                raise InputError(
                    f"query {query.query_id!r}: id {written!r} holds white space, which TREC runs "
                    "cannot express; rename it"
                )


def _prepare(journal_path: Path, *, resume: bool, overwrite: bool) -> None:
    if not journal_path.exists() or resume:
        return
    if not overwrite:
        raise InputError(
            "an unfinished run; add --resume to go on with it, or --overwrite to begin anew",
            path=journal_path,
        )
    journal_path.unlink()


def run_digest(
    settings: Settings,
    facts: IndexFacts,
    queries: Sequence[Query],
    *,
    file_format: Format = Format.LONGEVAL,
) -> str:
    """32 hex digits over all that decides the files: version, format, settings, index, queries."""
    decides = {
        "version": __version__,
        "format": file_format.value,
        "pipeline": pipeline_json(settings),
        "output": settings.output.model_dump(mode="json"),
        "index": [facts.passages_index, facts.documents_index],
        "queries": [_query_json(query) for query in queries],
    }
    if (prompt := prompt_of(settings)) is not None:
        decides["prompt"] = prompt.digest
    if stages := stage_prompts_of(settings):
        decides["stage_prompts"] = {stage: prompt.digest for stage, prompt in stages.items()}
    if settings.answer.answerability != NONE:
        decides["calibration"] = calibration_label(settings.answer.answerability)
    canonical = orjson.dumps(decides, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=16).hexdigest()


def _query_json(query: Query) -> list[Any]:
    """All of a query that decides its answer."""
    candidates = query.candidates
    turns = [[turn.speaker, turn.text] for turn in query.turns]
    return [query.query_id, query.text, candidates.doc_ids, candidates.collection, turns]


def answer_into(
    journal: Journal,
    pipeline: Answers,
    queries: Sequence[Query],
    entry: Callable[[Result], Entry],
    *,
    on_progress: Callable[[int], None],
) -> list[Failure]:
    """
    Answer the queries that `journal` lacks, and keep each as what `entry` makes of it.

    Returns:
        Those that got no answer.

    Raises:
        EngineError: the engine failed; what was answered is in the journal.
    """
    waiting = [query for query in queries if query.query_id not in journal]
    failures: list[Failure] = []
    on_progress(len(journal))
    for outcome in pipeline.run(waiting):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            journal.append(entry(outcome))
        on_progress(len(journal) + len(failures))
    return failures
