"""The stages of a query and the one loop that runs them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from time import perf_counter
from typing import NamedTuple

from ccrag.concurrency import in_order
from ccrag.config import PipelineSettings
from ccrag.pipeline.state import Failure, QueryState
from ccrag.types import Query, Result

BATCHES_AT_ONCE = 2
"""While the engine searches for one batch, Python works on the other."""


class Stage(StrEnum):
    """The stages, in the order in which a pipeline runs those it has."""

    CANDIDATES = "candidates"
    VARIANTS = "variants"
    ENCODE = "encode"
    LISTS = "lists"
    FEEDBACK = "feedback"
    FUSION = "fusion"
    TEXTS = "texts"
    RERANK = "rerank"
    SELECT = "select"
    NEIGHBOURS = "neighbours"
    EVIDENCE = "evidence"
    ANSWERABILITY = "answerability"
    ANSWER = "answer"


class StageStep(NamedTuple):
    """A stage, and the work that it does on the queries of a batch that have no error yet."""

    stage: Stage
    run: Callable[[list[QueryState]], None]


StageCallback = Callable[[str, Sequence[QueryState]], None]
"""Called after each `Stage` with the states it worked on, from the thread that works."""


def no_op(_stage: str, _states: Sequence[QueryState]) -> None:
    """Do nothing after a stage."""


class StageLoop(ABC):
    """
    Run queries through stages, in batches that share their requests.

    The only loop over stages. A subclass says which stages there are, in their order.
    """

    def __init__(self, settings: PipelineSettings) -> None:
        self.settings = settings

    @abstractmethod
    def steps(self, *, answering: bool) -> Sequence[StageStep]:
        """
        Return the stages of one batch; called once for each batch.

        Args:
            answering: False ends with an empty answer, without evidence.
        """

    def run(
        self,
        queries: Sequence[Query],
        *,
        answering: bool = True,
        on_stage: StageCallback = no_op,
    ) -> Iterator[Result | Failure]:
        """
        Answer queries, in order, or only search for them; one that fails does not stop the others.

        Args:
            on_stage: sees every batch after each stage; what it raises ends the work and is raised.

        Raises:
            EngineError: the engine itself failed; queries not yet yielded have no outcome.
        """
        size = self.settings.retrieval.batch
        batches = [queries[at : at + size] for at in range(0, len(queries), size)]
        run_batch = partial(self.run_batch, answering=answering, on_stage=on_stage)
        for states in in_order(run_batch, batches, workers=BATCHES_AT_ONCE):
            yield from (state.outcome() for state in states)

    def run_batch(
        self, queries: Sequence[Query], *, answering: bool, on_stage: StageCallback
    ) -> list[QueryState]:
        """Run all stages for `queries`, and keep the seconds that each stage took for a query."""
        states = [QueryState(query) for query in queries]
        for stage, run in self.steps(answering=answering):
            alive = [state for state in states if state.error is None]
            began = perf_counter()
            run(alive)
            for state in alive:
                state.seconds[stage.value] = (perf_counter() - began) / len(alive)
            on_stage(stage.value, alive)
        return states
