"""
The embedded OpenSearch node: one JVM process per data folder, kept until `stop_node`.

    jars      what it is made of: pinned Maven artifacts in a per-user cache, checked by digest
    java      the Java tools of this machine
    launch    one start
    process   processes by pid and start time
    health    questions over HTTP
    state     the state file and the lock
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs

from ccrag.config import NodeSettings
from ccrag.engine.node.health import answers
from ccrag.engine.node.jars import prepare_runtime
from ccrag.engine.node.launch import PROGRAM, start_node
from ccrag.engine.node.process import end_process, find_on_folder, find_process
from ccrag.engine.node.state import NodeState, exclusive, forget_state, read_state
from ccrag.errors import NodeError

__all__ = [
    "NodeState",
    "data_folder",
    "ensure_node",
    "find_node",
    "node_answers",
    "stop_node",
    "stray_pid",
]

_LOCK_SLACK_S = 60.0
"""Waiting for another command's start: as long as that may take, and stopping what it replaces."""


def _ignore(_: str) -> None:
    pass


def data_folder(settings: NodeSettings) -> Path:
    """Return the absolute data folder: the one set, else the per-user one."""
    if settings.data is not None:
        return settings.data.expanduser().absolute()
    return platformdirs.user_data_path("ccrag", appauthor=False) / "node"


def ensure_node(settings: NodeSettings, *, notify: Callable[[str], None] = _ignore) -> NodeState:
    """
    Return the node on the data folder, starting it if none runs; a dead one is replaced.

    Args:
        notify: takes progress lines ("starting OpenSearch ...").

    Raises:
        NodeError: it cannot be started, does not answer, or runs with another port or heap than
            `settings` were explicitly given.
    """
    data = data_folder(settings)
    running = _running(settings)
    if running is not None and node_answers(running):
        return running
    runtime = prepare_runtime(platformdirs.user_cache_path("ccrag", appauthor=False), notify=notify)
    timeout_s = settings.start_timeout_s + _LOCK_SLACK_S
    with exclusive(data, timeout_s=timeout_s, doing="starting or stopping the node"):
        running = _running(settings)
        if running is not None:
            return _require_answer(running)
        _clear_remains(data, notify)
        notify(f"starting OpenSearch (data {data}, heap {settings.heap_mb} MB)")
        return start_node(data, settings, runtime)


def find_node(settings: NodeSettings) -> NodeState | None:
    """Return the node that runs on the data folder, without asking whether it answers."""
    state = read_state(data_folder(settings))
    if not isinstance(state, NodeState):
        return None
    return state if find_process(state.pid, started=state.started) else None


def node_answers(state: NodeState) -> bool:
    """
    Tell whether the node answers HTTP requests.

    Raises:
        NodeError: it was started without a secret, or by another user.
    """
    return answers(state.url, secret=state.secret())


def stray_pid(settings: NodeSettings) -> int | None:
    """Return the node that runs on the data folder without being on record; None: there is none."""
    data = data_folder(settings)
    if not data.is_dir():
        return None
    state = read_state(data)
    if state is not None and find_process(state.pid, started=state.started):
        return None
    process = find_on_folder(PROGRAM, data)
    return None if process is None else process.pid


def stop_node(
    settings: NodeSettings, *, notify: Callable[[str], None] = _ignore
) -> NodeState | None:
    """
    End the node on the data folder and wait for it; its data stay. None if none was on record.

    Args:
        notify: takes a line on a node that was not on record, and was ended too.

    Raises:
        NodeError: another command is starting it, or the process is not ours to end.
    """
    data = data_folder(settings)
    if not data.is_dir():
        return None
    timeout_s = settings.start_timeout_s + _LOCK_SLACK_S
    with exclusive(data, timeout_s=timeout_s, doing="starting or stopping the node"):
        state = read_state(data)
        was_running = state is not None and end_process(state.pid, started=state.started)
        forget_state(data)
        _end_stray(data, notify)
    return state if was_running and isinstance(state, NodeState) else None


def _running(settings: NodeSettings) -> NodeState | None:
    state = find_node(settings)
    if state is not None:
        _refuse_other_settings(state, settings)
    return state


def _require_answer(state: NodeState) -> NodeState:
    """
    Return the node if it answers.

    Call it under the lock: then no other command is stopping the node.
    """
    if not node_answers(state):
        raise NodeError(
            f"the node on {state.data} (pid {state.pid}) does not answer at {state.url}; "
            f"look into {state.log}, or run `ccrag node down` and try again"
        )
    return state


def _refuse_other_settings(state: NodeState, settings: NodeSettings) -> None:
    """Refuse a running node whose port or heap is not the one set; defaults are not compared."""
    if settings.port is not None and settings.port != state.port:
        raise NodeError(
            f"the node on {state.data} listens on port {state.port}, asked was {settings.port}; "
            "run `ccrag node down` first"
        )
    if "heap_mb" in settings.model_fields_set and settings.heap_mb != state.heap_mb:
        raise NodeError(
            f"the node on {state.data} has a heap of {state.heap_mb} MB, asked was "
            f"{settings.heap_mb} MB; run `ccrag node down` first"
        )


def _clear_remains(data: Path, notify: Callable[[str], None]) -> None:
    """Clear up after a node that died, or after a command that died while starting one."""
    remains = read_state(data)
    if remains is not None:
        notify(f"the node on {data} (pid {remains.pid}) is gone; starting another on its data")
        end_process(remains.pid, started=remains.started)
        forget_state(data)
    _end_stray(data, notify)


def _end_stray(data: Path, notify: Callable[[str], None]) -> None:
    """End a node whose starter was killed before it wrote down which process it is."""
    process = find_on_folder(PROGRAM, data)
    if process is not None:
        notify(f"ending process {process.pid}, a node on {data} that is not on record")
        end_process(process.pid, started=process.create_time())
