"""One query in the pipeline: what the stages have found so far, and what it becomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

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
    """Filled by one stage after the other; `error` set means that no further stage touches it."""

    query: Query
    keywords: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()
    """A language model's variants of a dialogue's question, if it was asked for any."""
    question: str = ""
    """What reranking, evidence and answer take for the question: of a dialogue, one variant."""
    variants: tuple[Variant, ...] = ()
    """Variants with a BM25 list; feedback's, once it is made, is the last."""
    dense_variants: tuple[Variant, ...] = ()
    vectors: dict[str, QueryVector] = field(default_factory=dict)
    """By the name of the variant: `(dim,)` float32 of unit length, once they are encoded."""
    vector: QueryVector | None = None
    """The question's, likewise."""
    best_texts: tuple[Passage, ...] = ()
    """The original list's best passages, for feedback."""
    lists: list[Ranking] = field(default_factory=list)
    """First lists, in the order of `retrieval.lists` and of the variants."""
    ranking: Ranking | None = None
    """The current order: fused, then reranked."""
    later: list[Ranking] = field(default_factory=list)
    """Rankings made from the lists, in the order they were made."""
    passages: dict[PassageId, Passage] = field(default_factory=dict)
    selected: tuple[Hit, ...] = ()
    read: tuple[Passage, ...] = ()
    """Passages the answer was read from, neighbours included."""
    units: tuple[Unit, ...] = ()
    """The units they are of, best first, where units are read; only parts that are read."""
    evidence: tuple[Evidence, ...] = ()
    merits: dict[str, Merit] = field(default_factory=dict)
    """What speaks for and against a piece of evidence, by its id."""
    cosines: dict[SentenceKey, float] = field(default_factory=dict)
    """Of the sentences considered and the question, where an encoder compared them."""
    answerability: Answerability | None = None
    answer: Answer | None = None
    notes: list[Note] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    """Calls to language models, in the order they were made."""
    seconds: dict[str, float] = field(default_factory=dict)
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


StageCallback = Callable[[str, Sequence[QueryState]], None]
"""Called after each stage with its name and the states it worked on, from the thread that works."""


def no_op(_stage: str, _ways: Sequence[QueryState]) -> None:
    """Nobody looks on."""


Step = tuple[str, Callable[[list[QueryState]], None]]
"""A stage by its name, for the queries of a batch that are not lost yet."""


def run_stages(
    states: Sequence[QueryState], steps: Sequence[Step], *, on_stage: StageCallback = no_op
) -> None:
    """Run `steps` one after the other, and keep the seconds that each took for a query."""
    for name, step in steps:
        alive = [state for state in states if state.error is None]
        began = perf_counter()
        step(alive)
        for state in alive:
            state.seconds[name] = (perf_counter() - began) / len(alive)
        on_stage(name, alive)
