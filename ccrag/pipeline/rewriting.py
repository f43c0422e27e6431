"""Dialogues' questions rewritten by a language model; the queries of a batch at the same time."""

from collections.abc import Sequence
from dataclasses import replace

from ccrag.concurrency import all_at_once
from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ModelError, of_query
from ccrag.llm.client import Llm, parameters_of, set_or_none
from ccrag.llm.prompts import load_prompt
from ccrag.pipeline.state import QueryState
from ccrag.query.rewrite_llm import STAGE, ModelRewrite, model_rewrites
from ccrag.query.rewrite_rules import rewritten
from ccrag.query.turns import BY_MODEL


class Rewriter:
    """Give each query the rewrites of a language model, where the pipeline searches them."""

    def __init__(self, settings: PipelineSettings, llm: Llm | None) -> None:
        """
        Take the model that is asked.

        Raises:
            ModelError: it is needed and there is none.
            ConfigError: no such prompt.
        """
        self._settings = settings.rewrite
        self._llm = llm
        self._rewrite: ModelRewrite | None = None
        if not requirements(settings).llm_rewrite:
            return
        if llm is None:
            raise ModelError(f"pipeline {settings.name}: the variant {BY_MODEL} needs a model")
        self._rewrite = ModelRewrite(
            prompt=load_prompt(settings.rewrite.prompt),
            parameters=replace(
                parameters_of(settings.llm), temperature=set_or_none(settings.rewrite.temperature)
            ),
            count=settings.rewrite.count,
        )

    def rewrite(self, states: Sequence[QueryState]) -> None:
        """Give each query its rewrites, or what `rewrite.failure` says when there are none."""
        if self._rewrite is not None and self._llm is not None:
            rewrite, llm = self._rewrite, self._llm
            all_at_once(
                lambda state: self._one(state, rewrite, llm), states
            )  # the model bounds itself

    def _one(self, state: QueryState, rewrite: ModelRewrite, llm: Llm) -> None:
        query = state.query
        done = model_rewrites(query.text, query.turns, rewrite=rewrite, ask=llm.complete)
        state.rewrites = done.texts
        state.notes += done.notes
        state.calls += done.calls
        if done.failure is None:
            return
        if self._settings.failure == "error":
            state.error = ModelError(
                f"{of_query(query.query_id)}rewrite: {done.failure}; "
                "rewrite.failure=rules goes on with a rewrite by rule"
            )
        else:
            state.rewrites = (rewritten(query.text, query.turns),)
            state.note(STAGE, f"{done.failure}; rewritten by rule")
