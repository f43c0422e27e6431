"""
Reading a file that a stranger gave, in a process of its own that has limits and can be ended.

A reader runs foreign bytes through libraries written in C. Whatever such a file does to them (no
end, no memory left, a crash) happens to the child process alone, and becomes an `InputError` here.
The child (`isolated_child`) sets its own limits before it opens the file, and ends when this
process ends, however that happens.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ccrag.concurrency import StillWanted
from ccrag.config.environment import environment
from ccrag.errors import InputError
from ccrag.types import Document

ANSWER = "answer.json"
"""The file that the child writes beside the one that it reads."""
FAULTS = "faults.txt"
"""The file that holds the traceback of a child that ended in an error."""
POLL_S = 0.05
OUT_OF_MEMORY = 3
"""The child's exit code when Python itself could not get memory."""


class ReadLimits(NamedTuple):
    """The most that reading one file may cost."""

    memory_mb: int
    """Data that the child may hold, the libraries' included."""
    seconds: float
    """Processor time, and twice as much time on the clock."""
    documents: int = 10_000
    """Documents of one file; chunking and indexing them is work of this process."""
    chars: int = 10_000_000
    """Characters of the titles, texts and links of all documents together."""
    answer_mb: int = 256
    """Text and places of the documents, as JSON."""


class IsolatedRead(NamedTuple):
    """The result of the child process."""

    documents: tuple[Document, ...]
    notes: tuple[str, ...]
    """Warnings for a person, e.g. about pages without text."""


def read_isolated(path: Path, limits: ReadLimits, *, still_wanted: StillWanted) -> IsolatedRead:
    """
    Return the documents of one file, read in a child process.

    Args:
        path: a file alone in a folder of its own, where the child may write.
        still_wanted: called often while the child works.

    Raises:
        InputError: the file cannot be read, or costs more than `limits` allow; names the file
            without its folder.
    """
    child = _start(path, limits)
    try:
        deadline = time.monotonic() + 2 * limits.seconds
        while child.poll() is None and time.monotonic() < deadline:
            still_wanted()
            try:
                child.wait(POLL_S)
            except subprocess.TimeoutExpired:
                continue
        ended = child.poll()
    finally:
        _end(child)
    return _answer(path, limits, ended)


def _start(path: Path, limits: ReadLimits) -> "subprocess.Popen[bytes]":
    request = {"file": path.name, **limits._asdict()}
    # -P: a file of the folder is never imported as a module.
    command = [sys.executable, "-P", "-m", "ccrag.corpus.readers.isolated_child"]
    with path.with_name(FAULTS).open("wb") as faults:
        return subprocess.Popen(
            [*command, orjson.dumps(request).decode()],
            cwd=path.parent,
            env={**environment("PYTHONPATH"), "TMPDIR": str(path.parent)},
            stdin=subprocess.PIPE,  # closed by the system when this process ends: the child's sign
            stdout=subprocess.DEVNULL,
            stderr=faults,
            start_new_session=True,
        )


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End the child and whatever it started, such as pandoc."""
    with suppress(ProcessLookupError):  # all of them have ended by themselves
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdin is not None:
        child.stdin.close()


def _answer(path: Path, limits: ReadLimits, ended: int | None) -> IsolatedRead:
    """Return the child's result, or raise the error that its exit means."""
    name = Path(path.name)
    if ended == 0:
        answer = orjson.loads(path.with_name(ANSWER).read_bytes())
        if "problem" in answer:
            raise InputError(answer["problem"], path=name, line=answer["line"])
        documents = []
        for fields in answer["documents"]:  # JSON has lists where a document has tuples
            values: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in fields.items()
            }
            documents.append(Document(**values))
        return IsolatedRead(tuple(documents), tuple(answer["notes"]))
    raise InputError(_why_it_ended(path, limits, ended), path=name)


def _why_it_ended(path: Path, limits: ReadLimits, ended: int | None) -> str:
    """
    Return the message about a file whose reader did not end as it should.

    Args:
        ended: the child's exit code, below 0 for a signal; None: it did not end in time.
    """
    split = "split it, or convert it to plain text"
    if ended is None or ended in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"reading it takes more than {limits.seconds:g} s; {split}"
    faults = path.with_name(FAULTS).read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(faults) if line.strip()), "")
    if ended < 0 or last.startswith("MemoryError") or ended == OUT_OF_MEMORY:
        return f"reading it takes more than {limits.memory_mb} MB of memory, or breaks; {split}"
    return f"its reader failed ({last[:200]}); convert it to plain text"
