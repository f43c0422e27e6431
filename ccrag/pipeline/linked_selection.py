"""Linked reading of a query: sentences scored by words and by meaning, the budget spread."""

from collections.abc import Collection, Sequence

import numpy as np

from ccrag.answering.sentence_scores import SentenceScoreTable
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.models.base import Encoder
from ccrag.pipeline.state import QueryState, QueryVector
from ccrag.retrieval.bm25 import bm25_by_key
from ccrag.retrieval.linked import (
    LinkedRules,
    PassageSentence,
    Pool,
    choose_runs,
    combine,
    joined,
    opener,
    with_mentions,
)
from ccrag.retrieval.units import STAGE, best_at_both_ends
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Passage, SentenceKey, Unit


class LinkedSelector:
    """Spreads the budget over runs of sentences, as `linked` says."""

    def __init__(
        self, settings: PipelineSettings, encoder: Encoder | None, count: TokenCounter
    ) -> None:
        self._settings = settings
        self._encoder = encoder
        self._count = count

    def read(
        self, state: QueryState, readable: Collection[DocId], unit: Unit | None
    ) -> list[Passage]:
        """
        Return what the query reads, in reading order.

        Args:
            readable: documents that may be read; older versions may be missing.
            unit: the one that the best passage opens.
        """
        linked = self._settings.linked
        ranked = [hit.passage_id for hit in state.current() if hit.passage_id in state.passages]
        ranks = {passage_id: rank for rank, passage_id in enumerate(ranked, start=1)}
        last = len(ranked)
        passages = sorted(
            (p for p in state.passages.values() if p.doc_id in readable),
            key=lambda p: (ranks.get(p.passage_id, last + 1), p.passage_id),
        )
        pool = Pool(passages, window=linked.window)
        if not pool.sentences:
            return []
        scores = combine(self._lists(state, pool), ranks, pool, k=linked.rrf_k)
        first = opener(scores)
        others = frozenset(part.doc_id for part in unit.parts) if unit is not None else frozenset()
        others -= {first[0]} if first is not None else set()
        if linked.mention and first is not None:
            closeness = self._closeness(pool, first, others)
            scores = with_mentions(scores, closeness, weight=linked.mention, k=linked.rrf_k)
        rules = LinkedRules(
            max_tokens=self._settings.budget.max_tokens,
            spread=linked.spread,
            bonus=linked.bonus,
            max_share=linked.max_share,
        )
        chosen = choose_runs(pool, scores, rules, self._count, unit=others)
        state.note(STAGE, _said(chosen, others, self._count))
        documents = [joined(sentences) for sentences in chosen.values()]
        if self._settings.units.order == "ends":
            documents = best_at_both_ends(documents)
        return [passage for document in documents for passage in document]

    def _lists(self, state: QueryState, pool: Pool) -> list[SentenceScoreTable]:
        """Scores of the pool's sentences against the question, one list per way of comparing."""
        sentences = pool.sentences
        alone = [sentence.text.strip() for sentence in sentences]
        runs = [pool.run_text(sentence) for sentence in sentences]
        words = self._by_words(state.question, sentences, alone)
        if self._settings.linked.scorer == "lexical":
            return [words, self._by_words(state.question, sentences, runs)]
        vector = state.unit_vector()
        return [
            words,
            self._by_meaning(vector, sentences, alone),
            self._by_meaning(vector, sentences, self._titled(sentences, runs)),
        ]

    def _by_words(
        self, question: str, sentences: Sequence[PassageSentence], texts: Sequence[str]
    ) -> SentenceScoreTable:
        """Return BM25 over the pool itself."""
        bm25 = self._settings.bm25
        keys = (sentence.key for sentence in sentences)
        by_key = dict(zip(keys, texts, strict=True))
        return bm25_by_key(question, by_key, k1=bm25.k1, b=bm25.b)

    def _by_meaning(
        self, vector: QueryVector, sentences: Sequence[PassageSentence], texts: Sequence[str]
    ) -> SentenceScoreTable:
        vectors = self._vectors(texts)
        cosines = (vectors @ vector).tolist()
        return {s.key: cosine for s, cosine in zip(sentences, cosines, strict=True)}

    def _closeness(
        self, pool: Pool, first: SentenceKey, others: Collection[DocId]
    ) -> SentenceScoreTable:
        """Return cosines of the other documents' runs with the one that opened the unit."""
        sentences = [s for s in pool.sentences if s.passage.doc_id in others or s.key == first]
        runs = [pool.run_text(sentence) for sentence in sentences]
        vectors = self._vectors(self._titled(sentences, runs))
        own = vectors[[sentence.key for sentence in sentences].index(first)]
        cosines = (vectors @ own).tolist()
        return {
            s.key: c for s, c in zip(sentences, cosines, strict=True) if s.passage.doc_id in others
        }

    def _titled(self, sentences: Sequence[PassageSentence], runs: Sequence[str]) -> list[str]:
        """Return runs with their document's title, which says what they speak of."""
        return [
            " ".join(f"{sentence.passage.title}. {run}".split())
            for sentence, run in zip(sentences, runs, strict=True)
        ]

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        if self._encoder is None:
            raise ModelError("linked.scorer=fused needs an encoder; lexical does without")
        return self._encoder.encode_passages(texts).vectors


def _said(
    chosen: dict[DocId, list[PassageSentence]], others: Collection[DocId], count: TokenCounter
) -> str:
    sizes = {d: sum(count(s.text) for s in sentences) for d, sentences in chosen.items()}
    shares = ", ".join(
        f"{doc_id}{' (same unit)' if doc_id in others else ''} {size}"
        for doc_id, size in sizes.items()
    )
    return f"tokens read by document: {shares or 'none'}"
