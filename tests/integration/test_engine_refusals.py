"""An engine that refuses, on a node of this module's own: blocks, closed indexes, large items."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opensearchpy import OpenSearch

from ccrag.config import EngineSettings, NodeSettings
from ccrag.engine import bulk
from ccrag.engine.client import connect_node
from ccrag.engine.node import NodeState, ensure_node, stop_node
from ccrag.errors import EngineError
from ccrag.web.connection import PROBE_S
from tests.integration.building import ENGINE, build_index
from tests.integration.commands import ccrag
from tests.integration.test_web_api import DOCUMENTS
from tests.serving import running, server_state

NAME = "refusals"


@pytest.fixture(scope="module")
def node(
    node_runtime: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[NodeState, OpenSearch]]:
    settings = NodeSettings(data=tmp_path_factory.mktemp("refusing"), heap_mb=256)
    state = ensure_node(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CCRAG_ENGINE__URL", raising=False)
        patch.setenv("CCRAG_NODE__DATA", str(settings.data))
        client = connect_node(state, ENGINE)
        build_index(client, NAME, DOCUMENTS)
        yield state, client
        client.close()
    stop_node(settings)


@pytest.fixture
def client(node: tuple[NodeState, OpenSearch]) -> OpenSearch:
    return node[1]


@contextmanager
def cluster(client: OpenSearch, **given: Any) -> Iterator[None]:
    client.cluster.put_settings(body={"persistent": given})
    try:
        yield
    finally:
        client.cluster.put_settings(body={"persistent": dict.fromkeys(given)})


@contextmanager
def index_setting(client: OpenSearch, name: str, value: bool) -> Iterator[None]:
    alias = f"ccrag-{NAME}-*"
    client.indices.put_settings(index=alias, body={name: value})
    try:
        yield
    finally:
        client.indices.put_settings(index=alias, body={name: None})


def refused(*arguments: object) -> str:
    """Return the one line on stderr of a command that ends with exit code 1."""
    done = ccrag(*arguments, code=1)
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in done.output
    assert "engine.password" not in line
    return line


def paper(tmp_path: Path) -> Path:
    file = tmp_path / "paper.txt"
    file.write_text("The pump opens at nine. It closes at ten.")
    return file


def test_a_cluster_that_takes_no_writes_says_so(client: OpenSearch, tmp_path: Path) -> None:
    with cluster(client, **{"cluster.blocks.read_only": True}):
        line = refused("index", paper(tmp_path), "--index", "other")
        assert "cluster read-only" in line
        assert "unset cluster.blocks.read_only" in line
        ccrag("search", "water", "--all", "--index", NAME)


def test_a_full_disk_is_told_as_one(client: OpenSearch, tmp_path: Path) -> None:
    ccrag("index", paper(tmp_path), "--index", "full")
    block = "index.blocks.read_only_allow_delete"
    with cluster(client, **{"cluster.blocks.create_index": True}):
        line = refused("index", paper(tmp_path), "--index", "more")
    assert "create-index blocked" in line
    assert "free disk space" in line
    client.indices.put_settings(index="ccrag-full-*", body={block: True})
    action = {"_op_type": "create", "_index": "ccrag-full-documents", "_id": "x", "doc_id": "x"}
    started = time.monotonic()
    with pytest.raises(EngineError, match="read-only.*free disk space"):
        bulk.write(client, [action], EngineSettings())
    assert time.monotonic() - started < 5
    client.indices.delete(index=sorted(client.indices.get(index="ccrag-full-*")))


def test_an_index_that_may_not_be_read_or_is_closed_says_so(client: OpenSearch) -> None:
    search = ("search", "water", "--all", "--index", NAME)
    with index_setting(client, "index.blocks.read", True):
        line = refused(*search)
        assert "index read (api)" in line
        assert "index.blocks" in line
    own = sorted(client.indices.get(index=f"ccrag-{NAME}-*"))
    client.indices.close(index=own)
    try:
        assert "open the index, or run `ccrag index` again" in refused(*search)
    finally:
        client.indices.open(index=own)
        client.cluster.health(params={"wait_for_status": "yellow"})


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (45_000_000, r"90 MB .*Data too large.*`ccrag node up --heap-mb 2048`\), or split"),
        (55_000_000, r"110 MB .*http\.max_content_length is 100 MB.*; split the document"),
    ],
)
def test_what_is_too_large_names_the_way_out_at_once(
    client: OpenSearch, words: int, told: str
) -> None:
    client.indices.create(index="ccrag-large", body={"mappings": {"enabled": False}})
    action = {
        "_op_type": "create",
        "_index": "ccrag-large",
        "_id": "encyclopaedia",
        "text": "w " * words,
    }
    started = time.monotonic()
    with pytest.raises(EngineError, match=f"'encyclopaedia' is too large for the engine: {told}"):
        bulk.write(client, [action], EngineSettings())
    assert time.monotonic() - started < 20
    assert client.info()["version"]["number"]
    client.indices.delete(index="ccrag-large")


def ready(url: str) -> int:
    started = time.monotonic()
    status = httpx2.get(f"{url}/ready", timeout=30).status_code
    assert time.monotonic() - started < PROBE_S + 2
    return status


def ready_becomes(url: str, status: int) -> bool:
    deadline = time.monotonic() + 30
    while ready(url) != status:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_ready_is_the_truth(node: tuple[NodeState, OpenSearch]) -> None:
    state, client = node
    with running(server_state()) as url, running(server_state("serve.uploads=0")) as reading:
        assert (ready(url), ready(reading)) == (200, 200)
        with cluster(client, **{"cluster.blocks.read_only": True}):
            assert ready_becomes(url, 503)
            assert ready(reading) == 200
        assert ready_becomes(url, 200)
        with index_setting(client, "index.blocks.read", True):
            assert ready_becomes(url, 503)
        assert ready_becomes(url, 200)
        os.kill(state.pid, signal.SIGSTOP)
        try:
            time.sleep(1.1)
            assert (ready(url), ready(url)) == (503, 503)
            assert httpx2.get(f"{url}/health").status_code == 200
        finally:
            os.kill(state.pid, signal.SIGCONT)
        assert ready_becomes(url, 200)
        client.indices.delete(index=sorted(client.indices.get(index=f"ccrag-{NAME}-*")))
        assert ready_becomes(reading, 503)
        build_index(client, NAME, DOCUMENTS)
        assert ready_becomes(reading, 200)
