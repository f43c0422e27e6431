"""Shortlists in the order of a language model; the queries of a batch are asked at once."""

from collections.abc import Sequence

from ccrag.concurrency import all_at_once
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError, of_query
from ccrag.llm.client import Llm, parameters_of
from ccrag.llm.prompts import load_prompt
from ccrag.pipeline.state import QueryState
from ccrag.retrieval.listwise import STAGE, Listwise, rerank_listwise
from ccrag.retrieval.rerank import with_tail


class ListwiseRerankStage:
    """Reorder each query's shortlist; what lies below keeps its place."""

    def __init__(self, settings: PipelineSettings, llm: Llm | None) -> None:
        """
        Take the model that is asked.

        Raises:
            ModelError: there is none.
            ConfigError: no such prompt.
        """
        if llm is None:
            raise ModelError(f"pipeline {settings.name}: rerank.method=listwise needs a model")
        self._llm = llm
        self._rerank = settings.rerank
        self._listwise = Listwise(
            prompt=load_prompt(settings.rerank.prompt),
            parameters=parameters_of(settings.llm),
            window_tokens=settings.rerank.window_tokens,
        )

    def rerank(self, states: Sequence[QueryState]) -> None:
        """Give each query its reranked order, or what `rerank.failure` says when there is none."""
        all_at_once(self._rerank_one, states)  # the model bounds itself

    def _rerank_one(self, state: QueryState) -> None:
        fused = state.current()
        done = rerank_listwise(
            fused.top(self._rerank.shortlist),
            passages=state.passages,
            question=state.question,
            listwise=self._listwise,
            ask=self._llm.complete,
        )
        state.notes += done.notes
        state.calls += done.calls
        if done.ranking is not None:
            state.now_ranked(with_tail(done.ranking, fused))
        elif self._rerank.failure == "error":
            state.error = ModelError(f"{of_query(state.query_id)}listwise rerank: {done.failure}")
        else:
            state.note(STAGE, f"listwise: {done.failure}; the order stays as it was")
