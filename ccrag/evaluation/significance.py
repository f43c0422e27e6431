"""
Whether a difference is real: paired randomisation tests, intervals, corrections, effect sizes. Pure.

The test flips the signs of the per-query differences (Fisher's randomisation test, two-sided, on
the mean): all 2^n ways when there are no more than `draws` of them, else `draws` random ones, and
then p = (1 + as extreme) / (1 + draws), which never is zero. Intervals are percentile bootstraps
over queries. The same seed gives the same figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.types import QueryId

DRAWS = 10_000
SEED = 20_260_501
LEVEL = 0.95
ALPHA = 0.05

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
    raise NotImplementedError


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Holm's step-down correction, in the order given (Holm, Scand. J. Statist. 1979).

    The i-th smallest of m is multiplied by m - i + 1, never below the one before, never above 1.
    """
    raise NotImplementedError


def compare(
    baseline: PerQuery, other: PerQuery, *, draws: int = DRAWS, seed: int = SEED
) -> Comparison | None:
    """One pair, uncorrected (`p_holm` = `p`); None when no query has a figure in both."""
    raise NotImplementedError


def matrix(
    runs: Mapping[str, PerQuery],
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """
    All pairs of `runs` in order, or each run against `baseline`, corrected together.

    Raises:
        InputError: `baseline` is not a run, or the runs hold other queries.
    """
    raise NotImplementedError
