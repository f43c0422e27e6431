"""
Whether a difference is real: paired randomisation tests, intervals, corrections, effects. Pure.

The test flips the signs of the per-query differences (Fisher's randomisation test, two-sided, on
the mean): all 2^n ways when there are no more than `draws` of them, else `draws` random ones, and
then p = (1 + as extreme) / (1 + draws), which is never zero. A query without difference changes
nothing either way, so identical runs have p = 1. Intervals are percentile bootstraps over queries.
The same seed gives the same figures, whatever else is compared in the same call.

scipy has both, one comparison at a time: ten runs on ten measures would take minutes. Here all
pairs of a measure share their draws; tests hold the figures to scipy's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from ccrag.errors import InputError
from ccrag.types import QueryId

Array = npt.NDArray[np.float64]

DRAWS = 10_000
SEED = 20_260_501
LEVEL = 0.95
ALPHA = 0.05

_BLOCK = 2_000_000
"""Numbers drawn at once: bounds the memory."""
_ROUNDING = 1e-12
"""Sums of the same differences in another order may differ by this share."""

PerQuery = Mapping[QueryId, float | None]


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
    """Whether those were all there are."""

    def significant(self, alpha: float = ALPHA) -> bool:
        """Whether the corrected p is below `alpha`."""
        return self.p_holm < alpha


def interval(
    values: Sequence[float], *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL
) -> Interval:
    """
    The mean of `values` and its bootstrap confidence interval; one value is its own interval.

    Raises:
        InputError: there are no values.
    """
    if not values:
        raise InputError("no values, so no mean; leave the measure out")
    figures = {str(at): value for at, value in enumerate(values)}
    return intervals({"": figures}, draws=draws, seed=seed, level=level)[""]


def intervals(
    columns: Mapping[str, PerQuery],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """
    The interval of each column, over its queries with a figure; columns without any have none.

    Raises:
        InputError: the columns hold other queries.
    """
    arrays = {name: array for name, array in _columns(columns).items() if not np.isnan(array).all()}
    if not arrays:
        return {}
    table = np.stack(list(arrays.values()), axis=1)
    bounds = _intervals(table, draws=draws, seed=seed, level=level)
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
    baseline: PerQuery, other: PerQuery, *, draws: int = DRAWS, seed: int = SEED
) -> Comparison | None:
    """
    One pair, uncorrected (`p_holm` = `p`); None when no query has a figure in both.

    Raises:
        InputError: they hold other queries.
    """
    runs = {"baseline": baseline, "other": other}
    return next(iter(matrix(runs, baseline="baseline", draws=draws, seed=seed)), None)


def matrix(
    runs: Mapping[str, PerQuery],
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """
    All pairs of `runs` in order, or each run against `baseline`, corrected together.

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
    tests = _sign_flips(np.nan_to_num(differences), draws=draws, seed=seed)
    lows, highs = _intervals(differences, draws=draws, seed=seed, level=LEVEL)
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


def _columns(runs: Mapping[str, PerQuery]) -> dict[str, Array]:
    """Figures of each run in one order of queries, NaN for none."""
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


def _described(differences: Array) -> _Described:
    known = differences[~np.isnan(differences)]
    return {
        "n": known.size,
        "difference": float(known.mean()),
        "effect": _effect(known),
        "higher": int((known > 0).sum()),
        "lower": int((known < 0).sum()),
        "equal": int((known == 0).sum()),
    }


def _effect(differences: Array) -> float | None:
    """Cohen's d_z; 0 for no difference anywhere, None where all differ by the same amount."""
    if not differences.any():
        return 0.0
    spread = float(np.ptp(differences))
    if spread <= _ROUNDING * float(np.abs(differences).max()):
        return None
    return float(differences.mean() / differences.std(ddof=1))


class _Test(NamedTuple):
    p: float
    draws: int
    exact: bool


def _sign_flips(differences: Array, *, draws: int, seed: int) -> list[_Test]:
    """A test per column of (queries, pairs); zeros take no part."""
    exact = [2 ** int(np.count_nonzero(column)) <= draws for column in differences.T]
    random = [at for at, is_exact in enumerate(exact) if not is_exact]
    p_values = dict(zip(random, _random_p(differences[:, random], draws, seed), strict=True))
    return [
        _exact_test(column[column != 0]) if is_exact else _Test(p_values[at], draws, False)
        for at, (column, is_exact) in enumerate(zip(differences.T, exact, strict=True))
    ]


def _exact_test(differences: Array) -> _Test:
    ways = 2**differences.size
    bits = (np.arange(ways)[:, None] >> np.arange(differences.size) & 1).astype(np.bool_)
    extreme = int(_as_extreme(bits, differences[:, None])[0])
    return _Test(extreme / ways, ways, True)


def _random_p(differences: Array, draws: int, seed: int) -> list[float]:
    """Every column meets the same flips, drawn query by query in their order."""
    if not differences.size:
        return []
    generator = np.random.default_rng(seed)
    extreme = np.zeros(differences.shape[1], dtype=np.int64)
    for rows in _blocks(draws, len(differences)):
        flips = generator.integers(2, size=(rows, len(differences)), dtype=np.bool_)
        extreme += _as_extreme(flips, differences)
    return [(1 + int(count)) / (1 + draws) for count in extreme]


def _as_extreme(flips: npt.NDArray[np.bool_], differences: Array) -> npt.NDArray[np.int64]:
    """How many rows of `flips` (ways, queries) take each column's sum as far from 0 as it is."""
    signs: Array = np.where(flips, -1.0, 1.0)
    margin = _ROUNDING * np.abs(differences).sum(axis=0)
    observed = np.abs(differences.sum(axis=0)) - margin
    counts: npt.NDArray[np.int64] = (np.abs(signs @ differences) >= observed).sum(axis=0)
    return counts


def _intervals(table: Array, *, draws: int, seed: int, level: float) -> Array:
    """Low and high of each column of (queries, columns), NaN left out: (2, columns)."""
    known = ~np.isnan(table)
    bounds = np.empty((2, table.shape[1]))
    patterns, members = np.unique(known, axis=1, return_inverse=True)
    for at in range(patterns.shape[1]):
        columns = np.flatnonzero(members == at)
        values = table[patterns[:, at]][:, columns]
        bounds[:, columns] = _bootstrap(values, draws=draws, seed=seed, level=level)
    return bounds


def _bootstrap(values: Array, *, draws: int, seed: int, level: float) -> Array:
    """Percentile interval of the mean of each column of (queries, columns): (2, columns)."""
    generator = np.random.default_rng(seed)
    means = [
        _resample_counts(generator, rows, len(values)) @ values / len(values)
        for rows in _blocks(draws, len(values))
    ]
    tail = (1 - level) / 2
    bounds: Array = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return bounds


def _resample_counts(generator: np.random.Generator, rows: int, n: int) -> Array:
    """How often each of `n` queries stands in each of `rows` resamples of `n`: (rows, n)."""
    picks = generator.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
    return np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _blocks(draws: int, n: int) -> Iterator[int]:
    """Sizes of the parts in which `draws` rows of `n` numbers are drawn."""
    size = max(1, _BLOCK // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)
