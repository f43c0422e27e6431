"""
The first lists of a query: from the engine, from the candidates' own statistics, from vectors made
on demand, or unranked. One interface, so that the pipeline does not ask which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.bodies import SearchVector
from ccrag.engine.index import Index
from ccrag.engine.pages import PAGE
from ccrag.engine.search import Slot
from ccrag.errors import CcragError, EngineError, InputError, InvariantError, of_query
from ccrag.models.base import Encoder
from ccrag.retrieval.bm25 import CandidateBm25
from ccrag.text.analysis import content_parts
from ccrag.text.markup import own_text, passage_searched, query_parts, text_of_passages
from ccrag.types import (
    JSON,
    Hit,
    Passage,
    PassageId,
    Query,
    QueryId,
    Ranking,
    Variant,
    WeightedText,
)

ListSource = Literal["bm25", "dense", "outline", "candidate-order"]


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One list that is wanted: a query in one variant, from one source."""

    query: Query
    variant: Variant
    source: ListSource = "bm25"
    vector: SearchVector | None = None
    """The variant's, for a dense list."""
    texts: int = 0
    """How many of its best passages are wanted whole."""

    @property
    def stage(self) -> str:
        """Return what the ranking is called, e.g. `bm25:keywords`."""
        if self.source == "candidate-order":
            return self.source
        return f"{self.source}:{self.variant.name}"

    def unit_vector(self) -> SearchVector:
        """
        Return the vector a dense list needs.

        Raises:
            InvariantError: nobody encoded the variant.
        """
        if self.vector is None:
            raise InvariantError(f"query {self.query.query_id!r}: a dense list without a vector")
        return self.vector


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What came back for one `RetrievalRequest`."""

    ranking: Ranking
    passages: tuple[Passage, ...] = ()
    """Best first, at most `RetrievalRequest.texts`."""
    notes: tuple[str, ...] = ()


class Retriever(Protocol):
    """A source of first lists."""

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        """Return one reply or error per ask, in order. May keep what it read for later asks."""
        ...


def make_retriever(settings: PipelineSettings, index: Index, encoder: Encoder | None) -> Retriever:
    """Return what `settings` name; make one per batch of queries."""
    engine = EngineRetriever(index, settings)
    bm25: Retriever = engine
    if settings.bm25.statistics == "candidates":
        bm25 = CandidateBm25Retriever(index, settings)
    dense: Retriever = engine
    if settings.vectors.mode == "on-demand" and encoder is not None:
        dense = OnDemandRetriever(index, settings, encoder, engine)
    return RetrieverBySource(
        {
            "bm25": bm25,
            "dense": dense,
            "outline": engine,
            "candidate-order": CandidateOrderRetriever(index, settings),
        }
    )


def search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    """
    Return the searches that `request` needs, as they are sent.

    Raises:
        InputError: candidates in their order were asked for, but there is no candidate list.
    """
    candidates = request.query.candidates
    depth = settings.retrieval.depth
    if request.source == "candidate-order":
        if candidates.doc_ids is None:
            raise InputError(
                f"{of_query(request.query.query_id)}{settings.name} reads the candidates in their "
                "order, so it needs a candidate list; the whole index has none"
            )
        return [bodies.document_body(doc_id, depth=depth) for doc_id in candidates.doc_ids]
    if request.source == "dense":
        return [_dense_body(settings, request)]
    if request.source == "outline":
        parts = query_parts(request.variant.searched)
        return [bodies.bm25_body(parts, candidates, depth=depth, title_weight=0, field="outline")]
    if settings.bm25.statistics == "candidates":
        return [bodies.passages_body(candidates, size=PAGE)]
    body = bodies.bm25_body(
        _searched_parts(settings, request),
        candidates,
        depth=depth,
        title_weight=settings.bm25.title_weight,
        field="searched" if settings.chunking.plain else "text",
    )
    return [body, bodies.with_text(body, depth=request.texts)] if request.texts else [body]


def _searched_parts(
    settings: PipelineSettings, request: RetrievalRequest
) -> Sequence[WeightedText]:
    """Return what BM25 searches for, whichever statistics it scores by."""
    if settings.chunking.plain:
        return query_parts(request.variant.searched)
    if settings.bm25.content_words:
        return content_parts(request.variant.searched)
    return request.variant.searched


def _dense_body(settings: PipelineSettings, request: RetrievalRequest) -> JSON:
    candidates, depth = request.query.candidates, settings.retrieval.depth
    match settings.vectors.mode:
        case "exact":
            return bodies.exact_body(request.unit_vector(), candidates, depth=depth)
        case "hnsw":
            ef_search = settings.vectors.ef_search
            return bodies.hnsw_body(
                request.unit_vector(), candidates, depth=depth, ef_search=ef_search
            )
        case _:
            return bodies.passages_body(candidates, size=settings.vectors.on_demand_passages + 1)


class RetrieverBySource:
    """Each ask to the source it names; asks of one source travel together."""

    def __init__(self, by_source: Mapping[ListSource, Retriever]) -> None:
        self._by_source = by_source

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        places: dict[int, list[int]] = {}
        for at, request in enumerate(requests):
            places.setdefault(id(self._by_source[request.source]), []).append(at)
        results: dict[int, RetrievalResult | CcragError] = {}
        for shared in places.values():
            retriever = self._by_source[requests[shared[0]].source]
            results.update(
                zip(shared, retriever.rank([requests[at] for at in shared]), strict=True)
            )
        return [results[at] for at in range(len(requests))]


class EngineRetriever:
    """BM25 and dense lists as the engine scores them: one msearch for all asks."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        request_bodies = [
            body for request in requests for body in search_bodies(self._settings, request)
        ]
        slots = iter(self._index.search(request_bodies))
        return [
            _result(request, next(slots), next(slots) if request.texts else None)
            for request in requests
        ]


