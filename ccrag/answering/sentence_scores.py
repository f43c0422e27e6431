"""Scores of sentences by BM25 and by fusion, filed under their keys. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ccrag.answering.evidence import CandidateSentence, SentenceKey
from ccrag.retrieval.analysis import terms
from ccrag.retrieval.lexical import bm25_scores

SentenceScores = Mapping[SentenceKey, float]


def bm25_sentence_scores(
    query_text: str, candidates: Sequence[CandidateSentence], *, k1: float, b: float
) -> dict[SentenceKey, float]:
    """Return BM25 over the candidates themselves; a sentence that matches nothing has no score."""
    texts = [terms(candidate.text) for candidate in candidates]
    scores = bm25_scores(terms(query_text), texts, k1=k1, b=b)
    scored = zip(candidates, scores, strict=True)
    return {candidate.key: float(score) for candidate, score in scored if score > 0}


def rrf_sentence_scores(lists: Sequence[SentenceScores], *, k: int) -> dict[SentenceKey, float]:
    """
    Return the reciprocal rank fusion of several scorings, as `retrieval.fusion.rrf`.

    Sum of 1 / (k + rank), rank from 1 by score, ties by key; a sentence missing from a list gets
    nothing from it.
    """
    fused: defaultdict[SentenceKey, float] = defaultdict(float)
    for scores in lists:
        ranked = sorted(scores, key=lambda key: (-scores[key], key))
        for rank, key in enumerate(ranked, start=1):
            fused[key] += 1 / (k + rank)
    return dict(fused)
