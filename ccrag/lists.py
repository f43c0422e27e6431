"""
The first lists of a query: from the engine's BM25, from the candidates' own statistics, or
unranked. One interface, so that the pipeline does not ask which.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.index import PAGE, Index
from ccrag.engine.search import Slot
from ccrag.errors import CcragError, EngineError, InputError
from ccrag.retrieval.lexical import CandidateBm25
from ccrag.types import JSON, Passage, PassageId, Query, QueryId, Ranking, Variant


@dataclass(frozen=True, slots=True)
class Ask:
    """One list that is wanted: a query in one wording."""

    query: Query
    variant: Variant
    texts: int = 0
    """How many of its best passages are wanted whole."""

    @property
    def stage(self) -> str:
        return f"bm25:{self.variant.name}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one `Ask`."""

    ranking: Ranking
    passages: tuple[Passage, ...] = ()
    """Best first, at most `Ask.texts`."""


class Lists(Protocol):
    """A source of first lists."""

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        """One reply or error per ask, in order. May keep what it read for later asks."""
        ...


def lists_of(settings: PipelineSettings, index: Index) -> Lists:
    """The source that `settings` name; make one per batch of queries."""
    if settings.retrieval.lists == "candidate-order":
        return CandidateOrder(index, settings)
    if settings.bm25.statistics == "candidates":
        return CandidateStatistics(index, settings)
    return EngineBm25(index, settings)


def request_bodies(settings: PipelineSettings, ask: Ask) -> list[JSON]:
    """
    The searches that `ask` needs, as they are sent.

    Raises:
        InputError: candidates in their order were asked for, but there is no candidate list.
    """
    candidates = ask.query.candidates
    depth = settings.retrieval.depth
    if settings.retrieval.lists == "candidate-order":
        if candidates.doc_ids is None:
            raise InputError(
                f"query {ask.query.query_id!r}: {settings.name} reads the candidates in their "
                "order, so it needs a candidate list; the whole index has none"
            )
        return [bodies.document_body(doc_id, depth=depth) for doc_id in candidates.doc_ids]
    if settings.bm25.statistics == "candidates":
        return [bodies.passages_body(candidates, size=PAGE)]
    body = bodies.bm25_body(
        ask.variant.text, candidates, depth=depth, title_weight=settings.bm25.title_weight
    )
    return [body, bodies.with_text(body, depth=ask.texts)] if ask.texts else [body]


class EngineBm25:
    """BM25 as the engine scores it: statistics of the whole index, one msearch for all asks."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        search_bodies = [body for ask in asks for body in request_bodies(self._settings, ask)]
        slots = iter(self._index.search(search_bodies))
        return [_reply(ask, next(slots), next(slots) if ask.texts else None) for ask in asks]


def _reply(ask: Ask, ranked: Slot, texts: Slot | None) -> Reply | CcragError:
    if isinstance(ranked, EngineError):
        return ranked
    ranking = hits.parse_ranking(ask.query, ask.stage, ranked)
    if texts is None:
        return Reply(ranking)
    if isinstance(texts, EngineError):
        return texts
    return Reply(ranking, tuple(hits.parse_passages(ask.query, texts)))


class CandidateStatistics:
    """BM25 with idf and average length over the query's own passages, computed here."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings
        self._scorers: dict[QueryId, tuple[CandidateBm25, dict[PassageId, Passage]]] = {}

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        return [self._rank_one(ask) for ask in asks]

    def _rank_one(self, ask: Ask) -> Reply | CcragError:
        try:
            scorer, passages = self._scorer(ask.query)
        except EngineError as error:
            return error
        ranking = scorer.rank(
            ask.query.query_id, ask.stage, ask.variant.text, depth=self._settings.retrieval.depth
        )
        best = tuple(passages[hit.passage_id] for hit in ranking.hits[: ask.texts])
        return Reply(ranking, best)

    def _scorer(self, query: Query) -> tuple[CandidateBm25, dict[PassageId, Passage]]:
        if query.query_id not in self._scorers:
            passages = self._index.candidate_passages(query)
            bm25 = self._settings.bm25
            scorer = CandidateBm25(passages, k1=bm25.k1, b=bm25.b, title_weight=bm25.title_weight)
            by_id = {passage.passage_id: passage for passage in passages}
            self._scorers[query.query_id] = (scorer, by_id)
        return self._scorers[query.query_id]


class CandidateOrder:
    """No ranking: each candidate's first passages, documents in the order of the candidate list."""

    def __init__(self, index: Index, settings: PipelineSettings) -> None:
        self._index = index
        self._settings = settings

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        return [self._rank_one(ask) for ask in asks]

    def _rank_one(self, ask: Ask) -> Reply | CcragError:
        try:
            search_bodies = request_bodies(self._settings, ask)
        except InputError as error:
            return error
        responses = []
        for slot in self._index.search(search_bodies):
            if isinstance(slot, EngineError):
                return slot
            responses.append(slot)
        return Reply(hits.parse_order(ask.query, "candidate-order", responses))
