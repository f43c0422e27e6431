"""The embedded node itself: one data folder, in the order a user would live through it."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from ccrag.cli.node import app
from ccrag.config import NodeSettings
from ccrag.engine.node import NodeState, ensure_node, find_node, node_answers, stop_node
from ccrag.engine.node.state import read_state
from ccrag.errors import NodeError

pytestmark = pytest.mark.usefixtures("node_runtime")

START = "import sys; from ccrag.cli.node import app; app(['up', '--data', sys.argv[1]])"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeSettings]:
    """One data folder, with a space in its name, for the whole module."""
    settings = NodeSettings(data=tmp_path_factory.mktemp("node") / "the data")
    yield settings
    stop_node(settings)


def request(state: NodeState, path: str, body: object = None) -> dict[str, object]:
    """Talk to the node, past any proxy."""
    message = urllib.request.Request(
        state.url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {state.secret()}",
        },
        method="GET" if body is None else "PUT",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(message, timeout=30) as response:
        return dict(json.load(response))


def found(state: NodeState, doc_id: str) -> object:
    return request(state, f"/kept/_doc/{doc_id}")["found"]


def test_two_commands_at_once_get_one_node_that_outlives_them(settings: NodeSettings) -> None:
    command = [sys.executable, "-c", START, str(settings.data)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    urls = {process.communicate(timeout=180)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    state = find_node(settings)
    assert state is not None
    assert urls == {f"{state.url}\n"}
    assert node_answers(state)


def test_a_second_start_finds_the_first(settings: NodeSettings) -> None:
    assert ensure_node(settings) == ensure_node(settings)


def test_it_listens_on_loopback_only(settings: NodeSettings) -> None:
    connections = psutil.Process(ensure_node(settings).pid).net_connections("inet")
    listening = {c.laddr for c in connections if c.status == psutil.CONN_LISTEN}
    assert len(listening) == 2  # HTTP and transport
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_status_tells_where_it_is(settings: NodeSettings) -> None:
    state = ensure_node(settings)
    told = CliRunner().invoke(app, ["status", "--json", "--data", str(settings.data)])
    assert told.exit_code == 0
    info = json.loads(told.stdout)
    assert info["status"] == "running"
    assert (info["url"], info["pid"], info["version"]) == (state.url, state.pid, "2.19.6")
    assert Path(info["log"]).is_file()


def test_a_killed_node_is_replaced_and_its_data_kept(settings: NodeSettings) -> None:
    first = ensure_node(settings)
    request(first, "/kept", {"settings": {"number_of_replicas": 0}})
    request(first, "/kept/_doc/1", {"text": "written before the kill"})
    os.kill(first.pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(first.pid)] if psutil.pid_exists(first.pid) else [], 10)
    second = ensure_node(settings)
    assert second.pid != first.pid
    assert found(second, "1")


def test_data_survive_down_and_up(settings: NodeSettings) -> None:
    first = ensure_node(settings)
    request(first, "/_cluster/settings", {"persistent": {"action.auto_create_index": "true"}})
    request(first, "/kept/_doc/2", {"text": "written before going down"})
    told = CliRunner().invoke(app, ["down", "--data", str(settings.data)])
    assert told.exit_code == 0
    assert told.stdout == ""
    assert f"ended the node at {first.url} (pid {first.pid})" in told.stderr
    assert not psutil.pid_exists(first.pid)
    assert found(ensure_node(settings), "2")


def test_a_second_node_takes_other_ports_and_a_taken_one_is_named(
    settings: NodeSettings, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        beside = NodeSettings(data=tmp_path / "data", port=port)
        ensure_node(settings)
        with pytest.raises(NodeError, match=r"its port is taken(.|\n)*Address already in use"):
            ensure_node(beside)
    assert read_state(tmp_path / "data") is None
    assert find_node(settings) is not None


def test_a_node_that_is_not_on_record_is_found_and_replaced(settings: NodeSettings) -> None:
    """Its starter was killed before it wrote the state file, or the file is lost."""
    lost = ensure_node(settings)
    (lost.data / "node.json").unlink()
    told = CliRunner().invoke(app, ["status", "--data", str(settings.data)])
    assert f"process {lost.pid} runs, but is not on record" in told.stdout
    said: list[str] = []
    found = ensure_node(settings, notify=said.append)
    assert f"ending process {lost.pid}" in said[0]
    assert found.pid != lost.pid
    assert not psutil.pid_exists(lost.pid)