def _result(
    request: RetrievalRequest, ranked: Slot, texts: Slot | None
) -> RetrievalResult | CcragError:
    if isinstance(ranked, EngineError):
        return ranked
    ranking = hits.parse_ranking(request.query, request.stage, ranked)
    if texts is None:
        return RetrievalResult(ranking)
    if isinstance(texts, EngineError):
        return texts
    return RetrievalResult(ranking, tuple(hits.parse_passages(request.query, texts)))


class CandidateBm25Retriever:
    """BM25 with idf and average length over the query's own passages, computed here."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings
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


class OnDemandRetriever:
    """Dense lists from vectors made (and cached) when asked for: nothing is stored in the index."""

    def __init__(
        self, index: Index, settings: PipelineSettings, encoder: Encoder, engine: EngineRetriever
    ) -> None:
        self._index = index
        self._settings = settings
        self._encoder = encoder
        self._engine = engine

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        return [self._rank_one(request) for request in requests]

    def _rank_one(self, request: RetrievalRequest) -> RetrievalResult | CcragError:
        try:
            passages, notes = self._passages(request)
        except CcragError as error:
            return error
        if not passages:
            return RetrievalResult(Ranking.of(request.query.query_id, request.stage, ()))
        text_of = text_of_passages(is_plain=self._settings.chunking.plain)
        vectors = self._encoder.encode_passages([text_of(p) for p in passages]).vectors
        dots = (vectors @ request.unit_vector()).tolist()
        scored = [
            Hit(passage.passage_id, passage.doc_id, engine_score(dot))
            for passage, dot in zip(passages, dots, strict=True)
        ]
        ranking = Ranking.of(request.query.query_id, request.stage, scored)
        return RetrievalResult(ranking.top(self._settings.retrieval.depth), notes=notes)

    def _passages(self, request: RetrievalRequest) -> tuple[list[Passage], tuple[str, ...]]:
        """
        Return all candidate passages if they are few enough, else those of the query's BM25 list.
        """
        bound = self._settings.vectors.on_demand_passages
        passages = self._index.candidate_passages(request.query, at_most=bound + 1)
        if len(passages) <= bound:
            return passages, ()
        [result] = self._engine.rank([RetrievalRequest(request.query, request.variant)])
        if isinstance(result, CcragError):
            raise result
        found = self._index.passages(hit.passage_id for hit in result.ranking)
        note = f"more than {bound} candidate passages: the BM25 list's {len(found)} were encoded"
        return list(found.values()), (note,)


def engine_score(dot: float) -> float:
    """Return the engine's score of a dot product (space `innerproduct`): positive, same order."""
    return 1 + dot if dot > 0 else 1 / (1 - dot)


def dot_of(score: float) -> float:
    """Return the dot product of an engine's score: `engine_score` backwards."""
    return score - 1 if score > 1 else 1 - 1 / score


class CandidateOrderRetriever:
    """No ranking: each candidate's first passages, documents in the order of the candidate list."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        return [self._rank_one(request) for request in requests]

    def _rank_one(self, request: RetrievalRequest) -> RetrievalResult | CcragError:
        try:
            request_bodies = search_bodies(self._settings, request)
        except InputError as error:
            return error
        responses = []
        for slot in self._index.search(request_bodies):
            if isinstance(slot, EngineError):
                return slot
            responses.append(slot)
        return RetrievalResult(hits.parse_order(request.query, request.stage, responses))
