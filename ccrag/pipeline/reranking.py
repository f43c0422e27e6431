"""The shortlist in a new order: by priors, the published code's terms, a model, or signals."""

from collections.abc import Sequence
from typing import Protocol

from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.llm.client import Llm
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.models.token_vectors import TokenEncoder
from ccrag.pipeline.listwise_reranking import ListwiseRerankStage
from ccrag.pipeline.model_scores import scores_by_id
from ccrag.pipeline.signal_reranking import SignalRerankStage
from ccrag.pipeline.state import QueryState
from ccrag.retrieval.model_rerank import add_model_scores, rerank_by_scores
from ccrag.retrieval.rerank import rerank_paper, rerank_published_code, with_tail
from ccrag.text.markup import text_of_passages
from ccrag.types import PassageId, Ranking


class RerankStage(Protocol):
    """Reorders shortlists."""

    def rerank(self, states: Sequence[QueryState]) -> None:
        """Give each query, which has the texts of its shortlist, its reranked order."""
        ...


def make_rerank_stage(
    settings: PipelineSettings,
    reranker: Reranker | None,
    llm: Llm | None,
    *,
    max_edges: int,
    encoder: Encoder | None = None,
    tokens: TokenEncoder | None = None,
) -> RerankStage:
    """
    Return what `rerank.method` names.

    Raises:
        ModelError: it asks a language model and none is given.
        ConfigError: no such prompt.
    """
    if settings.rerank.method == "listwise":
        return ListwiseRerankStage(settings, llm)
    if settings.rerank.method == "signals":
        return SignalRerankStage(settings, encoder, tokens)
    return ScoreRerankStage(settings, reranker, max_edges=max_edges)


class ScoreRerankStage:
    """Reorder each query's shortlist by new scores; what lies below keeps its place."""

    def __init__(
        self, settings: PipelineSettings, reranker: Reranker | None, *, max_edges: int
    ) -> None:
        self._settings = settings
        self._reranker = reranker
        self._max_edges = max_edges

    def rerank(self, states: Sequence[QueryState]) -> None:
        """Give each query its reranked order; nothing with `rerank.method=none`."""
        if self._settings.rerank.method == "none":
            return
        for state in states:
            fused = state.current()
            shortlist = fused.top(self._settings.rerank.shortlist)
            state.now_ranked(with_tail(self._reranked(state, shortlist), fused))

    def _reranked(self, state: QueryState, shortlist: Ranking) -> Ranking:
        match self._settings.rerank.method:
            case "cross-encoder":
                return rerank_by_scores(shortlist, self._model_scores(state, shortlist))
            case "published-code":
                return self._as_published(state, shortlist)
            case _:
                return rerank_paper(
                    shortlist,
                    passages=state.passages,
                    query_text=state.question,
                    max_edges=self._max_edges,
                    citation_weight=self._settings.rerank.citation_weight,
                    temporal_weight=self._settings.rerank.temporal_weight,
                )

    def _as_published(self, state: QueryState, shortlist: Ranking) -> Ranking:
        settings = self._settings.rerank
        coded = rerank_published_code(
            shortlist,
            passages=state.passages,
            query_text=state.question,
            max_edges=self._max_edges,
            coverage_weight=settings.code_coverage,
            title_weight=settings.code_title,
            phrase_weight=settings.code_phrase,
            temporal_weight=settings.code_temporal,
            citation_weight=settings.code_citation,
        )
        if not settings.code_model:
            return coded
        return add_model_scores(coded, self._model_scores(state, coded), weight=settings.code_model)

    def _model_scores(self, state: QueryState, shortlist: Ranking) -> dict[PassageId, float]:
        if self._reranker is None:
            raise ModelError(f"pipeline {self._settings.name} needs a cross-encoder")
        text_of = text_of_passages(is_plain=self._settings.chunking.plain)
        texts = {hit.passage_id: text_of(state.passages[hit.passage_id]) for hit in shortlist}
        scores, notes = scores_by_id(self._reranker, state.question, texts)
        state.notes += notes
        return scores
