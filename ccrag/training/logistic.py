"""
Learning from judged queries when to abstain, and what that is worth on queries held back. Pure.

Logistic regression with an L2 penalty over standardised features, by Newton's method. The penalty
is chosen by cross-validation *inside* what is learnt from, by the likelihood of the part left out.
All parts keep groups whole (a dialogue's tasks, for one) and share out both kinds alike; they
follow from the seed and from the order of the groups' names, not from the order of the queries.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ccrag.answering.answerability import AnswerabilityFeatures
from ccrag.answering.calibration import Weight
from ccrag.errors import InputError
from ccrag.evaluation.abstention_metrics import Array, Sample
from ccrag.types import QueryId

Ints = npt.NDArray[np.int64]

FOLDS, INNER_FOLDS, REPEATS = 10, 5, 5
PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0)
FEWEST = 5
"""Groups of each kind that there must be: fewer say nothing about other queries."""
SEED = 0
_ITERATIONS, _SETTLED = 100, 1e-10


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query of which it is known whether its candidates answer it."""

    query_id: QueryId
    group: str
    """Queries of one group are learnt from or held back together."""
    features: AnswerabilityFeatures
    unanswerable: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights that were learnt from some queries."""

    weights: Mapping[str, Weight]
    intercept: float
    penalty: float


def sample_of(judged: Iterable[JudgedQuery]) -> Sample:
    """
    Return judged queries ready to be learnt from.

    Raises:
        InputError: too few groups of one kind.
    """
    ordered = sorted(judged, key=lambda one: one.query_id)
    if not ordered:
        raise InputError("no judged query, so nothing to learn from")
    names = tuple(ordered[0].features)
    sample = Sample(
        query_ids=tuple(one.query_id for one in ordered),
        names=names,
        values=np.array([[one.features[name] for name in names] for one in ordered]),
        unanswerable=np.array([one.unanswerable for one in ordered]),
        groups=tuple(one.group for one in ordered),
    )
    for kind, wanted in (("unanswerable", True), ("answerable", False)):
        groups = len(_groups_of(sample, unanswerable=wanted))
        if groups < FEWEST:
            raise InputError(
                f"{groups} of the judged queries are {kind} (a dialogue counts once); a decision "
                f"is learnt from {FEWEST} of each kind at least"
            )
    return sample


def fit(sample: Sample, *, seed: int = SEED) -> Fitted:
    """Learn from all of `sample`, the penalty by cross-validation within it."""
    folds = _folds(sample, INNER_FOLDS, np.random.default_rng(seed))
    losses = [_loss(sample, folds, penalty) for penalty in PENALTIES]
    return _fit(sample, PENALTIES[int(np.argmin(losses))])


def probabilities(fitted: Fitted, sample: Sample) -> Array:
    """Return each query's probability of having no answer in its candidates, `(n_queries,)`."""
    weights = [fitted.weights[name] for name in sample.names]
    scaled = (sample.values - [w.mean for w in weights]) / [w.scale for w in weights]
    return _sigmoid(scaled @ np.array([w.coefficient for w in weights]) + fitted.intercept)


def held_out(
    sample: Sample, *, on: Sample | None = None, repeats: int = REPEATS, seed: int = SEED
) -> Array:
    """
    Return what is said of each query by what was learnt without its group, `(repeats, n_queries)`.

    Each row is a cross-validation over other parts.

    Args:
        on: the same queries as they look elsewhere, and of these it is said; None: `sample`.
    """
    rows = [_held_out_once(sample, on or sample, seed + repeat) for repeat in range(repeats)]
    return np.stack(rows)


def held_out_by(sample: Sample, kinds: Sequence[str]) -> Iterator[tuple[str, Sample, Array]]:
    """
    Yield each of `kinds` (one per query; collections, for one) as judged by what the others taught.

    A kind without which too little is left to learn from is left out.
    """
    marks = np.array(kinds)
    for kind in sorted(set(kinds)):
        rest, part = sample.part(marks != kind), sample.part(marks == kind)
        if _fewest(rest) >= FEWEST:
            yield kind, part, probabilities(fit(rest), part)


def _held_out_once(sample: Sample, on: Sample, seed: int) -> Array:
    folds = _folds(sample, FOLDS, np.random.default_rng(seed))
    found = np.zeros(len(sample.query_ids))
    for fold in range(folds.max() + 1):
        fitted = fit(sample.part(folds != fold), seed=seed)
        found[folds == fold] = probabilities(fitted, on.part(folds == fold))
    return found


def _groups_of(sample: Sample, *, unanswerable: bool) -> set[str]:
    """Return the groups that hold a query of this kind."""
    kinds = zip(sample.groups, sample.unanswerable.tolist(), strict=True)
    return {group for group, kind in kinds if kind is unanswerable}


def _fewest(sample: Sample) -> int:
    """Count the groups of the rarer kind."""
    return min(len(_groups_of(sample, unanswerable=kind)) for kind in (True, False))


def _folds(sample: Sample, count: int, chance: np.random.Generator) -> Ints:
    """Return the part of each query, from 0; never more parts than groups of the rarer kind."""
    parts: dict[str, int] = {}
    holding = _groups_of(sample, unanswerable=True)
    for members in (sorted(holding), sorted(set(sample.groups) - holding)):
        for at in chance.permutation(len(members)):
            parts[members[at]] = len(parts) % min(count, _fewest(sample))
    return np.array([parts[group] for group in sample.groups], dtype=np.int64)


def _loss(sample: Sample, folds: Ints, penalty: float) -> float:
    """Return the mean negative log-likelihood of the parts left out."""
    losses = np.zeros(len(folds))
    for fold in range(folds.max() + 1):
        part = sample.part(folds == fold)
        said = probabilities(_fit(sample.part(folds != fold), penalty), part)
        losses[folds == fold] = -np.log(np.where(part.unanswerable, said, 1 - said))
    return float(losses.mean())


def _fit(sample: Sample, penalty: float) -> Fitted:
    """Newton's method on the penalised likelihood; the intercept is free."""
    means, scales = sample.values.mean(axis=0), sample.values.std(axis=0)
    scales[scales < 1e-12] = 1.0  # a feature that never changes counts nothing
    rows = np.column_stack([np.ones(len(sample.values)), (sample.values - means) / scales])
    wanted = sample.unanswerable.astype(np.float64)
    pull = np.full(rows.shape[1], penalty)
    pull[0] = 0.0
    found = np.zeros(rows.shape[1])
    for _ in range(_ITERATIONS):
        said = _sigmoid(rows @ found)
        slope = rows.T @ (said - wanted) + pull * found
        curve = (rows * (said * (1 - said))[:, None]).T @ rows + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        found = found - step
        if np.abs(step).max() < _SETTLED:
            break
    weights = {
        name: Weight(float(means[at]), float(scales[at]), float(found[at + 1]))
        for at, name in enumerate(sample.names)
    }
    return Fitted(weights, float(found[0]), penalty)


def _sigmoid(log_odds: Array) -> Array:
    # Beyond 35 it is 0 or 1 to the last digit, and a likelihood of 0 has no logarithm.
    bounded: Array = 1 / (1 + np.exp(-np.clip(log_odds, -35.0, 35.0)))
    return bounded
