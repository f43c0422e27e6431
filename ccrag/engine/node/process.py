"""Processes by pid *and* start time, so that a reused pid is never taken for the node."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from ccrag.config.environment import environment
from ccrag.errors import NodeError

START_TOLERANCE_S = 2.0
"""Start times are derived from the boot time, which the clock's corrections move a little."""


def spawn(command: list[str], *, log: Path) -> psutil.Process:
    """
    Start `command` in a session of its own, so that it outlives us; its output goes to `log`.

    Of our environment it gets what `environment` names, and JAVA_HOME.

    Not `subprocess`: its objects warn when they are dropped before the process has ended.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(
        command[0],
        command,
        environment("JAVA_HOME"),
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
    return psutil.Process(pid)


def find_process(pid: int, *, started: float) -> psutil.Process | None:
    """Return the live process with this pid and start time; None if it has ended."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        same = abs(process.create_time() - started) <= START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return None
    return process if same else None


def find_on_folder(program: str, folder: Path) -> psutil.Process | None:
    """Return the live process whose command line ends in `program`, `folder` and one more word."""
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if words[-3:-2] != [program] or process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        if Path(words[-2]).resolve() == folder.resolve():
            return process
    return None


def end_process(pid: int, *, started: float, grace_s: float = 20.0) -> bool:
    """
    End that process and wait for it: a request first, by force after `grace_s`.

    Returns:
        Whether it was running.

    Raises:
        NodeError: it belongs to another user, or survives even force.
    """
    process = find_process(pid, started=started)
    if process is None:
        return False
    try:
        process.terminate()
        if not _ended(process, within_s=grace_s):
            process.kill()
            if not _ended(process, within_s=grace_s):
                raise NodeError(f"process {pid} does not end; end it by hand, then try again")
    except psutil.NoSuchProcess:
        pass  # it ended by itself between two steps
    except psutil.AccessDenied as error:
        raise NodeError(f"process {pid} belongs to another user, who has to end it") from error
    return True


def _ended(process: psutil.Process, *, within_s: float) -> bool:
    try:
        process.wait(within_s)
    except psutil.TimeoutExpired:
        return process.status() == psutil.STATUS_ZOMBIE
    return True
