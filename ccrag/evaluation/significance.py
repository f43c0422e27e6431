"""
Test whether differences are real: randomisation tests, intervals, corrections, effects. Pure.

The test flips the signs of the per-query differences (Fisher's randomisation test, two-sided, on
the mean): all 2^n ways when there are no more than `draws` of them, else `draws` random ones, and
then p = (1 + as extreme) / (1 + draws), which is never zero. A query without difference changes
nothing either way, so identical runs have p = 1. Intervals are percentile bootstraps over queries.
The same seed gives the same figures, whatever else is compared in the same call.

scipy has both, with new draws for each comparison. Here all pairs of a measure share their draws;
tests hold the figures to scipy's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict

import numpy as np

from ccrag.errors import InputError
from ccrag.evaluation.bootstrap import ROUNDING, FloatArray, bootstrap_intervals, sign_flips
from ccrag.types import QueryId

DRAWS = 10_000
SEED = 20_260_501
LEVEL = 0.95
ALPHA = 0.05

FiguresPerQuery = Mapping[QueryId, float | None]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `n` queries and its bootstrap confidence interval."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on one measure, over the `n` queries for which both have a figure."""

    baseline: str
    other: str
    n: int
    difference: float
    """Mean of other − baseline."""
    low: float
    high: float
    """Bootstrap confidence interval of `difference`."""
    effect: float | None
    """Cohen's d_z: mean difference / its standard deviation; None when that is not defined."""
    p: float
    p_holm: float
    """Corrected over the `family` comparisons made together."""
    family: int
    higher: int
    """Queries where other has the higher figure; `lower` and `equal` likewise."""
    lower: int
    equal: int
    draws: int
    """Ways of flipping looked at."""
    exact: bool
    """True where those were all there are."""

    def significant(self, alpha: float = ALPHA) -> bool:
        """Tell whether the corrected p is below `alpha`."""
        return self.p_holm < alpha


def interval(
    values: Sequence[float], *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL
) -> Interval:
    """
    Return the mean of `values` and its bootstrap confidence interval; one value is its own
    interval.

    Raises:
        InputError: there are no values.
    """
    if not values:
        raise InputError("no values, so no mean; leave the measure out")
    figures = {str(at): value for at, value in enumerate(values)}
    return intervals({"": figures}, draws=draws, seed=seed, level=level)[""]


def intervals(
    columns: Mapping[str, FiguresPerQuery],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """
    Return the interval of each column, over its queries with a figure; columns without any have
    none.

    Raises:
        InputError: the columns hold other queries.
    """
    arrays = {name: array for name, array in _columns(columns).items() if not np.isnan(array).all()}
    if not arrays:
        return {}
    table = np.stack(list(arrays.values()), axis=1)
    bounds = bootstrap_intervals(table, draws=draws, seed=seed, level=level)
    return {
        name: Interval(
            float(np.nanmean(array)), float(low), float(high), int((~np.isnan(array)).sum())
        )
        for (name, array), low, high in zip(arrays.items(), *bounds, strict=True)
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Holm's step-down correction, in the order given (Holm, Scand. J. Statist. 1979).

    The i-th smallest of m is multiplied by m - i + 1, never below the one before, never above 1.
    """
    corrected = [1.0] * len(p_values)
    reached = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, p_values[at] * (len(p_values) - done)))
        corrected[at] = reached
    return corrected


def compare(
    baseline: FiguresPerQuery, other: FiguresPerQuery, *, draws: int = DRAWS, seed: int = SEED
) -> Comparison | None:
    """
    Return one pair, uncorrected (`p_holm` = `p`); None when no query has a figure in both.

    Raises:
        InputError: they hold other queries.
    """
    runs = {"baseline": baseline, "other": other}
    return next(iter(matrix(runs, baseline="baseline", draws=draws, seed=seed)), None)


def matrix(
    runs: Mapping[str, FiguresPerQuery],
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """
    Return all pairs of `runs` in order, or each run against `baseline`, corrected together.

    A pair that shares no query with a figure has no comparison.

    Raises:
        InputError: `baseline` is not a run, or the runs hold other queries.
    """
    columns = _columns(runs)
    pairs = [
        (first, second)
        for first, second in _pairs(list(runs), baseline)
        if not np.isnan(columns[second] - columns[first]).all()
    ]
    if not pairs:
        return ()
    differences = np.stack([columns[second] - columns[first] for first, second in pairs], axis=1)
    tests = sign_flips(np.nan_to_num(differences), draws=draws, seed=seed)
    lows, highs = bootstrap_intervals(differences, draws=draws, seed=seed, level=LEVEL)
    corrected = holm([test.p for test in tests])
    return tuple(
        Comparison(
            baseline=first,
            other=second,
            low=float(lows[at]),
            high=float(highs[at]),
            p=tests[at].p,
            p_holm=corrected[at],
            family=len(pairs),
            draws=tests[at].draws,
            exact=tests[at].exact,
            **_described(differences[:, at]),
        )
        for at, (first, second) in enumerate(pairs)
    )


def _columns(runs: Mapping[str, FiguresPerQuery]) -> dict[str, FloatArray]:
    """Return figures of each run in one order of queries, NaN for none."""
    query_ids = list(next(iter(runs.values()), {}))
    for name, per_query in runs.items():
        if per_query.keys() != set(query_ids):
            raise InputError(f"{name!r} was scored over other queries than {next(iter(runs))!r}")
    return {
        name: np.array([_or_nan(per_query[query_id]) for query_id in query_ids], dtype=np.float64)
        for name, per_query in runs.items()
    }


def _or_nan(figure: float | None) -> float:
    return float("nan") if figure is None else figure


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(names, 2))
    if baseline not in names:
        raise InputError(f"no run is called {baseline!r}; there are {', '.join(names)}")
    return [(baseline, name) for name in names if name != baseline]


class _Described(TypedDict):
    n: int
    difference: float
    effect: float | None
    higher: int
    lower: int
    equal: int


def _described(differences: FloatArray) -> _Described:
    known = differences[~np.isnan(differences)]
    return {
        "n": known.size,
        "difference": float(known.mean()),
        "effect": _effect(known),
        "higher": int((known > 0).sum()),
        "lower": int((known < 0).sum()),
        "equal": int((known == 0).sum()),
    }


def _effect(differences: FloatArray) -> float | None:
    """
    Return Cohen's d_z; 0 for no difference anywhere, None where all differ by the same amount.
    """
    if not differences.any():
        return 0.0
    spread = float(np.ptp(differences))
    if spread <= ROUNDING * float(np.abs(differences).max()):
        return None
    return float(differences.mean() / differences.std(ddof=1))
