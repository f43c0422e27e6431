"""
Measures applied to a run.

Missing queries, for every measure alike: the queries that count are those of the query file; one
that the run does not hold counts as an empty ranking and an empty answer. So it gets what nothing
gets: 0 where nothing can be measured (nDCG, recall, ROUGE), and no figure where nothing is not
defined (the precision of no citations). Queries of the run that are not in the query file are left
aside and counted in a note.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.significance import DRAWS, SEED, Comparison, Interval
from ccrag.types import QueryId

PerQuery = Mapping[QueryId, float | None]


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over a run's queries."""

    measure: Measure
    interval: Interval | None
    """Mean, n and confidence interval; None when no query has a figure."""
    skipped: Mapping[str, int]
    """Reason → queries without a figure."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of one run."""

    run: str
    measures: Mapping[str, Measure]
    """Those that were computed, in the order asked for."""
    per_query: Mapping[str, PerQuery]
    """Measure → query → figure; None where the measure is not defined, see `skipped`."""
    skipped: Mapping[str, Mapping[QueryId, str]]
    """Measure → query → why there is no figure."""
    left_out: Mapping[str, str]
    """Measure → why it could not be computed."""
    notes: tuple[str, ...] = ()

    def summary(self, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Summary]:
        """Mean, bootstrap confidence interval and n of each measure, in the order asked for."""
        raise NotImplementedError


def evaluate(run: RunData, gold: Gold, measures: Sequence[Measure]) -> Scores:
    """Every measure over every query of `gold`; what cannot be measured is left out by name."""
    raise NotImplementedError


def compare_runs(
    runs: Mapping[str, Scores],
    measure: str,
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """
    Compare the runs that have `measure`: all pairs, or each run with `baseline` if given.

    Holm's correction is over the comparisons returned. Fewer than two runs give none.

    Raises:
        InputError: no run is called `baseline`, or the runs were scored over other queries.
    """
    raise NotImplementedError
