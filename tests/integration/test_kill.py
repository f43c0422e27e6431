"""`kill -9` half-way: of `ccrag index`, of the node, of `ccrag run`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from opensearchpy import NotFoundError, OpenSearch

from ccrag.config import EngineSettings, NodeSettings
from ccrag.engine.client import connect_node
from ccrag.engine.node import ensure_node, find_node, stop_node
from tests.integration.example import write_documents, write_queries

DOCUMENTS = 6_000
PATIENCE_S = 120.0


@pytest.fixture
def node(node_runtime: Path, tmp_path: Path) -> Iterator[NodeSettings]:
    """A node of this test's own, to be killed."""
    settings = NodeSettings(data=tmp_path / "node")
    yield settings
    stop_node(settings)


def start(node: NodeSettings, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "CCRAG_NODE__DATA": str(node.data)}
    environment.pop("CCRAG_ENGINE__URL", None)
    # Small requests, so that there is a half-way.
    environment["CCRAG_ENGINE__BULK_MAX_BYTES"] = "20000"
    return subprocess.Popen(
        [sys.executable, "-m", "ccrag", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(node: NodeSettings, *arguments: object) -> str:
    process = start(node, *arguments)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    return out


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "nothing happened"
        assert process.poll() is None, "ended before it could be killed"
        time.sleep(0.01)


def passages_written(client: OpenSearch, *, besides: str = "") -> int:
    """Passages in the concrete index under construction."""
    try:
        found = [i for i in client.indices.get(index="ccrag-k-passages-*") if i != besides]
        if not found:
            return 0
        client.indices.refresh(index=found[0])
        return int(client.count(index=found[0])["count"])
    except NotFoundError:
        return 0


def client_of(node: NodeSettings) -> OpenSearch:
    return connect_node(ensure_node(node), EngineSettings())


class HalfWay(NamedTuple):
    """`ccrag index` of a larger collection, some of it written, over a small one that serves."""

    documents: Path
    process: subprocess.Popen[str]


@pytest.fixture
def half_way(node: NodeSettings, tmp_path: Path) -> HalfWay:
    finish(node, "index", write_documents(tmp_path, 5), "--index", "k")
    client = client_of(node)
    [old] = client.indices.get(index="ccrag-k-passages-*")
    documents = write_documents(tmp_path, DOCUMENTS)
    process = start(node, "index", documents, "--index", "k", "--replace")
    wait_until(lambda: passages_written(client, besides=old) > 1_000, process)
    return HalfWay(documents, process)


def old_index_answers(node: NodeSettings) -> None:
    question = "When was the dam of reservoir 1 finished?"
    assert "[1]" in finish(node, "ask", question, "--index", "k", "--docs", "res1")


def test_a_killed_index_command_is_resumed_and_the_old_index_serves_all_the_time(
    node: NodeSettings, half_way: HalfWay
) -> None:
    half_way.process.kill()
    half_way.process.communicate()
    old_index_answers(node)
    done = finish(node, "index", half_way.documents, "--index", "k", "--replace")
    assert f"{2 * DOCUMENTS} documents" in done
    assert "from an interrupted load" in done
    assert "unchanged" in finish(node, "index", half_way.documents, "--index", "k")


def test_a_killed_node_is_replaced_and_the_same_command_completes(
    node: NodeSettings, half_way: HalfWay
) -> None:
    state = find_node(node)
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)
    _, err = half_way.process.communicate(timeout=PATIENCE_S)
    assert half_way.process.returncode == 1
    assert "out of reach" in err
    old_index_answers(node)
    done = finish(node, "index", half_way.documents, "--index", "k", "--replace")
    assert f"{2 * DOCUMENTS} documents, {2 * DOCUMENTS} passages" in done


def test_a_killed_run_goes_on_where_it_was(node: NodeSettings, tmp_path: Path) -> None:
    finish(node, "index", write_documents(tmp_path, 500), "--index", "k")
    queries = write_queries(tmp_path, 490)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    finish(node, "run", queries, "--index", "k", "--out", whole)
    process = start(node, "run", queries, "--index", "k", "--out", cut)
    journal = cut / "journal.part"
    wait_until(lambda: journal.exists() and journal.stat().st_size > 100_000, process)
    process.kill()
    process.communicate()
    done = finish(node, "run", queries, "--index", "k", "--out", cut, "--resume")
    assert "of them earlier" in done
    for name in ("responses.jsonl", "run.trec"):
        assert (whole / name).read_bytes() == (cut / name).read_bytes()
