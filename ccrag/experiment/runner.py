"""Making the runs of an experiment: all indices opened first, then one run after the other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccrag.config import Settings
from ccrag.config.requirements import requirements
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.index import Index
from ccrag.evaluation.validate import Problem, validate
from ccrag.experiment.plan import PlannedRun
from ccrag.formats import Format
from ccrag.indexing.command import index_command
from ccrag.pipeline.factory import Models, find_index
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure
from ccrag.runs.identity import run_identity
from ccrag.runs.run import run_queries
from ccrag.runs.status import RunState, other_run, run_status
from ccrag.types import Query

WARM_UP_QUERIES = 32
"""Untimed queries of each pipeline before any is timed."""

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""A bar for so many queries of the run named; what it yields is called with the number done."""


@contextmanager
def no_progress(_what: str, _total: int) -> Iterator[Callable[[int], None]]:
    """Show nothing."""
    yield lambda _: None


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run whose index is there, and what earlier tries left of it."""

    planned: PlannedRun
    index: Index
    folder: Path
    state: RunState


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose files are written."""

    opened: OpenRun
    failures: tuple[Failure, ...] = ()
    problems: tuple[Problem, ...] = ()
    """The validator's problems with the files; none for a run that was reused."""

    @property
    def name(self) -> str:
        """Return the run's name in every table."""
        return self.opened.planned.name

    @property
    def settings(self) -> Settings:
        """Return what it was made with."""
        return self.opened.planned.settings


def open_runs(
    planned: Sequence[PlannedRun],
    name: str,
    queries: Sequence[Query],
    out: Path,
    *,
    overwrite: bool = False,
    notify: Notify = silent,
) -> list[OpenRun]:
    """
    Open the index of every run, before any of them begins.

    Args:
        overwrite: make runs anew where others lie under their names.

    Raises:
        EngineError: no engine, or an index is missing or does not fit; the message says which
            command builds all that the runs need.
        InputError: another run lies where one of these would.
    """
    command = index_command(name, [run.settings for run in planned])
    return [
        _opened(run, name, queries, out, command=command, overwrite=overwrite, notify=notify)
        for run in planned
    ]


def _opened(
    run: PlannedRun,
    name: str,
    queries: Sequence[Query],
    out: Path,
    *,
    command: str,
    overwrite: bool,
    notify: Notify,
) -> OpenRun:
    settings = run.settings
    client = open_client(settings, notify=notify)
    index = find_index(client, name, settings, command=command)
    folder = out / "runs" / run.folder
    identity = run_identity(settings, index.info, queries)
    status = run_status(folder, identity.digest, parts=identity.parts)
    if status.blocks and not overwrite:
        raise other_run(folder, status)
    return OpenRun(run, index, folder, status.state)


def finish_runs(
    runs: Sequence[OpenRun],
    queries: Sequence[Query],
    *,
    notify: Notify = silent,
    progress: Progress = no_progress,
) -> Iterator[FinishedRun]:
    """
    Make what is not there yet; finished runs are reused, unfinished ones gone on with.

    A query that fails is part of what is yielded and stops nothing.

    Raises:
        ModelError, IndexMismatchError: before any run, a model cannot be had or is another one.
        EngineError: the engine failed; the same call goes on where this one stopped.
    """
    models = Models()
    pipelines = {
        run.planned.name: models.pipeline(run.planned.settings, run.index)
        for run in runs
        if run.state is not RunState.FINISHED
    }
    for pipeline in pipelines.values():
        warm_up(pipeline, queries)
    for run in runs:
        if run.planned.name not in pipelines:
            notify(f"{run.planned.name}: finished earlier, reused")
            yield FinishedRun(run)
            continue
        if run.state is not RunState.NEW:
            ends = "gone on with" if run.state is RunState.UNFINISHED else "made anew"
            notify(f"{run.planned.name}: {run.state.value}, {ends}")
        with progress(run.planned.name, len(queries)) as on_progress:
            yield _finish(run, pipelines[run.planned.name], queries, on_progress)


def warm_up(pipeline: Pipeline, queries: Sequence[Query]) -> None:
    """
    Run some queries without keeping what comes of it.

    The first run would else pay alone for the engine's cold caches and for models that are loaded
    by their first text, and times would depend on the order of the runs. A language model is not
    asked, since its replies cost: a pipeline that asks one before the answer is not warmed.
    """
    if requirements(pipeline.settings).llm_before_answer:
        return
    answering = pipeline.settings.answer.generator != "llm"
    for _ in pipeline.run(queries[:WARM_UP_QUERIES], answering=answering):
        pass


def _finish(
    run: OpenRun, pipeline: Pipeline, queries: Sequence[Query], on_progress: Callable[[int], None]
) -> FinishedRun:
    report = run_queries(
        pipeline,
        queries,
        run.folder,
        run.planned.settings,
        resume=run.state is RunState.UNFINISHED,
        overwrite=run.state in (RunState.OTHER, RunState.INCOMPLETE),
        on_progress=on_progress,
    )
    failed = {failure.query_id for failure in report.failures}
    expected = [query for query in queries if query.query_id not in failed]
    problems = validate(run.folder, format=Format.LONGEVAL, queries=expected) if expected else ()
    return FinishedRun(run, report.failures, tuple(problems))
