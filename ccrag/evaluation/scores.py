"""
Measures applied to a run.

Missing queries, for every measure alike: the queries that count are those of the query file; one
that the run does not hold counts as an empty ranking and an empty answer. So it gets what nothing
gets: 0 where nothing can be measured (nDCG, recall, ROUGE), and no figure where nothing is not
defined (the precision of no citations). Queries of the run that are not in the query file are left
aside and counted in a note.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from ccrag.errors import InputError, InvariantError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import FiguresByQuery, LeftOut, Measure
from ccrag.evaluation.retrieval import ranking_notes
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.significance import (
    DRAWS,
    SEED,
    Comparison,
    FiguresPerQuery,
    Interval,
    intervals,
    matrix,
)
from ccrag.types import QueryId


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over a run's queries."""

    measure: Measure
    interval: Interval | None
    """Mean, n and confidence interval; None when no query has a figure."""
    skipped: Mapping[str, int]
    """Reason → queries without a figure."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """Figures of one run."""

    run: str
    query_ids: tuple[QueryId, ...]
    """The queries that count, in order."""
    measures: Mapping[str, Measure]
    """Those that were computed, in the order asked for."""
    per_query: Mapping[str, FiguresPerQuery]
    """Measure → query → figure; None where the measure is not defined, see `skipped`."""
    skipped: Mapping[str, Mapping[QueryId, str]]
    """Measure → query → why there is no figure."""
    left_out: Mapping[str, str]
    """Measure → why it could not be computed."""
    notes: tuple[str, ...] = ()

    def summary(self, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Summary]:
        """
        Return mean, bootstrap confidence interval and n of each measure, in the order asked for.
        """
        found = intervals(self.per_query, draws=draws, seed=seed)
        return {
            name: Summary(measure, found.get(name), Counter(self.skipped[name].values()))
            for name, measure in self.measures.items()
        }


def evaluate(run: RunData, gold: Gold, measures: Sequence[Measure]) -> RunScores:
    """
    Return every measure over every query of `gold`; what cannot be measured is left out by name.
    """
    obstacles = {measure.name: measure.obstacle(run, gold) for measure in measures}
    able = {measure.name: measure for measure in measures if obstacles[measure.name] is None}
    figures = {name: measure.figures(run, gold) for name, measure in able.items()}
    return RunScores(
        run=run.name,
        query_ids=tuple(gold.queries),
        measures=able,
        per_query={name: _values(found, gold) for name, found in figures.items()},
        skipped={name: _reasons(found) for name, found in figures.items()},
        left_out={name: reason for name, reason in obstacles.items() if reason is not None},
        notes=(*_coverage_notes(run, gold), *ranking_notes(run, gold)),
    )


def compare_runs(
    runs: Mapping[str, RunScores],
    measure: str,
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """
    Compare the runs that have `measure`: all pairs, or each run with `baseline` if given.

    Holm's correction is over the comparisons returned. Fewer than two runs give none, and so does
    a baseline that lacks the measure.

    Raises:
        InputError: no run is called `baseline`, or the runs were scored over other queries.
    """
    if baseline is not None and baseline not in runs:
        raise InputError(f"no run is called {baseline!r}; there are {', '.join(runs)}")
    having = {
        name: scores.per_query[measure]
        for name, scores in runs.items()
        if measure in scores.per_query
    }
    if len(having) < 2 or (baseline is not None and baseline not in having):
        return ()
    return matrix(having, baseline=baseline, draws=draws, seed=seed)


def _values(figures: FiguresByQuery, gold: Gold) -> FiguresPerQuery:
    """
    Return figures by query, in the order of the queries.

    Raises:
        InvariantError: a figure is NaN or infinite, which no measure may say in silence.
    """
    values: dict[QueryId, float | None] = {}
    for query_id in gold.queries:
        figure = figures[query_id]
        values[query_id] = None if isinstance(figure, LeftOut) else figure
        if not isinstance(figure, LeftOut) and not isfinite(figure):
            raise InvariantError(f"query {query_id!r}: a measure gave {figure}")
    return values


def _reasons(figures: FiguresByQuery) -> dict[QueryId, str]:
    return {q: figure.reason for q, figure in figures.items() if isinstance(figure, LeftOut)}


def _coverage_notes(run: RunData, gold: Gold) -> list[str]:
    """Return queries that count as empty, and those that count for nothing."""
    notes = []
    for what, held in (("answer", run.answers), ("ranking", run.rankings)):
        missing = 0 if held is None else sum(query_id not in held for query_id in gold.queries)
        if missing:
            notes.append(
                f"{missing} of {len(gold.queries)} queries have no {what} and count as empty"
            )
    held_ids = {*(run.answers or ()), *(run.rankings or ())}
    beyond = len(held_ids - gold.queries.keys())
    if beyond:
        notes.append(f"{beyond} queries of the run are not in the query file and were left aside")
    return notes
