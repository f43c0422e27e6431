"""Dialogues' questions rewritten by a language model; the queries of a batch at the same time."""

from collections.abc import Sequence
from dataclasses import replace

from ccrag.concurrency import all_at_once
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError, of_query
from ccrag.llm.client import Llm, parameters_of, set_or_none
from ccrag.llm.prompts import load_prompt
from ccrag.pipeline.state import Way
from ccrag.query.rewrite_llm import STAGE, ModelRewrite, model_rewrites
from ccrag.query.rewrite_rules import rewritten
from ccrag.query.turns import BY_MODEL


def asks_for_rewrites(settings: PipelineSettings) -> bool:
    """Tell whether some wording of the pipeline is a language model's."""
    use = settings.variants
    dense = use.dense if "dense" in settings.retrieval.lists else ()
    bm25 = use.use if "bm25" in settings.retrieval.lists else ()
    return BY_MODEL in (*bm25, *dense, use.question)


class Rewriting:
    """Gives each way the wordings of a language model, where the pipeline searches them."""

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
        if not asks_for_rewrites(settings):
            return
        if llm is None:
            raise ModelError(f"pipeline {settings.name}: the wording {BY_MODEL} needs a model")
        self._rewrite = ModelRewrite(
            prompt=load_prompt(settings.rewrite.prompt),
            parameters=replace(
                parameters_of(settings.llm), temperature=set_or_none(settings.rewrite.temperature)
            ),
            count=settings.rewrite.count,
        )

    def rewrite(self, ways: Sequence[Way]) -> None:
        """Give each way its rewrites, or what `rewrite.failure` says when there are none."""
        if self._rewrite is not None and self._llm is not None:
            rewrite, llm = self._rewrite, self._llm
            all_at_once(lambda way: self._one(way, rewrite, llm), ways)  # the model bounds itself

    def _one(self, way: Way, rewrite: ModelRewrite, llm: Llm) -> None:
        query = way.query
        done = model_rewrites(query.text, query.turns, rewrite=rewrite, ask=llm.complete)
        way.rewrites = done.texts
        way.notes += done.notes
        way.calls += done.calls
        if done.failure is None:
            return
        if self._settings.failure == "error":
            way.error = ModelError(
                f"{of_query(query.query_id)}rewrite: {done.failure}; "
                "rewrite.failure=rules goes on with a rewrite by rule"
            )
        else:
            way.rewrites = (rewritten(query.text, query.turns),)
            way.note(STAGE, f"{done.failure}; rewritten by rule")
