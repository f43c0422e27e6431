"""`ccrag serve` as a process: where it listens, what it says, what it refuses."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.integration.commands import ccrag as command

pytestmark = pytest.mark.usefixtures("on_engine")

ROOT = Path(__file__).parents[2]


@contextmanager
def served(*arguments: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server process and the URL it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ccrag", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ,
    )
    try:
        yield process.stdout.readline().strip() if process.stdout else "", process
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_it_listens_where_told_logs_in_json_and_ends_when_told() -> None:
    port = free_port()
    with served("--port", str(port)) as (url, process):
        assert url == f"http://127.0.0.1:{port}"
        assert httpx2.get(f"{url}/ready").json() == {"status": "ok"}
        assert httpx2.get(url).status_code == 200
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        lines = [json.loads(line) for line in said.splitlines()]
        assert [line["route"] for line in lines if line["event"] == "request"] == ["/ready", "/"]
        assert all(line["request_id"] for line in lines if line["event"] == "request")


def test_another_loopback_address_can_be_chosen() -> None:
    with served("--port", "0", "--host", "127.0.0.2") as (url, _):
        assert url.startswith("http://127.0.0.2:")
        assert httpx2.get(f"{url}/health").status_code == 200


def test_what_others_can_reach_needs_tokens() -> None:
    refused = command("serve", "--host", "0.0.0.0", "--port", "0", code=1)
    assert "0.0.0.0 can be reached by others: give serve.tokens" in refused.stderr


def test_a_taken_port_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = command("serve", "--port", port, code=1)
    assert f"cannot listen on 127.0.0.1:{port}" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tokens", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("--pipeline", "no-such"), "no pipeline 'no-such'"),
        (("--set", 'serve.pipelines=["no-such"]'), "no pipeline 'no-such'"),
        (("--set", "serve.prot=1"), "unknown setting serve.prot"),
    ],
)
def test_bad_settings_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    refused = command("serve", *arguments, code=1)
    assert message in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_missing_packages_are_named_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("serve", "mcp"):
        arguments = ("--index", "demo", "--all") if name == "mcp" else ()
        refused = command(name, *arguments, code=1)
        assert "fastapi is not installed; run: pip install 'ccrag[web]'" in refused.stderr
