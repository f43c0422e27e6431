"""An experiment from plan to report: open, run, measure, write."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from ccrag.engine.client import Notify, silent
from ccrag.errors import InputError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.outcome import check_required
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.significance import DRAWS, SEED
from ccrag.evaluation.tables import per_query_csv
from ccrag.experiment.differences import primary_measure
from ccrag.experiment.outcome import Experiment, look_into
from ccrag.experiment.page import page_of
from ccrag.experiment.plan import PlannedRun
from ccrag.experiment.report import render
from ccrag.experiment.results import results_json
from ccrag.experiment.runner import (
    FinishedRun,
    Progress,
    finish_runs,
    no_progress,
    open_runs,
)
from ccrag.formats.run_folder import PER_QUERY, REPORT, RESULTS
from ccrag.runs.causes import Trouble, cause_lines
from ccrag.types import Query

CAUSES_SHOWN = 3


def run_experiment(
    planned: Sequence[PlannedRun],
    queries: Sequence[Query],
    index: str,
    out: Path,
    *,
    gold: Gold,
    measures: Sequence[Measure],
    required: Collection[str] = (),
    baseline: str | None = None,
    primary: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    sections: int = 60,
    overwrite: bool = False,
    notify: Notify = silent,
    progress: Progress = no_progress,
) -> Experiment:
    """
    Make the planned runs below `out`, compare them, and write results and report into it.

    Finished runs of the same settings, index and queries are reused.

    Args:
        gold: what is known about `queries`; the texts of quotes are read from the index.
        required: measures that a person asked for by name.
        baseline: the run the others are compared with; None: the first.
        primary: the measure that sorts queries; None: see `primary_measure`.
        sections: how many queries the report shows in full.
        overwrite: make runs anew where others lie under their names.

    Raises:
        InputError: no run is called `baseline`, no measure `primary`, or `out` cannot be written.
        EngineError, ModelError: an index or model is missing, before any run; or the engine failed.
    """
    _check_names(planned, measures, baseline, primary)
    # Its runs will have answers, rankings and provenance; the texts are read from the index.
    possible = RunData("a run", answers={}, rankings={}, provenance={})
    check_required(required, [possible], replace(gold, texts={}), measures)
    opened = open_runs(planned, index, queries, out, overwrite=overwrite, notify=notify)
    _check_folder(out)
    finished = list(finish_runs(opened, queries, notify=notify, progress=progress))
    _check_answered(finished, queries)
    experiment = look_into(
        finished, queries, gold, measures, baseline=baseline, draws=draws, seed=seed
    )
    _write(out / RESULTS, orjson.dumps(results_json(experiment)))
    _write(out / PER_QUERY, per_query_csv(experiment.outcome.scores.values()).encode())
    shown = primary_measure(experiment.outcome, primary)
    page = page_of(experiment, primary=shown, sections=sections)
    _write(out / REPORT, render(page).encode("utf-8", "replace"))
    return experiment


def _check_names(
    planned: Sequence[PlannedRun],
    measures: Sequence[Measure],
    baseline: str | None,
    primary: str | None,
) -> None:
    """Before any work: names that would only be missed at its end."""
    for option, wanted, known in (
        ("--baseline", baseline, [run.name for run in planned]),
        ("--primary", primary, [measure.name for measure in measures]),
    ):
        if wanted is not None and wanted not in known:
            raise InputError(f"{option} {wanted!r}: there are {', '.join(known)}")


def _check_answered(runs: Sequence[FinishedRun], queries: Sequence[Query]) -> None:
    """Refuse to measure runs none of which answered a query."""
    failed = [failure for run in runs for failure in run.failures]
    if not failed or len(failed) < len(runs) * len(queries):
        return
    troubles = [Trouble(f.query_id, str(f.error), type(f.error).__name__) for f in failed]
    causes = "; ".join(cause_lines(troubles, noun="queries")[:CAUSES_SHOWN])
    raise InputError(
        f"every query of every run failed, so nothing can be measured: {causes}; mend the cause "
        "and give the same command, which tries them again"
    )


def _check_folder(out: Path) -> None:
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"no folder can be made here: {error.strerror}", path=out) from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from error
