"""BM25 lists: scored by the engine, or here by the statistics of the query's own candidates."""

from collections.abc import Sequence

from ccrag.config import PipelineSettings
from ccrag.engine import bodies
from ccrag.engine.pages import PAGE
from ccrag.errors import CcragError, EngineError
from ccrag.pipeline.retrievers.base import (
    ListKind,
    RetrievalRequest,
    RetrievalResult,
    Retriever,
    RetrieverInputs,
)
from ccrag.retrieval.bm25 import CandidateBm25
from ccrag.text.analysis import content_parts
from ccrag.text.markup import own_text, passage_searched, query_parts
from ccrag.types import JSON, Passage, PassageId, Query, QueryId, WeightedText


def _search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    candidates = request.query.candidates
    if settings.bm25.statistics == "candidates":
        return [bodies.passages_body(candidates, size=PAGE)]
    body = bodies.bm25_body(
        _searched_parts(settings, request),
        candidates,
        depth=settings.retrieval.depth,
        title_weight=settings.bm25.title_weight,
        field="searched" if settings.chunking.plain else "text",
    )
    return [body, bodies.with_text(body, depth=request.texts)] if request.texts else [body]


def _searched_parts(
    settings: PipelineSettings, request: RetrievalRequest
) -> Sequence[WeightedText]:
    """Return the texts that BM25 searches for, whichever statistics it scores by."""
    if settings.chunking.plain:
        return query_parts(request.variant.searched)
    if settings.bm25.content_words:
        return content_parts(request.variant.searched)
    return request.variant.searched


def _make(inputs: RetrieverInputs) -> Retriever:
    if inputs.settings.bm25.statistics == "candidates":
        return CandidateBm25Retriever(inputs)
    return inputs.engine


BM25 = ListKind(_search_bodies, _make)


class CandidateBm25Retriever:
    """Score by BM25 with idf and average length over the query's own passages."""

    def __init__(self, inputs: RetrieverInputs) -> None:
        self._index = inputs.index
        self._settings = inputs.settings
        self._scorers: dict[QueryId, tuple[CandidateBm25, dict[PassageId, Passage]]] = {}

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        return [self._rank_one(request) for request in requests]

    def _rank_one(self, request: RetrievalRequest) -> RetrievalResult | CcragError:
        try:
            scorer, passages = self._scorer(request.query)
        except EngineError as error:
            return error
        parts = _searched_parts(self._settings, request)
        depth = self._settings.retrieval.depth
        ranking = scorer.rank(request.query.query_id, request.stage, parts, depth=depth)
        best = tuple(passages[hit.passage_id] for hit in ranking.hits[: request.texts])
        return RetrievalResult(ranking, best)

    def _scorer(self, query: Query) -> tuple[CandidateBm25, dict[PassageId, Passage]]:
        """Return the query's passages, indexed once for all its variants."""
        if query.query_id not in self._scorers:
            passages = self._index.candidate_passages(query)
            bm25 = self._settings.bm25
            scorer = CandidateBm25(
                passages,
                k1=bm25.k1,
                b=bm25.b,
                title_weight=bm25.title_weight,
                text_of=passage_searched if self._settings.chunking.plain else own_text,
            )
            by_id = {passage.passage_id: passage for passage in passages}
            self._scorers[query.query_id] = (scorer, by_id)
        return self._scorers[query.query_id]
