"""
Sign flips and bootstraps of whole tables at once: (queries, columns) in, a figure per column out.

What the figures mean is said in `significance`. Pure: the same seed gives the same figures.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-12
"""Sums of the same numbers in another order may differ by this share."""
_BLOCK = 2_000_000
"""Numbers drawn at once: bounds the memory."""


class FlipTest(NamedTuple):
    """The p of one column, two-sided, on its mean."""

    p: float
    draws: int
    """Ways of flipping looked at."""
    exact: bool
    """True where these are all sign flips that there are."""


def sign_flips(differences: FloatArray, *, draws: int, seed: int) -> list[FlipTest]:
    """Return a test per column of (queries, pairs); zeros take no part."""
    exact = [2 ** int(np.count_nonzero(column)) <= draws for column in differences.T]
    random = [at for at, is_exact in enumerate(exact) if not is_exact]
    p_values = dict(zip(random, _random_p(differences[:, random], draws, seed), strict=True))
    return [
        _exact_test(column[column != 0]) if is_exact else FlipTest(p_values[at], draws, False)
        for at, (column, is_exact) in enumerate(zip(differences.T, exact, strict=True))
    ]


def _exact_test(differences: FloatArray) -> FlipTest:
    ways = 2**differences.size
    bits = (np.arange(ways)[:, None] >> np.arange(differences.size) & 1).astype(np.bool_)
    extreme = int(_as_extreme(bits, differences[:, None])[0])
    return FlipTest(extreme / ways, ways, True)


def _random_p(differences: FloatArray, draws: int, seed: int) -> list[float]:
    """Return the p-value of each column; all meet the same flips, drawn query by query in order."""
    if not differences.size:
        return []
    generator = np.random.default_rng(seed)
    extreme = np.zeros(differences.shape[1], dtype=np.int64)
    for rows in _blocks(draws, len(differences)):
        flips = generator.integers(2, size=(rows, len(differences)), dtype=np.bool_)
        extreme += _as_extreme(flips, differences)
    return [(1 + int(count)) / (1 + draws) for count in extreme]


def _as_extreme(flips: npt.NDArray[np.bool_], differences: FloatArray) -> npt.NDArray[np.int64]:
    """
    Return how many rows of `flips` (ways, queries) take each column's sum as far from 0 as it is.
    """
    signs: FloatArray = np.where(flips, -1.0, 1.0)
    margin = ROUNDING * np.abs(differences).sum(axis=0)
    observed = np.abs(differences.sum(axis=0)) - margin
    counts: npt.NDArray[np.int64] = (np.abs(signs @ differences) >= observed).sum(axis=0)
    return counts


def bootstrap_intervals(table: FloatArray, *, draws: int, seed: int, level: float) -> FloatArray:
    """Return the low and high of each column of (queries, columns), NaN left out: (2, columns)."""
    known = ~np.isnan(table)
    bounds = np.empty((2, table.shape[1]))
    patterns, members = np.unique(known, axis=1, return_inverse=True)
    for at in range(patterns.shape[1]):
        columns = np.flatnonzero(members == at)
        values = table[patterns[:, at]][:, columns]
        bounds[:, columns] = _bootstrap(values, draws=draws, seed=seed, level=level)
    return bounds


def _bootstrap(values: FloatArray, *, draws: int, seed: int, level: float) -> FloatArray:
    """
    Return the percentile interval of the mean of each column of (queries, columns): (2, columns).
    """
    generator = np.random.default_rng(seed)
    means = [
        resample_counts(generator, rows, len(values)) @ values / len(values)
        for rows in _blocks(draws, len(values))
    ]
    tail = (1 - level) / 2
    bounds: FloatArray = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return bounds


def resample_counts(generator: np.random.Generator, rows: int, n: int) -> FloatArray:
    """Return how often each of `n` queries stands in each of `rows` resamples of `n`: (rows, n)."""
    picks = generator.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
    return np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _blocks(draws: int, n: int) -> Iterator[int]:
    """Yield sizes of the parts in which `draws` rows of `n` numbers are drawn."""
    size = max(1, _BLOCK // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)
