"""
Count right and wrong decisions to abstain, with intervals. Pure.

"Positive" is a query that its candidates do not answer. Where the same query was decided several
times, in repeated cross-validation, it counts as the mean of these. Intervals are percentile
bootstraps over groups, since queries of one dialogue stand or fall together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ccrag.evaluation.bootstrap import resample_counts
from ccrag.evaluation.significance import LEVEL, SEED, Comparison, compare
from ccrag.types import QueryId

Array = npt.NDArray[np.float64]

DRAWS = 2_000
MEASURES = ("precision", "recall", "F1", "accuracy")
NEVER = 1.1
"""A threshold that no probability reaches."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Judged queries as arrays, in the order of their ids."""

    query_ids: tuple[QueryId, ...]
    names: tuple[str, ...]
    values: Array
    """`(n_queries, n_features)`."""
    unanswerable: npt.NDArray[np.bool_]
    groups: tuple[str, ...]

    def part(self, wanted: npt.NDArray[np.bool_]) -> "Sample":
        """Return the queries where `wanted` is true."""
        at = np.flatnonzero(wanted)
        return Sample(
            tuple(self.query_ids[i] for i in at),
            self.names,
            self.values[at],
            self.unanswerable[at],
            tuple(self.groups[i] for i in at),
        )


@dataclass(frozen=True, slots=True)
class FigureWithInterval:
    """A measure and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Decisions:
    """Counts of decisions by kind of query; means over the repeats."""

    abstained_unanswerable: float
    abstained_answerable: float
    answered_unanswerable: float
    answered_answerable: float
    figures: Mapping[str, FigureWithInterval]
    """By `MEASURES`; precision is left out where nothing was abstained from."""


def decisions(sample: Sample, said: Array, *, threshold: float) -> Decisions:
    """
    Return the decisions that probabilities lead to.

    Args:
        said: `(repeats, n_queries)`, in the order of `sample`.
        threshold: from this probability on it is abstained; above 1 never.
    """
    abstained = (said >= threshold).mean(axis=0)
    wanted = sample.unanswerable.astype(np.float64)
    by_kind = [(did, kind) for did in (abstained, 1 - abstained) for kind in (wanted, 1 - wanted)]
    counts = np.column_stack([did * kind for did, kind in by_kind])
    total = counts.sum(axis=0)
    drawn = _resampled(counts, sample.groups)
    values, draws = _measures(total[None, :]), _measures(drawn)
    figures = {
        name: FigureWithInterval(float(values[name][0]), *_bounds(draws[name]))
        for name in MEASURES
        if not np.isnan(values[name][0])
    }
    hits, needless, missed, answered = total.tolist()
    return Decisions(hits, needless, missed, answered, figures)


def against_never(sample: Sample, said: Array, *, threshold: float) -> Comparison | None:
    """Return accuracy of the decisions against that of never abstaining, query by query."""
    right = np.where(sample.unanswerable, said >= threshold, said < threshold).mean(axis=0)
    never = np.where(sample.unanswerable, 0.0, 1.0)
    return compare(
        dict(zip(sample.query_ids, never.tolist(), strict=True)),
        dict(zip(sample.query_ids, right.tolist(), strict=True)),
    )


def ranked_right(sample: Sample, said: Array) -> float:
    """
    Return the share of pairs of both kinds in which the unanswerable query has the higher
    probability.

    The area under the ROC curve: .5 is chance, ties count half; mean over the repeats.
    """
    high, low = said[:, sample.unanswerable], said[:, ~sample.unanswerable]
    pairs = high[:, :, None] - low[:, None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def _resampled(counts: Array, groups: tuple[str, ...]) -> Array:
    """Return sums of counts over resampled groups, `(DRAWS, 4)`."""
    names, members = np.unique(np.array(groups), return_inverse=True)
    by_group = np.zeros((len(names), counts.shape[1]))
    np.add.at(by_group, members, counts)
    generator = np.random.default_rng(SEED)
    return resample_counts(generator, DRAWS, len(names)) @ by_group


def _measures(counts: Array) -> dict[str, Array]:
    """Of each row of `(rows, 4)`; not a number where there is nothing to divide by."""
    hits, needless, missed, answered = counts.T
    return {
        "precision": _ratio(hits, hits + needless),
        "recall": _ratio(hits, hits + missed),
        "F1": _ratio(2 * hits, 2 * hits + needless + missed),
        "accuracy": _ratio(hits + answered, counts.sum(axis=1)),
    }


def _ratio(part: Array, whole: Array) -> Array:
    none: npt.NDArray[np.float64] = np.full(part.shape, np.nan)
    return np.divide(part, whole, out=none, where=whole > 0)


def _bounds(values: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)
