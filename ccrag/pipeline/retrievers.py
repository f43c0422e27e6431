"""
The first lists of a query: from the engine, from the candidates' own statistics, from vectors made
on demand, or unranked. One interface, so that the pipeline does not ask which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.bodies import Vector
from ccrag.engine.index import Index
from ccrag.engine.pages import PAGE
from ccrag.engine.search import Slot
from ccrag.errors import CcragError, EngineError, InputError, InvariantError, of_query
from ccrag.models.base import Encoder
from ccrag.retrieval.bm25 import CandidateBm25
from ccrag.text.analysis import content_parts
from ccrag.text.markup import own_text, passage_searched, query_parts, text_of_passages
from ccrag.types import JSON, Hit, Part, Passage, PassageId, Query, QueryId, Ranking, Variant

Source = Literal["bm25", "dense", "outline", "candidate-order"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One list that is wanted: a query in one wording, from one source."""

    query: Query
    variant: Variant
    source: Source = "bm25"
    vector: Vector | None = None
    """The wording's, for a dense list."""
    texts: int = 0
    """How many of its best passages are wanted whole."""

    @property
    def stage(self) -> str:
        """Return what the ranking is called, e.g. `bm25:keywords`."""
        if self.source == "candidate-order":
            return self.source
        return f"{self.source}:{self.variant.name}"

    def unit_vector(self) -> Vector:
        """
        Return the vector a dense list needs.

        Raises:
            InvariantError: nobody encoded the wording.
        """
        if self.vector is None:
            raise InvariantError(f"query {self.query.query_id!r}: a dense list without a vector")
        return self.vector


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one `Ask`."""

    ranking: Ranking
    passages: tuple[Passage, ...] = ()
    """Best first, at most `Ask.texts`."""
    notes: tuple[str, ...] = ()


class Lists(Protocol):
    """A source of first lists."""

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        """Return one reply or error per ask, in order. May keep what it read for later asks."""
        ...


def lists_of(settings: PipelineSettings, index: Index, encoder: Encoder | None) -> Lists:
    """Return what `settings` name; make one per batch of queries."""
    engine = EngineLists(index, settings)
    bm25: Lists = engine
    if settings.bm25.statistics == "candidates":
        bm25 = CandidateStatistics(index, settings)
    dense: Lists = engine
    if settings.vectors.mode == "on-demand" and encoder is not None:
        dense = OnDemandVectors(index, settings, encoder, engine)
    return Sources(
        {
            "bm25": bm25,
            "dense": dense,
            "outline": engine,
            "candidate-order": CandidateOrder(index, settings),
        }
    )


def request_bodies(settings: PipelineSettings, ask: Ask) -> list[JSON]:
    """
    Return the searches that `ask` needs, as they are sent.

    Raises:
        InputError: candidates in their order were asked for, but there is no candidate list.
    """
    candidates = ask.query.candidates
    depth = settings.retrieval.depth
    if ask.source == "candidate-order":
        if candidates.doc_ids is None:
            raise InputError(
                f"{of_query(ask.query.query_id)}{settings.name} reads the candidates in their "
                "order, so it needs a candidate list; the whole index has none"
            )
        return [bodies.document_body(doc_id, depth=depth) for doc_id in candidates.doc_ids]
    if ask.source == "dense":
        return [_dense_body(settings, ask)]
    if ask.source == "outline":
        parts = query_parts(ask.variant.searched)
        return [bodies.bm25_body(parts, candidates, depth=depth, title_weight=0, field="outline")]
    if settings.bm25.statistics == "candidates":
        return [bodies.passages_body(candidates, size=PAGE)]
    body = bodies.bm25_body(
        _searched_parts(settings, ask),
        candidates,
        depth=depth,
        title_weight=settings.bm25.title_weight,
        field="searched" if settings.chunking.plain else "text",
    )
    return [body, bodies.with_text(body, depth=ask.texts)] if ask.texts else [body]


def _searched_parts(settings: PipelineSettings, ask: Ask) -> Sequence[Part]:
    """Return what BM25 searches for, whichever statistics it scores by."""
    if settings.chunking.plain:
        return query_parts(ask.variant.searched)
    if settings.bm25.content_words:
        return content_parts(ask.variant.searched)
    return ask.variant.searched


def _dense_body(settings: PipelineSettings, ask: Ask) -> JSON:
    candidates, depth = ask.query.candidates, settings.retrieval.depth
    match settings.vectors.mode:
        case "exact":
            return bodies.exact_body(ask.unit_vector(), candidates, depth=depth)
        case "hnsw":
            ef_search = settings.vectors.ef_search
            return bodies.hnsw_body(ask.unit_vector(), candidates, depth=depth, ef_search=ef_search)
        case _:
            return bodies.passages_body(candidates, size=settings.vectors.on_demand_passages + 1)


class Sources:
    """Each ask to the source it names; asks of one source travel together."""

    def __init__(self, by_source: Mapping[Source, Lists]) -> None:
        self._by_source = by_source

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        places: dict[int, list[int]] = {}
        for at, ask in enumerate(asks):
            places.setdefault(id(self._by_source[ask.source]), []).append(at)
        replies: dict[int, Reply | CcragError] = {}
        for shared in places.values():
            lists = self._by_source[asks[shared[0]].source]
            replies.update(zip(shared, lists.rank([asks[at] for at in shared]), strict=True))
        return [replies[at] for at in range(len(asks))]


class EngineLists:
    """BM25 and dense lists as the engine scores them: one msearch for all asks."""

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
        parts = _searched_parts(self._settings, ask)
        depth = self._settings.retrieval.depth
        ranking = scorer.rank(ask.query.query_id, ask.stage, parts, depth=depth)
        best = tuple(passages[hit.passage_id] for hit in ranking.hits[: ask.texts])
        return Reply(ranking, best)

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


class OnDemandVectors:
    """Dense lists from vectors made (and cached) when asked for: nothing is stored in the index."""

    def __init__(
        self, index: Index, settings: PipelineSettings, encoder: Encoder, engine: EngineLists
    ) -> None:
        self._index = index
        self._settings = settings
        self._encoder = encoder
        self._engine = engine

    def rank(self, asks: Sequence[Ask]) -> list[Reply | CcragError]:
        return [self._rank_one(ask) for ask in asks]

    def _rank_one(self, ask: Ask) -> Reply | CcragError:
        try:
            passages, notes = self._passages(ask)
        except CcragError as error:
            return error
        if not passages:
            return Reply(Ranking.of(ask.query.query_id, ask.stage, ()))
        text_of = text_of_passages(is_plain=self._settings.chunking.plain)
        vectors = self._encoder.encode_passages([text_of(p) for p in passages]).vectors
        dots = (vectors @ ask.unit_vector()).tolist()
        scored = [
            Hit(passage.passage_id, passage.doc_id, engine_score(dot))
            for passage, dot in zip(passages, dots, strict=True)
        ]
        ranking = Ranking.of(ask.query.query_id, ask.stage, scored)
        return Reply(ranking.top(self._settings.retrieval.depth), notes=notes)

    def _passages(self, ask: Ask) -> tuple[list[Passage], tuple[str, ...]]:
        """
        Return all candidate passages if they are few enough, else those of the query's BM25 list.
        """
        bound = self._settings.vectors.on_demand_passages
        passages = self._index.candidate_passages(ask.query, at_most=bound + 1)
        if len(passages) <= bound:
            return passages, ()
        [reply] = self._engine.rank([Ask(ask.query, ask.variant)])
        if isinstance(reply, CcragError):
            raise reply
        found = self._index.passages(hit.passage_id for hit in reply.ranking)
        note = f"more than {bound} candidate passages: the BM25 list's {len(found)} were encoded"
        return list(found.values()), (note,)


def engine_score(dot: float) -> float:
    """Return the engine's score of a dot product (space `innerproduct`): positive, same order."""
    return 1 + dot if dot > 0 else 1 / (1 - dot)


def dot_of(score: float) -> float:
    """Return the dot product of an engine's score: `engine_score` backwards."""
    return score - 1 if score > 1 else 1 - 1 / score


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
        return Reply(hits.parse_order(ask.query, ask.stage, responses))
