"""
The kinds of first lists. A new one is a file here, a line in `LIST_KINDS`, and its name in
`config.stages.ListName`.
"""

from collections.abc import Sequence

from ccrag.config import PipelineSettings
from ccrag.config.stages import ListName
from ccrag.engine.index import Index
from ccrag.errors import CcragError
from ccrag.models.base import Encoder
from ccrag.pipeline.retrievers.base import (
    ListKind,
    RetrievalRequest,
    RetrievalResult,
    Retriever,
    RetrieverInputs,
)
from ccrag.pipeline.retrievers.bm25 import BM25
from ccrag.pipeline.retrievers.candidate_order import CANDIDATE_ORDER
from ccrag.pipeline.retrievers.dense import DENSE
from ccrag.pipeline.retrievers.outline import OUTLINE
from ccrag.types import JSON

LIST_KINDS: dict[ListName, ListKind] = {
    "bm25": BM25,
    "dense": DENSE,
    "outline": OUTLINE,
    "candidate-order": CANDIDATE_ORDER,
}


def search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    """
    Return the searches that `request` needs, as they are sent.

    Raises:
        InputError: candidates in their order were asked for, but there is no candidate list.
    """
    return LIST_KINDS[request.source].search_bodies(settings, request)


def make_retriever(settings: PipelineSettings, index: Index, encoder: Encoder | None) -> Retriever:
    """Return the retriever of the lists that `settings` name; make one per batch of queries."""
    return RetrieverBySource(RetrieverInputs(index, settings, encoder, search_bodies))


class RetrieverBySource:
    """Send each request to the retriever of its kind; requests to one retriever travel together."""

    def __init__(self, inputs: RetrieverInputs) -> None:
        self._by_source = {source: kind.make(inputs) for source, kind in LIST_KINDS.items()}

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        positions: dict[int, list[int]] = {}
        for at, request in enumerate(requests):
            positions.setdefault(id(self._by_source[request.source]), []).append(at)
        results: dict[int, RetrievalResult | CcragError] = {}
        for shared in positions.values():
            retriever = self._by_source[requests[shared[0]].source]
            ranked = retriever.rank([requests[at] for at in shared])
            results.update(zip(shared, ranked, strict=True))
        return [results[at] for at in range(len(requests))]
