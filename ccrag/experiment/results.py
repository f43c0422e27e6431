"""An experiment as JSON: every figure, comparison, setting, failure and way. Pure."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ccrag.evaluation.tables import outcome_json
from ccrag.experiment.outcome import Experiment, QueryResult
from ccrag.experiment.runner import FinishedRun
from ccrag.runs.files import pipeline_json
from ccrag.types import JSON, QueryId
from ccrag.version import __version__


def results_json(experiment: Experiment) -> JSON:
    """
    Return what `results.json` holds: all that `ccrag eval --json` says, and how the runs were made.
    """
    return {
        "ccrag": __version__,
        "index": experiment.index,
        "queries": [query.query_id for query in experiment.queries],
        "made": [_run_json(run, experiment) for run in experiment.runs],
        **outcome_json(experiment.outcome),
    }


def _run_json(run: FinishedRun, experiment: Experiment) -> JSON:
    return {
        "run": run.name,
        "folder": f"runs/{run.opened.planned.folder}",
        "settings": pipeline_json(run.settings),
        "index": asdict(run.opened.index.info),
        "failures": [{"query_id": f.query_id, "error": str(f.error)} for f in run.failures],
        "seconds": experiment.seconds(run.name),
        "relevant": {
            "ended": {end.value: n for end, n in experiment.losses(run.name).items()},
            "ways": _results_json(experiment.results[run.name]),
        },
    }


def _results_json(results: Mapping[QueryId, QueryResult]) -> JSON:
    return {
        query_id: {
            result.relevant_id: {"ended": result.end.value, "ranks": dict(result.ranks)}
            for result in query.relevant
        }
        for query_id, query in results.items()
        if query.relevant
    }


def differing_settings(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Return setting → run → value, for the settings in which some runs differ; names aside."""
    flat = {run.name: _flat(pipeline_json(run.settings)) for run in experiment.runs}
    first = next(iter(flat.values()))
    return {
        key: {run: values[key] for run, values in flat.items()}
        for key in first
        if key not in ("name", "summary")
        and any(values[key] != first[key] for values in flat.values())
    }


def _flat(settings: JSON) -> dict[str, Any]:
    """Return `section.key` → value."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            flat[name] = value
    return flat
