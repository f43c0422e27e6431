"""One pipeline over one query file: answered, journalled, written as a submission folder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ccrag.config import Settings
from ccrag.engine.index import IndexInfo
from ccrag.errors import InputError
from ccrag.formats.run_folder import PREDICTIONS, PROVENANCE, RESPONSES
from ccrag.pipeline.state import Failure
from ccrag.runs.calls import CallTotals
from ccrag.runs.files import entry_of, prompt_of, write_files
from ccrag.runs.identity import RunIdentity, run_identity
from ccrag.runs.journal import FILE_NAME, Journal, JournalEntry
from ccrag.runs.output_formats import OutputFormat, longeval_format
from ccrag.runs.status import RunState, kept_entries, other_run, run_status
from ccrag.types import Query, Result


@dataclass(frozen=True, slots=True)
class RunReport:
    """Counts of what a run did."""

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
    finished_earlier: bool = False
    """The same run lay there already: nothing was asked, nothing written."""
    rerank_failed: int = 0
    """Queries that keep the order they had, since a listwise rerank gave them none."""


class Answers(Protocol):
    """Whatever answers the queries of a run: a `Pipeline`, or `GivenContexts`."""

    @property
    def index(self) -> "HasIndexInfo": ...

    def run(self, queries: Sequence[Query]) -> Iterator[Result | Failure]: ...


class HasIndexInfo(Protocol):
    """An index, or what stands in its place."""

    @property
    def info(self) -> IndexInfo: ...


def run_queries(
    pipeline: Answers,
    queries: Sequence[Query],
    out: Path,
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    output_format: OutputFormat | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RunReport:
    """
    Answer `queries` and write responses, TREC run, metadata and provenance into `out`.

    A query that fails is reported and left out of the files; the journal stays, so that `resume`
    tries it again. When all succeeded the journal is removed. A run that lies finished in `out` is
    left as it is, and nothing is asked.

    Args:
        resume: go on with an unfinished run of the same settings, queries and index; failed queries
            are asked again, and no others.
        overwrite: begin anew where a run lies, finished or not.
        shape: of the file of answers; None: LongEval's.

    Raises:
        InputError: an unfinished or another run lies in `out`, or a candidate id cannot stand in a
            TREC run.
        EngineError: the engine failed; what was answered is in the journal.
    """
    check_ids(queries)
    output_format = output_format or longeval_format(settings)
    identity = run_identity(
        settings, pipeline.index.info, queries, file_format=output_format.format
    )
    if _is_finished(out, identity, output_format, resume=resume, overwrite=overwrite):
        return finished_earlier(out, len(queries))
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    journal_path = out / FILE_NAME
    # A run that was written without a journal, by a batch, is gone on with by what its files hold.
    goes_on = resume and not overwrite and not journal_path.exists()
    earlier = (
        kept_entries(out, output_format.name) if goes_on and (out / PROVENANCE).exists() else ()
    )
    with Journal(journal_path, run_digest=identity.digest, head=identity.head) as journal:
        for kept in earlier:
            journal.append(kept)
        resumed = len(journal)
        failures = answer_into(
            journal,
            pipeline,
            queries,
            lambda result: entry_of(result, settings, output_format),
            on_progress=on_progress,
        )
        written = write_files(
            out,
            journal.entries(query.query_id for query in queries),
            settings,
            identity=identity.head,
            info=pipeline.index.info,
            prompt=prompt_of(settings),
            failures=failures,
            responses_name=output_format.name,
        )
    for name in {RESPONSES, PREDICTIONS} - {output_format.name}:
        # A folder holds one file of answers: that of the run that was overwritten goes.
        (out / name).unlink(missing_ok=True)
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


def finished_earlier(out: Path, queries: int) -> RunReport:
    """Return the report of a run that lies finished in `out`."""
    return RunReport(
        out=out,
        queries=queries,
        answered=queries,
        resumed=queries,
        abstained=0,
        failures=(),
        seconds_per_query=0.0,
        calls=CallTotals(),
        finished_earlier=True,
    )


def _is_finished(
    out: Path, identity: RunIdentity, output_format: OutputFormat, *, resume: bool, overwrite: bool
) -> bool:
    """
    Return whether the run lies finished in `out`; make room for it where that is wanted.

    Raises:
        InputError: something lies there that neither `resume` nor `overwrite` allows to touch.
    """
    journal = out / FILE_NAME
    if overwrite:
        journal.unlink(missing_ok=True)
        return False
    status = run_status(
        out, identity.digest, parts=identity.parts, responses_name=output_format.name
    )
    if status.blocks:
        raise other_run(out, status)
    if status.state is RunState.UNFINISHED and not resume:
        raise InputError(
            "an unfinished run; add --resume to go on with it, or --overwrite to begin anew",
            path=journal if journal.exists() else out,
        )
    return status.state is RunState.FINISHED


def check_ids(queries: Sequence[Query]) -> None:
    """Before any work: a TREC run is separated by white space, so ids must not hold any."""
    for query in queries:
        for written in (query.query_id, *(query.candidates.doc_ids or ())):
            if len(written.split()) != 1:
                raise InputError(
                    f"query {query.query_id!r}: id {written!r} holds white space, which TREC runs "
                    "cannot express; rename it"
                )


def answer_into(
    journal: Journal,
    pipeline: Answers,
    queries: Sequence[Query],
    entry: Callable[[Result], JournalEntry],
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
