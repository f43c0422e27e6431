"""One start of the node: checks before it, the command line, the wait, the words when it fails."""

from __future__ import annotations

import re
import shutil
import stat
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ccrag.config import NodeSettings
from ccrag.engine.node.health import is_ready, node_version
from ccrag.engine.node.java import find_java
from ccrag.engine.node.process import end_process, find_process, spawn
from ccrag.engine.node.state import (
    Launch,
    NodeState,
    forget_state,
    renew_secret,
    write_state,
)
from ccrag.errors import NodeError

MIN_FREE_BYTES = 1024**3
"""The node runs without a disk watermark, so a disk about to fill up is refused here."""
PROGRAM = "OsNode"
"""The launcher; with the data folder behind it, a command line tells whose node it is."""
TAIL_LINES = 8
TAIL_COLUMNS = 300
_STACK_FRAME = re.compile(r"\s+(at |\.\.\. \d+ (more|common))")

_CAUSES = (
    (r"Address already in use", "its port is taken; choose another (--port), or leave it out"),
    (r"No space left on device", "the disk is full; free some space, or choose another (--data)"),
    (
        r"failed to obtain node locks|LockObtainFailedException",
        "another process uses this data folder; end it, or choose another folder (--data)",
    ),
    (
        r"insufficient memory|Could not reserve enough space|(?<!ExitOn)OutOfMemoryError",
        "its memory does not suffice; choose another heap (--heap-mb)",
    ),
    (r"AccessDeniedException|Permission denied", "it may not write there; mend the permissions"),
    (
        r"[Cc]annot downgrade|not compatible with the current version",
        "the data were written by another OpenSearch; choose another folder (--data)",
    ),
)


def start_node(data: Path, settings: NodeSettings, runtime: Path) -> NodeState:
    """
    Start a node on `data` and return once it is ready. The caller holds the lock of `data`.

    Raises:
        NodeError: no Java, too little disk space, or the node ended or took too long; nothing is
            left running then.
    """
    check_free_space(data)
    java = find_java("java")
    _close_to_others(data)
    renew_secret(data)
    _ports_file(data).unlink(missing_ok=True)
    log = data / "logs" / "node.log"
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    process = spawn(
        node_command(java, runtime, data, port=settings.port or 0, heap_mb=settings.heap_mb),
        log=log,
    )
    launch = Launch(process.pid, process.create_time(), settings.heap_mb, data)
    with ExitStack() as undo:
        undo.callback(_abandon, launch)
        write_state(launch)
        state = _await_ready(launch, timeout_s=settings.start_timeout_s)
        write_state(state)
        undo.pop_all()
    return state


def _close_to_others(data: Path) -> None:
    """
    Let nobody else read what the node writes, or write where its state and secret are kept.

    The data folder itself may be one that others look into; a sticky one, such as /tmp, already
    keeps them from replacing files.
    """
    for name in ("config", "data", "logs", "tmp"):
        (data / name).mkdir(exist_ok=True)
        (data / name).chmod(0o700)
    mode = stat.S_IMODE(data.stat().st_mode)
    if mode & 0o022 and not mode & stat.S_ISVTX:
        data.chmod(mode & ~0o022)


def check_free_space(data: Path) -> None:
    """Refuse a disk that is nearly full (NodeError)."""
    free = shutil.disk_usage(data).free
    if free < MIN_FREE_BYTES:
        raise NodeError(
            f"{data}: {free / 1024**2:.0f} MiB free, the node needs "
            f"{MIN_FREE_BYTES / 1024**2:.0f} MiB; free some space, or choose another (--data)"
        )


def node_command(java: str, runtime: Path, data: Path, *, port: int, heap_mb: int) -> list[str]:
    """Return the command line; port 0 lets the system choose a free one."""
    return [
        java,
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        "-Xss1m",
        "-XX:+UseG1GC",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={data / 'logs' / 'hs_err.log'}",
        "-Dfile.encoding=UTF-8",
        f"-Djava.io.tmpdir={data / 'tmp'}",
        "-Dio.netty.noUnsafe=true",
        "-Dio.netty.noKeySetOptimization=true",
        "-Dio.netty.recycler.maxCapacityPerThread=0",
        "-Dlog4j2.disable.jmx=true",
        "-Dlog4j.shutdownHookEnabled=false",
        "-cp",
        f"{runtime}/classes:{runtime}/lib/*",
        PROGRAM,
        str(data),
        str(port),
    ]


def failure_message(what: str, log: Path) -> str:
    """Return `what`, the cause if the log shows a known one, and the log's last telling lines."""
    text = log.read_text("utf-8", errors="replace") if log.exists() else ""
    causes = [advice for pattern, advice in _CAUSES if re.search(pattern, text)]
    head = f"{what}: {causes[0]}" if causes else what
    telling = [line for line in text.splitlines() if line.strip() and not _STACK_FRAME.match(line)]
    tail = [line[:TAIL_COLUMNS] for line in telling[-TAIL_LINES:]]
    return "\n  ".join([f"{head}; the log {log} ends with:", *tail])


def _await_ready(launch: Launch, *, timeout_s: float) -> NodeState:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if find_process(launch.pid, started=launch.started) is None:
            raise NodeError(failure_message("OpenSearch ended during its start", launch.log))
        state = _ready_state(launch)
        if state is not None:
            return state
        time.sleep(0.1)
    raise NodeError(
        failure_message(
            f"OpenSearch was not ready after {timeout_s:g} s (node.start_timeout_s)", launch.log
        )
    )


def _ready_state(launch: Launch) -> NodeState | None:
    ports = _ports_file(launch.data)
    if not ports.exists():
        return None
    url = f"http://{ports.read_text('utf-8').split()[0]}"
    state = NodeState(launch.pid, launch.started, launch.heap_mb, launch.data, url, "")
    secret = state.secret()
    if not is_ready(url, timeout_s=5.0, secret=secret):
        return None
    version = node_version(url, secret=secret)
    return None if version is None else replace(state, version=version)


def _ports_file(data: Path) -> Path:
    """Return where the node writes `127.0.0.1:PORT` as soon as it listens."""
    return data / "logs" / "http.ports"


def _abandon(launch: Launch) -> None:
    end_process(launch.pid, started=launch.started, grace_s=5.0)
    forget_state(launch.data)
