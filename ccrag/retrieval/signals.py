"""Several scores of the same passages as one, each on the scale of its own spread. Pure."""

from collections.abc import Mapping
from math import fsum

import numpy as np

from ccrag.errors import InvariantError
from ccrag.types import Hit, PassageId, Ranking

PassageScores = Mapping[PassageId, float]


def standardised(ranking: Ranking, scores: PassageScores) -> dict[PassageId, float]:
    """
    (score - mean) / standard deviation over the passages of `ranking`; all 0 where all are equal.

    Raises:
        InvariantError: a passage without a score.
    """
    missing = [hit.passage_id for hit in ranking if hit.passage_id not in scores]
    if missing:
        raise InvariantError(f"query {ranking.query_id!r}: no score for passage {missing[0]!r}")
    ids = sorted(hit.passage_id for hit in ranking)  # so that sums do not depend on the order
    values = np.array([scores[passage_id] for passage_id in ids], dtype=np.float64)
    spread = float(values.std()) if len(values) else 0.0
    if spread <= 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0))):
        return dict.fromkeys(ids, 0.0)
    return dict(zip(ids, ((values - values.mean()) / spread).tolist(), strict=True))


def rerank_by_signals(
    fused: Ranking,
    signals: Mapping[str, PassageScores],
    weights: Mapping[str, float],
    *,
    stage: str = "rerank",
) -> Ranking:
    """
    Return the passages of `fused` by the weighted sum of their standardised signals.

    Unlike ranks, standardised scores keep how far apart passages are; unlike raw sums they need
    no common scale, so a weight of 1 means the same for a cosine and for BM25.

    Raises:
        InvariantError: a passage without one of the scores, or a signal without a weight.
    """
    unweighted = sorted(signals.keys() - weights.keys())
    if unweighted:
        raise InvariantError(f"signal {unweighted[0]!r} has no weight")
    parts = {name: standardised(fused, scores) for name, scores in signals.items()}
    hits = (
        Hit(
            hit.passage_id,
            hit.doc_id,
            fsum(weights[name] * part[hit.passage_id] for name, part in parts.items()),
        )
        for hit in fused
    )
    return Ranking.of(fused.query_id, stage, hits)
