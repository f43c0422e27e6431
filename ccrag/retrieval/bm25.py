"""
BM25 with the statistics of the query's own passages, through the bm25s library. Pure.

OpenSearch scores with the statistics of the whole index; this is the other setting, idf and average
length over the candidates alone, as the LongEval paper writes it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ccrag.text.analysis import terms
from ccrag.text.markup import own_text
from ccrag.types import Hit, Passage, QueryId, Ranking, WeightedText

if TYPE_CHECKING:
    import bm25s

ScoreArray = npt.NDArray[np.float64]
K = TypeVar("K")


class CandidateBm25:
    """
    BM25 over one query's passages, indexed once and asked with every variant.

    score(p) = BM25 of the text + `title_weight` * BM25 of the title, each with its own statistics
    over the passages. BM25 as Lucene has it: sum over the query's terms, repetitions included, of
    ln(1 + (N - df + .5) / (df + .5)) * tf / (tf + k1 * (1 - b + b * length / average length)).

    Args:
        passages: all passages that may be ranked; none is fine.
        k1: term frequency saturation.
        b: length normalisation, 0 to 1.
        title_weight: 0 leaves the title out.
        text_of: what of a passage is searched.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        k1: float,
        b: float,
        title_weight: float,
        text_of: Callable[[Passage], str] = own_text,
    ) -> None:
        self._passages = tuple(passages)
        self._title_weight = title_weight
        self._text = Bm25Index([terms(text_of(p)) for p in passages], k1=k1, b=b)
        titles = [terms(p.title) for p in passages] if title_weight else []
        self._title = Bm25Index(titles, k1=k1, b=b)

    def rank(
        self, query_id: QueryId, stage: str, parts: Sequence[WeightedText], *, depth: int
    ) -> Ranking:
        """
        Return the best `depth` passages for `parts`, whose scores are summed by weight.

        A passage that shares no term with them is not a hit. A query of stop words, or passages
        without words, give an empty ranking.
        """
        scores = np.zeros(len(self._passages))
        for part in parts:
            scores = scores + part.weight * self._scores(terms(part.text))
        hits = (
            Hit(passage.passage_id, passage.doc_id, float(score))
            for passage, score in zip(self._passages, scores, strict=True)
            if score > 0
        )
        return Ranking.of(query_id, stage, hits).top(depth)

    def _scores(self, query_terms: Sequence[str]) -> ScoreArray:
        scores = self._text.scores(query_terms)
        if self._title_weight:
            scores = scores + self._title_weight * self._title.scores(query_terms)
        return scores


def bm25_scores(
    query_terms: Sequence[str], texts: Sequence[Sequence[str]], *, k1: float, b: float
) -> ScoreArray:
    """Return BM25 of each of `texts` (their terms) over all of them, `(n_texts,)`; 0: no match."""
    return Bm25Index(texts, k1=k1, b=b).scores(query_terms)


def bm25_by_key(query_text: str, texts: Mapping[K, str], *, k1: float, b: float) -> dict[K, float]:
    """Return BM25 over the texts themselves, by their keys; what matches nothing has no score."""
    found = bm25_scores(terms(query_text), [*map(terms, texts.values())], k1=k1, b=b)
    return {key: float(score) for key, score in zip(texts, found, strict=True) if score > 0}


def idf(frequency: int, count: int) -> float:
    """ln(1 + (N - df + .5) / (df + .5)) of a term that `frequency` of `count` texts have."""
    return log1p((count - frequency + 0.5) / (frequency + 0.5))


class Bm25Index:
    """BM25 over some texts, given as terms; a position in `scores` is one in `texts`."""

    def __init__(self, texts: Sequence[Sequence[str]], *, k1: float, b: float) -> None:
        self._size = len(texts)
        self._index = _build(texts, k1=k1, b=b) if any(texts) else None

    def scores(self, query_terms: Sequence[str]) -> ScoreArray:
        """Return a score per text, float64; zeros where nothing matches."""
        if self._index is None or not query_terms:
            return np.zeros(self._size)
        found: ScoreArray = self._index.get_scores(list(query_terms))
        return found


def _build(texts: Sequence[Sequence[str]], *, k1: float, b: float) -> bm25s.BM25:
    """Index `texts`, of which at least one has a term (bm25s divides by the average length)."""
    import bm25s  # half a second: only where it is used

    # It sets its own logger to DEBUG, which would reach every handler of the application.
    logging.getLogger("bm25s").setLevel(logging.NOTSET)
    vocabulary: dict[str, int] = {}
    ids = [[vocabulary.setdefault(term, len(vocabulary)) for term in text] for text in texts]
    index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    # Our own vocabulary: bm25s numbers the terms by iterating a set.
    index.index((ids, vocabulary), create_empty_token=False, show_progress=False)
    return index
