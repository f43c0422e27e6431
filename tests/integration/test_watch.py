"""Looking on while a query goes its way, and ending it there; an index that vanished."""

from collections.abc import Sequence

import pytest
from opensearchpy import OpenSearch

from ccrag.engine.client import connect
from ccrag.errors import EngineDownError, EngineError
from ccrag.pipeline.state import QueryState
from ccrag.types import Candidates, Document
from tests.integration.building import ENGINE, build_index, opened, pipeline
from tests.support import query

DOCUMENTS = [Document("a", "A", "The dam was finished in 1901."), Document("b", "B", "No water.")]
STAGES = (
    "candidates variants encode lists feedback fusion texts rerank select neighbours "
    "evidence answer"
)


class Stopped(Exception):  # noqa: N818  # as asyncio's CancelledError, not an error of ours
    """What a watch raises to end the work."""


def test_a_watch_sees_every_stage(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, DOCUMENTS)
    seen: list[str] = []

    def on_stage(stage: str, states: Sequence[QueryState]) -> None:
        seen.append(stage)
        assert stage in states[0].seconds

    answered = pipeline(client, index_name).answer(query("dam finished", "a"), on_stage=on_stage)
    assert seen == STAGES.split()
    assert answered.answer.references == ("a",)
    seen.clear()
    pipeline(client, index_name).search(query("dam finished", "a"), on_stage=on_stage)
    assert seen == STAGES.split()


def test_what_a_watch_raises_ends_the_work(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, DOCUMENTS)
    seen: list[str] = []

    def on_stage(stage: str, _: Sequence[QueryState]) -> None:
        seen.append(stage)
        if stage == "lists":
            raise Stopped

    with pytest.raises(Stopped):
        pipeline(client, index_name).answer(query("dam finished", "a"), on_stage=on_stage)
    assert seen == ["candidates", "variants", "encode", "lists"]


def test_documents_of_a_vanished_index_are_an_error_not_unknown(
    client: OpenSearch, index_name: str
) -> None:
    build_index(client, index_name, DOCUMENTS)
    index = opened(client, index_name)
    client.indices.delete(index=index.info.documents_index)
    with pytest.raises(EngineError, match="cannot read from .*no such index"):
        index.unknown(["a"])
    with pytest.raises(EngineError, match="no such index"):
        index.documents(Candidates.whole_index(), ["a"])


def test_an_engine_out_of_reach_is_told_from_one_that_refuses(
    client: OpenSearch, index_name: str
) -> None:
    build_index(client, index_name, DOCUMENTS)
    with pytest.raises(EngineDownError, match="out of reach"):
        opened(connect("http://127.0.0.1:9", ENGINE), index_name)
    with pytest.raises(EngineError) as refused:
        opened(client, f"{index_name}-other")
    assert not isinstance(refused.value, EngineDownError)
