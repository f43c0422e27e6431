"""Choose the evidence of a query from the passages it reads: score sentences, take the best."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from ccrag.answering.documents import keep_documents
from ccrag.answering.evidence import (
    CandidateSentence,
    as_evidence,
    best_first,
    candidate_sentences,
    lexical_scores,
    order_scores,
)
from ccrag.answering.merit import Merit, by_merit, merits
from ccrag.answering.sentence_features import Column, sentence_features
from ccrag.answering.sentence_ranker import SentenceRanking
from ccrag.answering.sentence_ranker import reasons as reasons_of
from ccrag.answering.sentence_scores import (
    SentenceScoreTable,
    bm25_sentence_scores,
    rrf_sentence_scores,
)
from ccrag.answering.shown import best_runs, everything
from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ConfigError, InvariantError, ModelError, some_ids
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.models.token_vectors import TokenEncoder
from ccrag.pipeline.model_scores import cosine_scores, sentence_scores
from ccrag.pipeline.rankings import load_ranking
from ccrag.pipeline.sentence_signals import signals_of
from ccrag.pipeline.state import QueryState
from ccrag.text.sections import is_heading
from ccrag.text.tokens import TokenCounter, estimate_tokens
from ccrag.text.truncate import short_repr
from ccrag.types import Evidence, SentenceKey

Reasons = dict[SentenceKey, tuple[tuple[str, float], ...]]
PACKAGED_RANKINGS = {"learnt": "sentences", "learnt-lexical": "sentences-lexical"}
HORIZON = 4
"""Form is looked at in so many times the sentences that are taken: looking costs time."""


class EvidenceSelector:
    """Choose evidence in the passages that queries read, with the models that `settings` name."""

    def __init__(
        self,
        settings: PipelineSettings,
        encoder: Encoder | None,
        reranker: Reranker | None,
        tokens: TokenEncoder | None = None,
        count: TokenCounter = estimate_tokens,
    ) -> None:
        self._settings = settings
        self._encoder = encoder
        self._reranker = reranker
        self._tokens = tokens
        self._count = count

    @property
    def scorer(self) -> str:
        """Return the name of the scorer, as `evidence.scorer` has it."""
        return self._settings.evidence.scorer

    @cached_property
    def _ranking(self) -> SentenceRanking | None:
        return ranking_of(self._settings)

    def select(self, states: Sequence[QueryState]) -> None:
        """Give each query its evidence; sentences of all of them are encoded in one call."""
        settings = self._settings.evidence
        candidates = self._candidates(states)
        cosines = self._cosines(states, candidates)
        for state, found, cosine in zip(states, candidates, cosines, strict=True):
            reasons: Reasons = {}
            if self._ranking is not None:
                scores, reasons = self._learnt(self._ranking, state, found, cosine)
                of_documents = scores
            else:
                scores = self._scores(state, found, cosine)
                of_documents = cosine or scores
            # headings tell what a document is about: scored with the rest, never shown
            kept = [candidate for candidate in found if not candidate.heading]
            if settings.max_documents is not None:
                kept = self._of_best_documents(state, kept, of_documents)
            state.cosines = cosine
            state.evidence = self._shown(state, scores)
            if not state.evidence:
                self._choose(state, kept, scores, reasons)

    def with_features(
        self, states: Sequence[QueryState]
    ) -> Iterator[tuple[QueryState, Sequence[CandidateSentence], dict[str, Column]]]:
        """Yield each query with its candidate sentences and their features, to learn from."""
        candidates = self._candidates(states)
        cosines = self._cosines(states, candidates)
        for state, found, cosine in zip(states, candidates, cosines, strict=True):
            yield state, found, self._features(state, found, cosine)

    def _candidates(self, states: Sequence[QueryState]) -> list[tuple[CandidateSentence, ...]]:
        per_passage = self._settings.evidence.sentences_per_passage
        return [
            candidate_sentences(
                state.read, sentences_per_passage=per_passage, is_heading=is_heading
            )
            for state in states
        ]

    def _features(
        self,
        state: QueryState,
        candidates: Sequence[CandidateSentence],
        cosines: SentenceScoreTable,
    ) -> dict[str, Column]:
        """Return the features of sentences that a learnt ranking weighs."""
        if not candidates:
            return {}
        by_words = self._settings.evidence.scorer == "learnt-lexical"
        signals = signals_of(
            state.question,
            candidates,
            self._settings,
            cosines=None if by_words else cosines,
            tokens=None if by_words else self._tokens,
        )
        return sentence_features(candidates, signals)

    def _learnt(
        self,
        ranking: SentenceRanking,
        state: QueryState,
        candidates: Sequence[CandidateSentence],
        cosines: SentenceScoreTable,
    ) -> tuple[SentenceScoreTable, Reasons]:
        """Return each sentence's probability to be evidence, and what spoke for it."""
        if not candidates:
            return {}, {}
        added = ranking.contributions(self._features(state, candidates, cosines))
        keys = [candidate.key for candidate in candidates]
        found = ranking.probabilities(added).tolist()
        best = sorted(range(len(keys)), key=lambda at: -found[at])
        horizon = HORIZON * self._settings.evidence.max_sentences  # no other is ever chosen
        reasons = {keys[at]: tuple(reasons_of(added, at)) for at in best[:horizon]}
        return dict(zip(keys, found, strict=True)), reasons

    def _shown(self, state: QueryState, scores: SentenceScoreTable) -> tuple[Evidence, ...]:
        """Return what a language model sees, where that is more than the chosen sentences."""
        answer, budget = self._settings.answer, self._settings.budget.max_tokens
        if answer.generator != "llm" or answer.shows == "chosen":
            return ()
        only = None
        if answer.shows == "runs" and budget is not None:
            window = self._settings.linked.window
            only = best_runs(
                state.read, scores, window=window, max_tokens=budget, count=self._count
            )
        by_paragraph = answer.shows == "paragraphs"
        return everything(
            state.read, scores, paragraphs=by_paragraph, is_heading=is_heading, only=only
        )

    def _cosines(
        self, states: Sequence[QueryState], candidates: Sequence[Sequence[CandidateSentence]]
    ) -> list[SentenceScoreTable]:
        """
        Return cosines of each query's sentences with its query; empty where no bi-encoder scores.
        """
        if not requirements(self._settings).sentence_vectors:
            return [{} for _ in states]
        if self._encoder is None:
            raise ModelError(f"evidence.scorer={self._settings.evidence.scorer} needs an encoder")
        texts = [sentence.text for found in candidates for sentence in found]
        vectors = self._encoder.encode_passages(texts).vectors
        scores: list[SentenceScoreTable] = []
        first = 0
        for state, found in zip(states, candidates, strict=True):
            last = first + len(found)
            scores.append(cosine_scores(state.unit_vector(), vectors[first:last], found))
            first = last
        return scores

    def _scores(
        self,
        state: QueryState,
        candidates: Sequence[CandidateSentence],
        cosines: SentenceScoreTable,
    ) -> SentenceScoreTable:
        match self._settings.evidence.scorer:
            case "order":
                return order_scores(candidates)
            case "lexical":
                return lexical_scores(state.question, candidates)
            case "bi-encoder":
                return cosines
            case "bm25":
                return self._bm25(state, candidates)
            case "fused":
                lexical = self._bm25(state, candidates)
                return rrf_sentence_scores([cosines, lexical], k=self._settings.evidence.rrf_k)
            case "cross-encoder":
                if self._reranker is None:
                    raise ModelError("evidence.scorer=cross-encoder needs a reranker")
                scores, notes = sentence_scores(self._reranker, state.question, candidates)
                state.notes += notes
                return scores
            case other:
                raise InvariantError(f"evidence.scorer={other} scores elsewhere")

    def _of_best_documents(
        self, state: QueryState, candidates: Sequence[CandidateSentence], scores: SentenceScoreTable
    ) -> list[CandidateSentence]:
        settings = self._settings.evidence
        kept = keep_documents(
            scores,
            best=settings.document_sentences,
            ratio=settings.document_ratio,
            at_most=settings.max_documents or len(scores),
        )
        state.note("documents", f"evidence is taken from {some_ids(kept) or 'no document'}")
        return [candidate for candidate in candidates if candidate.passage.doc_id in kept]

    def _bm25(
        self, state: QueryState, candidates: Sequence[CandidateSentence]
    ) -> SentenceScoreTable:
        bm25 = self._settings.bm25
        return bm25_sentence_scores(state.question, candidates, k1=bm25.k1, b=bm25.b)

    def _merits(
        self, state: QueryState, candidates: Sequence[CandidateSentence]
    ) -> dict[SentenceKey, Merit]:
        answer, longest = self._settings.answer, self._settings.evidence.max_sentence_words
        return merits(
            state.question,
            candidates,
            state.cosines,
            min_words=answer.min_words,
            max_words=min(longest, answer.max_sentence_words or longest),
        )

    def _choose(
        self,
        state: QueryState,
        kept: Sequence[CandidateSentence],
        scores: SentenceScoreTable,
        reasons: Reasons,
    ) -> None:
        """Take the best sentences, those with a defect of form a little later; note which."""
        at_most = self._settings.evidence.max_sentences
        ranked = best_first(kept, scores)[: HORIZON * at_most]
        merit = self._merits(state, ranked)
        # a learnt ranking weighs form itself
        chosen = ranked[:at_most] if self._ranking else by_merit(ranked, merit, at_most=at_most)
        taken = {candidate.key for candidate in chosen}
        for candidate in ranked[:at_most]:
            if candidate.key not in taken:
                why = ", ".join(merit[candidate.key].defects)
                what = f"{short_repr(candidate.text)} of {candidate.passage.doc_id}"
                state.note("evidence", f"passed over ({why}): {what}")
        state.evidence = as_evidence(chosen, scores, reasons)
        state.merits = {item.evidence_id: merit[item.key] for item in state.evidence}


def ranking_of(settings: PipelineSettings) -> SentenceRanking | None:
    """
    Return the weights that `evidence.scorer` names, if it is a learnt one.

    Raises:
        ConfigError: there are none, or they look at more than the scorer does.
    """
    scorer = settings.evidence.scorer
    if scorer not in PACKAGED_RANKINGS:
        return None
    name = settings.evidence.ranking or PACKAGED_RANKINGS[scorer]
    ranking = load_ranking(name)
    if scorer == "learnt-lexical" and (ranking.needs_encoder or ranking.needs_tokens):
        raise ConfigError(f"ranking {name} looks at vectors: set evidence.scorer=learnt")
    return ranking
