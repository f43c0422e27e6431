"""An engine client and an index name of its own for every test."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from ccrag.engine.client import connect
from tests.fakes import HashEncoder, HashTokens, OverlapReranker, QuotingLlm
from tests.integration.commands import ccrag
from tests.integration.example import write_documents
from tests.support import engine_settings


@pytest.fixture(scope="session")
def client(engine_url: str) -> Iterator[OpenSearch]:
    opened = connect(engine_url, engine_settings())
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


@pytest.fixture
def indexed(tmp_path: Path, index_name: str, on_engine: None) -> str:
    """An index of the example's documents, made by the command."""
    ccrag("index", write_documents(tmp_path), "--index", index_name)
    return index_name


@pytest.fixture
def fake_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stand-ins, so that what is tested is the way from command to files."""
    for module in ("ccrag.indexing.build", "ccrag.pipeline.factory"):
        monkeypatch.setattr(f"{module}.load_encoder", lambda *_, **__: HashEncoder())
    monkeypatch.setattr("ccrag.pipeline.factory.token_encoder_of", lambda *_: HashTokens())
    monkeypatch.setattr("ccrag.pipeline.factory.load_reranker", lambda *_, **__: OverlapReranker())
    monkeypatch.setattr("ccrag.pipeline.factory.load_llm", lambda *_, **__: QuotingLlm())
