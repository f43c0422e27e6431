"""Test what is read by ids, and which pipelines an index is said to serve."""

from typing import Any, cast

import pytest
from opensearchpy import OpenSearch

from ccrag.cli.indexes import _pipelines
from ccrag.config.load import load_settings
from ccrag.engine.stored import sources
from ccrag.errors import EngineError
from ccrag.indexing.spec import index_spec


class Answers:
    """A client that answers every request by ids alike."""

    def __init__(self, *docs: dict[str, Any]) -> None:
        self._docs = list(docs)

    def mget(self, **_: Any) -> dict[str, Any]:
        return {"docs": self._docs}


def read(*docs: dict[str, Any]) -> dict[str, Any]:
    return dict(sources(cast(OpenSearch, Answers(*docs)), "an-index", ["a", "b"]))


def test_what_is_absent_is_left_out_and_what_fails_is_not_absent() -> None:
    held, absent = {"_id": "a", "found": True, "_source": {"n": 1}}, {"_id": "b", "found": False}
    assert read(held, absent) == {"a": {"n": 1}}
    broken = {"_id": "b", "error": {"reason": "shard is gone", "type": "x"}}
    with pytest.raises(EngineError, match="cannot read from an-index: shard is gone"):
        read(held, broken)


def test_an_index_with_vectors_is_listed_for_pipelines_without() -> None:
    served = _pipelines(frozenset({index_spec(load_settings("best")).name}))
    assert {"best", "hybrid", "lexical", "caes-rag-rrf"} <= set(served)
    assert "best" not in _pipelines(frozenset({index_spec(load_settings("lexical")).name}))
