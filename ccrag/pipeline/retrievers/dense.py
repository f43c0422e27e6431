"""Dense lists: by vectors stored in the index, or made (and cached) when a query asks for them."""

from collections.abc import Sequence

from ccrag.config import PipelineSettings
from ccrag.engine import bodies
from ccrag.errors import CcragError
from ccrag.models.base import Encoder
from ccrag.pipeline.retrievers.base import (
    ListKind,
    RetrievalRequest,
    RetrievalResult,
    Retriever,
    RetrieverInputs,
)
from ccrag.text.markup import text_of_passages
from ccrag.types import JSON, Hit, Passage, Ranking


def _search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    candidates, depth, vectors = (
        request.query.candidates,
        settings.retrieval.depth,
        settings.vectors,
    )
    match vectors.mode:
        case "exact":
            return [bodies.exact_body(request.unit_vector(), candidates, depth=depth)]
        case "hnsw":
            return [
                bodies.hnsw_body(
                    request.unit_vector(), candidates, depth=depth, ef_search=vectors.ef_search
                )
            ]
        case _:
            # one more than may be encoded, so that too many are noticed
            return [bodies.passages_body(candidates, size=vectors.on_demand_passages + 1)]


def _make(inputs: RetrieverInputs) -> Retriever:
    if inputs.settings.vectors.mode == "on-demand" and inputs.encoder is not None:
        return OnDemandRetriever(inputs, inputs.encoder)
    return inputs.engine


DENSE = ListKind(_search_bodies, _make)


class OnDemandRetriever:
    """Rank by vectors that are made when asked for: nothing is stored in the index."""

    def __init__(self, inputs: RetrieverInputs, encoder: Encoder) -> None:
        self._index = inputs.index
        self._settings = inputs.settings
        self._engine = inputs.engine
        self._encoder = encoder

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
