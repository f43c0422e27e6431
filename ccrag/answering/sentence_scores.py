"""Scores of sentences by BM25 and by fusion, filed under their keys. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ccrag.answering.evidence import CandidateSentence
from ccrag.retrieval.bm25 import bm25_by_key
from ccrag.retrieval.fusion import reciprocal_ranks
from ccrag.types import SentenceKey

SentenceScores = Mapping[SentenceKey, float]
SentenceScoreTable = dict[SentenceKey, float]
"""Scores while they are made."""


def bm25_sentence_scores(
    query_text: str, candidates: Sequence[CandidateSentence], *, k1: float, b: float
) -> dict[SentenceKey, float]:
    """Return BM25 over the candidates themselves; a sentence that matches nothing has no score."""
    return bm25_by_key(query_text, {c.key: c.text for c in candidates}, k1=k1, b=b)


def rrf_sentence_scores(lists: Sequence[SentenceScores], *, k: int) -> dict[SentenceKey, float]:
    """
    Return the reciprocal rank fusion of several scorings, as `retrieval.fusion.rrf`.

    Sum of 1 / (k + rank), rank from 1 by score, ties by key; a sentence missing from a list gets
    nothing from it.
    """
    fused: defaultdict[SentenceKey, float] = defaultdict(float)
    for scores in lists:
        for key, share in reciprocal_ranks(scores, k=k).items():
            fused[key] += share
    return dict(fused)
