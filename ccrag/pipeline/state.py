"""One query in the pipeline: what the stages have found so far, and what it becomes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ccrag.answering.merit import Merit
from ccrag.errors import CcragError, InvariantError
from ccrag.types import (
    Answer,
    Answerability,
    Evidence,
    Hit,
    ModelCall,
    Note,
    Passage,
    PassageId,
    Query,
    QueryId,
    Ranking,
    Result,
    SentenceKey,
    Trace,
    Unit,
    Variant,
)

QueryVector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Failure:
    """A query that got no answer, and why."""

    query_id: QueryId
    error: CcragError


@dataclass(slots=True)
class QueryState:
    """
    Hold what the stages have found for one query; each stage adds its part.

    A stage reads only what stages before it gave. Once `error` is set, no further stage runs for
    the query.
    """

    query: Query
    """The query; the stage `candidates` may leave out documents that the index does not hold."""

    # given by `variants`
    keywords: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()
    """Variants of a dialogue's question by a language model, if it was asked for any."""
    question: str = ""
    """The variant that reranking, evidence and answer take for the question."""
    variants: tuple[Variant, ...] = ()
    """Variants with a BM25 list; feedback's, once it is made, is the last."""
    dense_variants: tuple[Variant, ...] = ()

    # given by `encode`
    vectors: dict[str, QueryVector] = field(default_factory=dict)
    """Vectors of the variants by name: `(dim,)` float32 of unit length."""
    vector: QueryVector | None = None
    """The vector of `question`, of the same form."""

    # given by `lists` and `feedback`
    lists: list[Ranking] = field(default_factory=list)
    """First lists, in the order of `retrieval.lists` and of the variants."""
    best_texts: tuple[Passage, ...] = ()
    """The best passages of the list `bm25:original`, for feedback."""

    # given by `fusion`, `texts` and `rerank`
    ranking: Ranking | None = None
    """The current order: fused, then reranked."""
    later: list[Ranking] = field(default_factory=list)
    """Rankings made from the lists, in the order they were made."""
    passages: dict[PassageId, Passage] = field(default_factory=dict)
    """The passages whose text was fetched, by id."""

    # given by `select` and `neighbours`
    selected: tuple[Hit, ...] = ()
    read: tuple[Passage, ...] = ()
    """Passages the answer is read from, neighbours included."""
    units: tuple[Unit, ...] = ()
    """The units of `read`, best first, where units are read; only parts that are read."""

    # given by `evidence`
    evidence: tuple[Evidence, ...] = ()
    merits: dict[str, Merit] = field(default_factory=dict)
    """The points for and against each piece of evidence, by its id."""
    cosines: dict[SentenceKey, float] = field(default_factory=dict)
    """Cosines of the considered sentences with the question, where an encoder compared them."""

    # given by `answerability` and `answer`
    answerability: Answerability | None = None
    answer: Answer | None = None

    # added by every stage
    notes: list[Note] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    """Calls to language models, in the order they were made."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage, its share of the batch's."""
    error: CcragError | None = None

    @property
    def query_id(self) -> QueryId:
        return self.query.query_id

    def unit_vector(self) -> QueryVector:
        """
        Return the question's vector.

        Raises:
            InvariantError: it was not encoded.
        """
        if self.vector is None:
            raise InvariantError(f"query {self.query_id!r} has no vector yet")
        return self.vector

    def note(self, stage: str, message: str) -> None:
        """Keep something the user should be able to see about this query."""
        self.notes.append(Note(stage, message))

    def now_ranked(self, ranking: Ranking) -> None:
        """Make `ranking` the current order and keep it for the trace."""
        self.ranking = ranking
        self.later.append(ranking)

    def current(self) -> Ranking:
        """
        Return the current order.

        Raises:
            InvariantError: no stage has made one yet.
        """
        if self.ranking is None:
            raise InvariantError(f"query {self.query_id!r} has no ranking yet")
        return self.ranking

    def outcome(self) -> Result | Failure:
        """Return what became of the query."""
        if self.error is not None:
            return Failure(self.query_id, self.error)
        if self.answer is None:
            raise InvariantError(f"query {self.query_id!r} has neither an answer nor an error")
        return Result(
            query=self.query,
            answer=self.answer,
            ranking=self.current(),
            read=tuple(passage.passage_id for passage in self.read),
            passages=self.passages,
            trace=Trace(
                tuple(dict.fromkeys((*self.variants, *self.dense_variants))),
                (*self.lists, *self.later),
                tuple(self.notes),
                dict(self.seconds),
                tuple(self.calls),
                self.answerability,
            ),
            selected=tuple(hit.passage_id for hit in self.selected),
            units=self.units,
        )
