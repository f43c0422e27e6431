"""An engine client and an index name of its own for every test."""

import uuid
from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from ccrag.config import EngineSettings
from ccrag.engine.client import connect


@pytest.fixture(scope="session")
def client(engine_url: str) -> Iterator[OpenSearch]:
    opened = connect(engine_url, EngineSettings())
    yield opened
    opened.close()


@pytest.fixture
def index_name(client: OpenSearch) -> Iterator[str]:
    name = f"test-{uuid.uuid4().hex[:12]}"
    yield name
    for index in client.indices.get(index=f"ccrag-{name}-*"):
        client.indices.delete(index=index)


@pytest.fixture
def on_engine(engine_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of this test use the test engine."""
    monkeypatch.setenv("CCRAG_ENGINE__URL", engine_url)
