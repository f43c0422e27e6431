"""Several rankings as one. Pure; ids, ranks and scores only, texts never pass through here."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import TypeVar

from ccrag.types import DocId, Hit, PassageId, Ranking, SentenceKey

K = TypeVar("K", PassageId, SentenceKey)


def rrf(
    rankings: Sequence[Ranking], *, k: int = 60, weights: Sequence[float] | None = None
) -> Ranking:
    """
    Fuse rankings of one query by reciprocal rank (Cormack et al., SIGIR 2009).

    score(p) = sum over the rankings holding p of weight / (k + rank), rank from 1. A passage
    missing from a ranking gets nothing from it. The sum is exactly rounded, so the order of
    the rankings does not show in the result.

    Args:
        rankings: at least one, all of the same query; empty ones are allowed.
        k: damping constant, not a depth; must be > 0.
        weights: one per ranking, each > 0; default all 1.

    Returns:
        The union of the inputs, stage "rrf".

    Raises:
        ValueError: no rankings, rankings of several queries, k <= 0, or a bad weight.
    """
    if weights is None:
        weights = [1.0] * len(rankings)
    _check_one_query(rankings)
    _check(rankings, k, weights)
    shares: defaultdict[PassageId, list[float]] = defaultdict(list)
    documents: dict[PassageId, DocId] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            shares[hit.passage_id].append(weight / (k + rank))
            documents[hit.passage_id] = hit.doc_id
    fused = (Hit(pid, documents[pid], fsum(parts)) for pid, parts in shares.items())
    return Ranking.of(rankings[0].query_id, "rrf", fused)


def reciprocal_ranks(scores: Mapping[K, float], *, k: int) -> dict[K, float]:
    """
    Return 1 / (k + rank) by key, rank from 1 by score, ties by key: what one list gives to RRF.
    """
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: 1 / (k + rank) for rank, key in enumerate(ordered, start=1)}


def highest(rankings: Sequence[Ranking]) -> Ranking:
    """
    Merge rankings of one query: a passage has the highest of its scores (5ting, SemEval-2026).

    The scores must be of one scale, for they are compared as they are.

    Returns:
        The union of the inputs, stage "highest".

    Raises:
        ValueError: no rankings, or rankings of several queries.
    """
    _check_one_query(rankings)
    best: dict[PassageId, Hit] = {}
    for hit in (hit for ranking in rankings for hit in ranking):
        held = best.setdefault(hit.passage_id, hit)
        if hit.score > held.score:
            best[hit.passage_id] = hit
    return Ranking.of(rankings[0].query_id, "highest", best.values())


def _check_one_query(rankings: Sequence[Ranking]) -> None:
    query_ids = sorted({ranking.query_id for ranking in rankings})
    if len(query_ids) != 1:
        raise ValueError(f"fusion needs rankings of one query, got those of {query_ids}")


def _check(rankings: Sequence[Ranking], k: int, weights: Sequence[float]) -> None:
    if k <= 0:
        raise ValueError(f"rrf needs k > 0, got {k}")
    if len(weights) != len(rankings):
        raise ValueError(f"rrf got {len(weights)} weights for {len(rankings)} rankings")
    if not all(weight > 0 for weight in weights):
        raise ValueError(f"rrf needs weights > 0, got {list(weights)}")
