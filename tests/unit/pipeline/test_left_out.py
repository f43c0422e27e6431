"""Candidates that the index does not hold: left out in linear time, with a short note."""

from collections.abc import Iterable
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

from ccrag.config import PipelineSettings
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import QueryState
from ccrag.types import Candidates, Query


class Half:
    """An index that holds the documents called `known-…`."""

    info = SimpleNamespace(name="half", max_edges=0, collections={})

    def unknown(self, doc_ids: Iterable[str]) -> set[str]:
        return {doc_id for doc_id in doc_ids if not doc_id.startswith("known-")}


def test_twenty_thousand_unknown_candidates_are_ten_ids_and_a_count() -> None:
    settings = PipelineSettings.model_validate({"candidates": {"unknown": "warn"}})
    ids = [f"{kind}-{n}" for n in range(20_000) for kind in ("known", "gone")]
    state = QueryState(Query("q1", "Why?", Candidates.of(ids, query_id="q1")))
    pipeline = Pipeline(settings, cast(Any, Half()))
    began = perf_counter()
    pipeline._check_candidates([state])
    assert perf_counter() - began < 5
    assert len(state.query.candidates.doc_ids or ()) == 20_000
    [note] = state.notes
    assert note.message.startswith("not in the index, left out: 'gone-0', 'gone-1'")
    assert note.message.endswith("'gone-9' … (20,000 in all)")
