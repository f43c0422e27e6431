"""The list without a ranking: each candidate's first passages, in the order of the candidates."""

from collections.abc import Sequence

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.errors import CcragError, EngineError, InputError, of_query
from ccrag.pipeline.retrievers.base import (
    ListKind,
    RetrievalRequest,
    RetrievalResult,
    RetrieverInputs,
)
from ccrag.types import JSON


def _search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    doc_ids = request.query.candidates.doc_ids
    if doc_ids is None:
        raise InputError(
            f"{of_query(request.query.query_id)}{settings.name} reads the candidates in their "
            "order, so it needs a candidate list; the whole index has none"
        )
    return [bodies.document_body(doc_id, depth=settings.retrieval.depth) for doc_id in doc_ids]


class CandidateOrderRetriever:
    """Rank passages as the candidate list has their documents."""

    def __init__(self, inputs: RetrieverInputs) -> None:
        self._index = inputs.index
        self._settings = inputs.settings

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        return [self._rank_one(request) for request in requests]

    def _rank_one(self, request: RetrievalRequest) -> RetrievalResult | CcragError:
        try:
            search_bodies = _search_bodies(self._settings, request)
        except InputError as error:
            return error
        responses = []
        for slot in self._index.search(search_bodies):
            if isinstance(slot, EngineError):
                return slot
            responses.append(slot)
        return RetrievalResult(hits.parse_order(request.query, request.stage, responses))


CANDIDATE_ORDER = ListKind(_search_bodies, CandidateOrderRetriever)
