"""The record of a node: the state file in its data folder, and the lock beside it."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccrag.errors import NodeError

STATE_FILE = "node.json"
LOCK_FILE = "node.lock"
SECRET_FILE = "node.secret"  # noqa: S105 - a name
"""The secret of every request to the node; made at each start, readable by its owner only."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A process started on a data folder; it may still be on its way up."""

    pid: int
    started: float
    """Start time of the process, seconds since the epoch: tells a reused pid from the node."""
    heap_mb: int
    data: Path

    @property
    def log(self) -> Path:
        """Return everything the process writes, from its start on."""
        return self.data / "logs" / "node.log"


@dataclass(frozen=True, slots=True)
class NodeState(Launch):
    """A node that has answered."""

    url: str
    version: str

    @property
    def port(self) -> int:
        """Return the HTTP port it listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def secret_file(self) -> Path:
        """Return where its secret is kept."""
        return self.data / SECRET_FILE

    def secret(self) -> str:
        """
        Return what the node lets requests in for, to be sent as `Authorization: Bearer …`.

        Raises:
            NodeError: it was started without one, or by another user.
        """
        try:
            return self.secret_file.read_text("utf-8")
        except FileNotFoundError as error:
            raise NodeError(
                f"the node on {self.data} (pid {self.pid}) was started by an older ccrag, without "
                "a secret: run `ccrag node down`, then this command again"
            ) from error
        except OSError as error:
            raise _unreadable(self.secret_file, error) from error


def read_state(data: Path) -> Launch | NodeState | None:
    """
    Return what the state file says, None without one. Says nothing about life: see `process`.

    Raises:
        NodeError: the file is not one that `write_state` wrote.
    """
    path = data / STATE_FILE
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return NodeState(**fields, data=data) if "url" in fields else Launch(**fields, data=data)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    except (TypeError, ValueError) as error:
        raise NodeError(
            f"{path} is damaged ({error}); if no OpenSearch runs on {data}, delete the file"
        ) from error


def write_state(state: Launch | NodeState) -> None:
    """Replace the state file in one step; the data folder is not in it, so it may be moved."""
    fields: dict[str, Any] = {
        "pid": state.pid,
        "started": state.started,
        "heap_mb": state.heap_mb,
    }
    if isinstance(state, NodeState):
        fields |= {"url": state.url, "version": state.version}
    draft = state.data / f"{STATE_FILE}.draft"
    draft.write_text(json.dumps(fields), "utf-8")
    draft.replace(state.data / STATE_FILE)


def forget_state(data: Path) -> None:
    """Remove the state file and the secret, if they are there."""
    for name in (STATE_FILE, SECRET_FILE):
        (data / name).unlink(missing_ok=True)


def renew_secret(data: Path) -> None:
    """Write a new secret where only its owner can read it; never an old file, never a link."""
    path = data / SECRET_FILE
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(32))


def _unreadable(path: Path, error: OSError) -> NodeError:
    return NodeError(
        f"cannot read {path} ({error.strerror}); the node belongs to who started it: name a data "
        "folder of your own (node.data, --data)"
    )


@contextmanager
def exclusive(folder: Path, *, timeout_s: float, doing: str) -> Iterator[None]:
    """
    Hold `folder` (created if missing, readable by its owner only) against other ccrag commands.

    Raises:
        NodeError: another command holds it for longer than `timeout_s`, or it cannot be written.
    """
    import filelock  # brings asyncio along: not for commands that only look

    lock = filelock.FileLock(folder / LOCK_FILE)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire(timeout=timeout_s)
    except filelock.Timeout as error:
        raise NodeError(
            f"another ccrag command is {doing} in {folder} for more than {timeout_s:.0f} s; "
            "wait for it or end it, then try again"
        ) from error
    except OSError as error:
        raise NodeError(
            f"cannot write to {folder} ({error.strerror}); choose another folder"
        ) from error
    try:
        yield
    finally:
        lock.release()
