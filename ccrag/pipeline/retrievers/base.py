"""The request for one list, its result, and the retrievers that every kind of list is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ccrag.config import PipelineSettings
from ccrag.config.stages import ListName
from ccrag.engine import hits
from ccrag.engine.bodies import SearchVector
from ccrag.engine.index import Index
from ccrag.engine.search import Slot
from ccrag.errors import CcragError, EngineError, InvariantError
from ccrag.models.base import Encoder
from ccrag.types import JSON, Passage, Query, Ranking, Variant, ranking_name


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One list that is wanted: a query in one variant, from one kind of list."""

    query: Query
    variant: Variant
    source: ListName = "bm25"
    vector: SearchVector | None = None
    """The variant's vector, `(dim,)` float32 of unit length, where the list compares vectors."""
    texts: int = 0
    """The number of its best passages that are wanted whole."""

    @property
    def stage(self) -> str:
        """Return the name of the ranking, e.g. `bm25:keywords`."""
        return ranking_name(self.source, self.variant.name)

    def unit_vector(self) -> SearchVector:
        """
        Return the vector that a dense list needs.

        Raises:
            InvariantError: the variant was not encoded.
        """
        if self.vector is None:
            raise InvariantError(f"query {self.query.query_id!r}: a dense list without a vector")
        return self.vector


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The answer to one `RetrievalRequest`."""

    ranking: Ranking
    passages: tuple[Passage, ...] = ()
    """Best first, at most `RetrievalRequest.texts`."""
    notes: tuple[str, ...] = ()


class Retriever(Protocol):
    """A source of first lists."""

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        """Return one result or error per request, in order; may cache what it read for later."""
        ...


SearchBodies = Callable[[PipelineSettings, RetrievalRequest], list[JSON]]
"""Returns the searches that a request needs, as they are sent to the engine."""


@dataclass(frozen=True)
class RetrieverInputs:
    """The index, settings and models that retrievers are made from, for one batch of queries."""

    index: Index
    settings: PipelineSettings
    encoder: Encoder | None
    search_bodies: SearchBodies

    @cached_property
    def engine(self) -> "EngineRetriever":
        """Return the engine's own ranking; shared, so that its lists travel in one request."""
        return EngineRetriever(self)


@dataclass(frozen=True, slots=True)
class ListKind:
    """A kind of list: the searches it sends, and the retriever that makes lists of the replies."""

    search_bodies: SearchBodies
    make: Callable[[RetrieverInputs], Retriever]


class EngineRetriever:
    """Rank as the engine scores: one msearch for all requests."""

    def __init__(self, inputs: RetrieverInputs) -> None:
        self._inputs = inputs

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        inputs = self._inputs
        bodies = [b for request in requests for b in inputs.search_bodies(inputs.settings, request)]
        slots = iter(inputs.index.search(bodies))
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
