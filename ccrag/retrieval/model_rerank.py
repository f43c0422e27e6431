"""
Reordering by a model's scores. Pure: scores come in, filed by passage id, never by position.
"""

from collections.abc import Mapping
from math import exp

from ccrag.errors import InvariantError
from ccrag.types import Hit, PassageId, Ranking


def rerank_by_scores(
    fused: Ranking, scores: Mapping[PassageId, float], *, stage: str = "rerank"
) -> Ranking:
    """
    Return the passages of `fused` with `scores` instead of their own.

    Scores may be of any scale; higher is better. An empty ranking stays empty.

    Raises:
        InvariantError: a passage without a score, a score without a passage, or a NaN.
    """
    _check_ids(fused, scores)
    hits = (Hit(hit.passage_id, hit.doc_id, scores[hit.passage_id]) for hit in fused)
    return Ranking.of(fused.query_id, stage, hits)


def add_model_scores(
    ranking: Ranking,
    logits: Mapping[PassageId, float],
    *,
    weight: float,
    stage: str = "rerank",
) -> Ranking:
    """
    Return `ranking` with score + weight * sigmoid(logit): the `published-code` model term.

    The sigmoid, not min-max over the list: it stands in [0, 1] like the other terms, a passage's
    share does not depend on which others are listed, and a list of equal scores has no zero range.

    Args:
        logits: a cross-encoder's raw scores.

    Raises:
        InvariantError: a passage without a score, a score without a passage, or a NaN.
    """
    _check_ids(ranking, logits)
    hits = (
        Hit(hit.passage_id, hit.doc_id, hit.score + weight * sigmoid(logits[hit.passage_id]))
        for hit in ranking
    )
    return Ranking.of(ranking.query_id, stage, hits)


def sigmoid(logit: float) -> float:
    """Return 1 / (1 + e^-logit), without overflow however far from 0."""
    if logit >= 0:
        return 1 / (1 + exp(-logit))
    return exp(logit) / (1 + exp(logit))


def _check_ids(ranking: Ranking, scores: Mapping[PassageId, float]) -> None:
    ranked = {hit.passage_id for hit in ranking}
    if ranked != scores.keys():
        missing, extra = sorted(ranked - scores.keys()), sorted(scores.keys() - ranked)
        raise InvariantError(
            f"query {ranking.query_id!r}: model scores do not match the ranking; "
            f"without a score: {missing[:3]}, not ranked: {extra[:3]}"
        )
