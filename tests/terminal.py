"""A command at a terminal: a pseudo-terminal on which a test types and reads."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.support import hear_interrupts

PATIENCE_S = 60.0
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """What the command wrote so far, and where to type."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._written = b""

    @property
    def screen(self) -> str:
        """All that was written, without what moves the cursor or colours."""
        return _CONTROL.sub("", self._written.decode())

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def interrupt(self) -> None:
        """Type Ctrl-C as a person does: one before a wait has begun would not end it."""
        time.sleep(0.5)
        self.type("\x03")

    def wait_for(self, text: str, *, count: int = 1) -> None:
        """Read until `text` stands on the screen `count` times."""
        deadline = time.monotonic() + PATIENCE_S
        while self.screen.count(text) < count:
            assert time.monotonic() < deadline, f"no {text!r} in {self.screen}"
            assert self._read() or self.process.poll() is None, f"no {text!r} in {self.screen}"

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"no end after {self.screen}"
            self._read()
        while self._read():
            pass
        return self.process.returncode

    def _read(self) -> bool:
        """Whether there was something to read."""
        if not select.select([self._descriptor], [], [], 0.05)[0]:
            return False
        self._written += os.read(self._descriptor, 65_536)
        return True


@contextmanager
def at_terminal(*arguments: object, environment: Mapping[str, str] = {}) -> Iterator[Terminal]:
    """`ccrag` with `arguments`, at a terminal of 100 columns that Ctrl-C reaches it from."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ccrag", *map(str, arguments)]
    # The first terminal that the leader of a session opens is the one that controls it.
    opening = 'exec "$@" <"$0" >"$0" 2>&1'
    process = subprocess.Popen(
        ["sh", "-c", opening, os.ttyname(theirs), *command],
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm", **environment},
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(theirs)
        os.close(ours)
