"""Processes are known by pid and start time."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ccrag.config.environment import INHERITED
from ccrag.engine.node.process import START_TOLERANCE_S, end_process, find_process, spawn

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


def python(code: str, log: Path) -> psutil.Process:
    return spawn([sys.executable, "-c", code], log=log)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[psutil.Process]:
    process = python("import time; time.sleep(60)", tmp_path / "log")
    yield process
    if process.is_running():
        process.kill()
        process.wait(5)


def test_a_live_process_is_found(sleeper: psutil.Process) -> None:
    found = find_process(sleeper.pid, started=sleeper.create_time())
    assert found is not None
    assert found.pid == sleeper.pid


def test_a_reused_pid_is_neither_found_nor_ended(sleeper: psutil.Process) -> None:
    other = sleeper.create_time() - START_TOLERANCE_S - 1
    assert find_process(sleeper.pid, started=other) is None
    assert not end_process(sleeper.pid, started=other)
    assert sleeper.is_running()


def test_a_dead_child_nobody_waited_for_is_not_alive(sleeper: psutil.Process) -> None:
    started = sleeper.create_time()
    os.kill(sleeper.pid, signal.SIGKILL)
    while sleeper.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert find_process(sleeper.pid, started=started) is None


def test_ending_waits_until_it_is_gone(sleeper: psutil.Process) -> None:
    started = sleeper.create_time()
    assert end_process(sleeper.pid, started=started)
    assert not psutil.pid_exists(sleeper.pid)
    assert not end_process(sleeper.pid, started=started)


def test_what_ignores_the_request_is_ended_by_force(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = python(STUBBORN, log)
    while "ready" not in log.read_text():
        time.sleep(0.01)
    assert end_process(process.pid, started=process.create_time(), grace_s=0.2)
    assert not psutil.pid_exists(process.pid)


def test_a_spawned_process_has_a_session_and_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("from before")
    code = "import os, sys; print(os.getsid(0) == os.getpid()); sys.stderr.write(sys.stdin.read())"
    python(code, log).wait(30)
    assert log.read_text() == "True\n"


def test_no_key_of_the_environment_reaches_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    monkeypatch.setenv("JAVA_HOME", "/jdk")
    log = tmp_path / "log"
    python("import os; print(*os.environ)", log).wait(10)
    names = set(log.read_text().split())
    assert "JAVA_HOME" in names
    assert names <= {*INHERITED, "JAVA_HOME"}
