"""What only a server with a socket shows: callers who leave, crowds, time, and a lost engine."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opensearchpy import OpenSearch

from ccrag.config import NodeSettings
from ccrag.engine.client import connect_node
from ccrag.engine.node import ensure_node, find_node, stop_node
from ccrag.pipeline.stages import StageCallback
from ccrag.web.service import QueryService
from ccrag.web.worker_pool import AbandonedError
from tests.integration.building import ENGINE, build_index
from tests.integration.test_web_api import DOCUMENTS, QUESTION
from tests.serving import ask_body, problem, running, server_state

NAME = "test-web-live"
PATIENCE_S = 60.0


@pytest.fixture
def index(client: OpenSearch, on_engine: None) -> Iterator[str]:
    build_index(client, NAME, DOCUMENTS)
    yield NAME
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


class SlowDesk:
    """Stands in for the desk: each answer goes on until it is let go or abandoned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.let_go = threading.Event()
        self.began = 0
        self.abandoned = 0
        real = QueryService.answer

        def answer(
            service: QueryService, caller: Any, question: Any, on_stage: StageCallback
        ) -> Any:
            self.began += 1
            while not self.let_go.wait(0.01):
                try:
                    on_stage("slow", [])
                except AbandonedError:
                    self.abandoned += 1
                    raise
            return real(service, caller, question, on_stage)

        monkeypatch.setattr(QueryService, "answer", answer)


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.mark.parametrize("address", ["/api/ask", "/api/ask/stream"])
def test_a_caller_who_leaves_ends_the_work(
    index: str, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    slow = SlowDesk(monkeypatch)
    with running(server_state()) as url:
        if address.endswith("stream"):
            slow.let_go.set()  # a stream begins with a stage: hold the work behind it
            hold_after_first_stage(monkeypatch, slow)
        with pytest.raises(httpx2.TimeoutException):
            read_until(url + address, ask_body(index, QUESTION), timeout=1.5)
        until(lambda: slow.abandoned == 1, "the work went on")


def read_until(url: str, body: dict[str, Any], *, timeout: float) -> None:
    with httpx2.stream("POST", url, json=body, timeout=timeout) as response:
        for _ in response.iter_raw():
            pass


def hold_after_first_stage(monkeypatch: pytest.MonkeyPatch, slow: SlowDesk) -> None:
    from ccrag.pipeline.pipeline import Pipeline

    real = Pipeline.run_batch

    def run_batch(
        pipeline: Pipeline, queries: Any, *, answering: bool, on_stage: StageCallback
    ) -> Any:
        def held(stage: str, states: Any) -> None:
            while stage == "lists":
                time.sleep(0.01)
                try:
                    on_stage("fusion", [])
                except AbandonedError:
                    slow.abandoned += 1
                    raise
            on_stage(stage, states)

        return real(pipeline, queries, answering=answering, on_stage=held)

    monkeypatch.setattr(Pipeline, "run_batch", run_batch)


def test_a_crowd_gets_a_clear_429_and_then_its_turn(
    index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowDesk(monkeypatch)
    with running(server_state("serve.concurrency=2", "serve.waiting=1")) as url:

        def ask(_: int) -> httpx2.Response:
            body = ask_body(index, QUESTION, "res1")
            return httpx2.post(f"{url}/api/ask", json=body, timeout=PATIENCE_S)

        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(ask, n) for n in range(8)]
            until(lambda: sum(f.done() for f in asked) == 5 and slow.began == 2, "not refused")
            for refused in (f.result() for f in asked if f.done()):
                assert (refused.status_code, problem(refused)) == (429, "too_many_requests")
                assert refused.headers["retry-after"] == "1"
            told = httpx2.get(f"{url}/metrics").text
            assert "ccrag_working 2.0" in told
            assert "ccrag_waiting 1.0" in told
            slow.let_go.set()
            assert sorted(f.result().status_code for f in asked) == [200] * 3 + [429] * 5
        assert ask(0).status_code == 200


def test_what_takes_too_long_is_a_504(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowDesk(monkeypatch)
    with running(server_state("serve.timeout_s=0.3")) as url:
        response = httpx2.post(f"{url}/api/ask", json=ask_body(index, QUESTION))
        assert (response.status_code, problem(response)) == (504, "timeout")
        until(lambda: slow.abandoned == 1, "the work went on")


@pytest.mark.usefixtures("node_runtime")
def test_a_killed_engine_gives_503_and_comes_back_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = NodeSettings(data=tmp_path / "node")
    monkeypatch.setenv("CCRAG_NODE__DATA", str(node.data))
    monkeypatch.delenv("CCRAG_ENGINE__URL", raising=False)
    state = ensure_node(node)
    try:
        build_index(connect_node(state, ENGINE), NAME, DOCUMENTS)
        with running(server_state()) as url:
            body = ask_body(NAME, QUESTION, "res1", "res2")

            def ask() -> httpx2.Response:
                return httpx2.post(f"{url}/api/ask", json=body, timeout=PATIENCE_S)

            before = ask()
            assert before.status_code == 200
            os.kill(state.pid, signal.SIGKILL)
            lost = ask()
            assert (lost.status_code, problem(lost)) == (503, "engine_unavailable")
            assert lost.headers["retry-after"] == "2"
            assert httpx2.get(f"{url}/ready").status_code == 503
            assert httpx2.get(f"{url}/health").status_code == 200
            answers: list[httpx2.Response] = []

            def back() -> bool:
                answers.append(ask())
                return answers[-1].status_code == 200

            until(back, "the engine did not come back")
            assert {a.status_code for a in answers} <= {200, 503}
            assert answers[-1].json() == before.json()
            assert httpx2.get(f"{url}/ready").status_code == 200
            assert (
                'ccrag_engine_errors_total{kind="EngineDownError"}'
                in httpx2.get(f"{url}/metrics").text
            )
        found = find_node(node)
        assert found is not None
        assert found.pid != state.pid
    finally:
        stop_node(node)
