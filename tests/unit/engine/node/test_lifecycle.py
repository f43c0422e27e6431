"""Start, find, replace and stop, with a `java` that is a small HTTP server."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

import ccrag.engine.node as node
from ccrag.config import NodeSettings
from ccrag.engine.node import launch
from ccrag.engine.node.process import spawn
from ccrag.engine.node.state import Launch, NodeState, read_state, write_state
from ccrag.errors import NodeError

JAVA = """#!{python}
import http.server, pathlib, sys, time
if sys.argv[1] == "-version":
    sys.exit('openjdk version "17.0.9" 2023-10-17')
*_, home, port = sys.argv
mode = pathlib.Path(__file__).with_name("mode").read_text()
print("[INFO] starting", mode, flush=True)
if mode == "hang":
    time.sleep(60)
if mode == "fail":
    print("java.net.BindException: Address already in use\\n\\tat a.b.C(D.java:1)")
    sys.exit(1)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{{"version": {{"number": "2.19.6"}}}}')

server = http.server.HTTPServer(("127.0.0.1", int(port)), Handler)
pathlib.Path(home, "logs/http.ports").write_text(f"127.0.0.1:{{server.server_port}}\\n")
server.serve_forever()
"""


class Java(NamedTuple):
    """The tool and how it behaves: serve, fail or hang."""

    home: Path

    def behave(self, mode: str) -> None:
        (self.home / "bin" / "mode").write_text(mode)


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    java = Java(tmp_path / "jdk")
    tool = java.home / "bin" / "java"
    tool.parent.mkdir(parents=True)
    tool.write_text(JAVA.format(python=sys.executable))
    tool.chmod(0o755)
    java.behave("serve")
    monkeypatch.setenv("JAVA_HOME", str(java.home))
    monkeypatch.setattr(node, "prepare_runtime", lambda cache, notify: tmp_path / "runtime")
    return java


@pytest.fixture
def settings(tmp_path: Path, java: Java) -> Iterator[NodeSettings]:
    settings = NodeSettings(data=tmp_path / "data", start_timeout_s=20)
    yield settings
    node.stop_node(settings)


def also(settings: NodeSettings, **given: int | float) -> NodeSettings:
    return NodeSettings.model_validate(settings.model_dump(exclude_unset=True) | given)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_started_node_is_found_and_stopped(settings: NodeSettings) -> None:
    said: list[str] = []
    started = node.ensure_node(settings, notify=said.append)
    assert said == [f"starting OpenSearch (data {settings.data}, heap 512 MB)"]
    assert node.node_answers(started)
    assert node.ensure_node(settings, notify=said.append) == started
    assert node.find_node(settings) == started == read_state(started.data)
    assert len(said) == 1
    assert node.stop_node(settings) == started
    assert gone(started.pid)
    assert read_state(started.data) is None
    assert node.find_node(settings) is None
    assert node.stop_node(settings) is None


def test_nothing_is_created_by_looking(settings: NodeSettings) -> None:
    assert node.find_node(settings) is None
    assert node.stop_node(settings) is None
    assert not node.data_folder(settings).exists()


def test_nodes_on_two_folders_coexist(settings: NodeSettings, tmp_path: Path) -> None:
    other = NodeSettings(data=tmp_path / "other")
    first, second = node.ensure_node(settings), node.ensure_node(other)
    try:
        assert first.pid != second.pid
        assert first.port != second.port
    finally:
        node.stop_node(other)
    assert node.find_node(settings) == first


def test_two_starts_at_once_give_one_node(settings: NodeSettings) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(node.ensure_node, [settings, settings])
    assert first == second


def test_a_start_is_on_record_before_it_is_ready(java: Java, settings: NodeSettings) -> None:
    java.behave("hang")
    data = node.data_folder(settings)
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(node.ensure_node, also(settings, start_timeout_s=1))
        while (record := read_state(data)) is None and not start.done():
            time.sleep(0.01)
        assert record is not None
        assert not gone(record.pid)
        assert node.find_node(settings) is None
        assert node.stray_pid(settings) is None
        assert isinstance(start.exception(), NodeError)
    assert gone(record.pid)


def test_an_address_left_by_an_earlier_start_is_not_believed(
    java: Java, settings: NodeSettings, tmp_path: Path
) -> None:
    other = node.ensure_node(also(settings, start_timeout_s=10))
    data = tmp_path / "second"
    (data / "logs").mkdir(parents=True)
    (data / "logs" / "http.ports").write_text(f"127.0.0.1:{other.port}")
    java.behave("hang")
    with pytest.raises(NodeError, match="not ready"):
        node.ensure_node(NodeSettings(data=data, start_timeout_s=0.5))


def test_a_dead_node_is_replaced(settings: NodeSettings) -> None:
    first = node.ensure_node(settings)
    os.kill(first.pid, signal.SIGKILL)
    psutil.Process(first.pid).wait(10)
    assert node.find_node(settings) is None
    said: list[str] = []
    second = node.ensure_node(settings, notify=said.append)
    assert second.pid != first.pid
    assert said[0].startswith(f"the node on {settings.data} (pid {first.pid}) is gone; ")


def test_a_reused_pid_is_not_the_node(settings: NodeSettings, tmp_path: Path) -> None:
    stranger = spawn([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    data = node.data_folder(settings)
    data.mkdir()
    early = stranger.create_time() - 3600
    state = NodeState(stranger.pid, early, 512, data, "http://127.0.0.1:1", "2.19.6")
    try:
        write_state(state)
        assert node.find_node(settings) is None
        assert node.stop_node(settings) is None
        write_state(state)
        assert node.ensure_node(settings).pid != stranger.pid
        assert not gone(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait(10)


def test_a_recorded_node_of_a_killed_starter_is_ended(
    settings: NodeSettings, tmp_path: Path
) -> None:
    orphan = spawn([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    data = node.data_folder(settings)
    data.mkdir()
    write_state(Launch(orphan.pid, orphan.create_time(), 512, data))
    assert node.find_node(settings) is None
    assert node.ensure_node(settings).pid != orphan.pid
    assert gone(orphan.pid)


KILLED = """
import os, signal, sys
from pathlib import Path
import ccrag.engine.node as node
from ccrag.config import NodeSettings
from ccrag.engine.node import launch
node.prepare_runtime = lambda cache, notify: Path(sys.argv[2])
launch.write_state = lambda state: os.kill(os.getpid(), signal.SIGKILL)
node.ensure_node(NodeSettings(data=Path(sys.argv[1])))
"""


@pytest.mark.parametrize("then", ["up", "down"])
def test_a_node_without_record_of_a_killed_starter_is_ended(
    settings: NodeSettings, tmp_path: Path, then: str
) -> None:
    data = node.data_folder(settings)
    command = [sys.executable, "-c", KILLED, str(data), str(tmp_path / "runtime")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert read_state(data) is None
    pid = node.stray_pid(settings)
    assert pid is not None
    said: list[str] = []
    if then == "up":
        assert node.ensure_node(settings, notify=said.append).pid != pid
    else:
        assert node.stop_node(settings, notify=said.append) is None
    assert said[0] == f"ending process {pid}, a node on {data} that is not on record"
    assert gone(pid)
    assert node.stray_pid(settings) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"port": 1}, r"listens on port \d+, asked was 1; run `ccrag node down` first"),
        ({"heap_mb": 256}, r"heap of 512 MB, asked was 256 MB; run `ccrag node down` first"),
    ],
)
def test_other_settings_than_the_running_nodes_are_refused(
    settings: NodeSettings, given: dict[str, int], message: str
) -> None:
    node.ensure_node(settings)
    with pytest.raises(NodeError, match=message):
        node.ensure_node(also(settings, **given))


def test_a_default_asks_for_nothing(settings: NodeSettings) -> None:
    big = node.ensure_node(also(settings, heap_mb=768))
    assert big.heap_mb == 768
    assert node.ensure_node(settings) == big


def test_port_and_heap_reach_the_process(settings: NodeSettings) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    state = node.ensure_node(also(settings, port=port, heap_mb=300))
    assert state.url == f"http://127.0.0.1:{port}"
    assert {"-Xms300m", "-Xmx300m"} <= set(psutil.Process(state.pid).cmdline())


def test_a_node_that_does_not_answer_is_reported(settings: NodeSettings) -> None:
    state = node.ensure_node(settings)
    unheard = NodeState(
        state.pid, state.started, 512, state.data, "http://127.0.0.1:1", state.version
    )
    write_state(unheard)
    with pytest.raises(NodeError, match=r"does not answer at .*`ccrag node down`"):
        node.ensure_node(settings)
    assert node.stop_node(settings) == unheard


def test_a_failed_start_shows_cause_and_log(java: Java, settings: NodeSettings) -> None:
    java.behave("fail")
    with pytest.raises(NodeError) as caught:
        node.ensure_node(settings)
    log = node.data_folder(settings) / "logs" / "node.log"
    assert str(caught.value).splitlines() == [
        "OpenSearch ended during its start: its port is taken; choose another (--port), "
        f"or leave it out; the log {log} ends with:",
        "  [INFO] starting fail",
        "  java.net.BindException: Address already in use",
    ]
    assert read_state(node.data_folder(settings)) is None
    java.behave("serve")
    assert node.ensure_node(settings).log == log
    assert "fail" in log.with_name("node.previous.log").read_text()


def test_a_start_that_takes_too_long_is_ended(java: Java, settings: NodeSettings) -> None:
    java.behave("hang")
    with pytest.raises(NodeError, match=r"not ready after 0\.5 s \(node\.start_timeout_s\)"):
        node.ensure_node(also(settings, start_timeout_s=0.5))
    assert read_state(node.data_folder(settings)) is None
    folder = str(node.data_folder(settings))
    assert [p.pid for p in psutil.Process().children() if folder in _arguments(p)] == []


def _arguments(process: psutil.Process) -> list[str]:
    return [] if gone(process.pid) else process.cmdline()


def test_a_full_disk_is_refused_before_the_start(
    settings: NodeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "MIN_FREE_BYTES", 2**62)
    with pytest.raises(NodeError, match=r"MiB free, the node needs .*\(--data\)"):
        node.ensure_node(settings)
    assert not (node.data_folder(settings) / "logs").exists()


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("IllegalStateException: failed to obtain node locks, tried", "another process uses"),
        ("There is insufficient memory for the Java Runtime", "its memory does not suffice"),
        ("java.nio.file.AccessDeniedException: /x", "it may not write there"),
        ("cannot downgrade a node from version [3.0.0]", "written by another OpenSearch"),
        ("something new", "what; the log"),
        ("jvm arguments [-XX:+ExitOnOutOfMemoryError]", "what; the log"),
    ],
)
def test_known_causes_have_advice(tmp_path: Path, line: str, advice: str) -> None:
    log = tmp_path / "node.log"
    log.write_text("noise\n" * 50 + line + "\n\tat a.B\n\t... 12 more\n")
    message = launch.failure_message("what", log).splitlines()
    assert len(message) == 1 + launch.TAIL_LINES
    assert message[-1] == f"  {line}"
    assert advice in message[0]


def test_the_default_data_folder_is_per_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    folder = node.data_folder(NodeSettings())
    assert folder.parts[-2:] == ("ccrag", "node")
    assert folder.is_absolute()
    assert node.data_folder(NodeSettings(data=Path("here"))) == Path.cwd() / "here"


def test_importing_the_front_door_is_cheap() -> None:
    code = "import sys, ccrag.engine.node; print({'opensearchpy', 'asyncio'} & sys.modules.keys())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"
