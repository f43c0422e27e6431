"""The ledger is closed while another thread asks it: an error at most, never a dead process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from ccrag.concurrency import prefetched
from ccrag.corpus.ledger import Ledger, Origin

HAMMER = """
import sqlite3, threading
from ccrag.corpus.ledger import Ledger, Origin
for _ in range(150):
    ledger = Ledger()
    for number in range(200):
        ledger.enter(f"d{number}", Origin(0, number))
        ledger.link(f"d{number}", [f"d{number + 1}"])
    ledger.count_edges()
    def ask():
        try:
            while True:
                for number in range(200):
                    ledger.edges(f"d{number}")
        except sqlite3.ProgrammingError:
            pass
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    ledger.close()
    for thread in threads:
        thread.join()
"""


def test_closing_while_others_ask_ends_in_an_error_not_a_crash() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HAMMER], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_failing_writer_ends_reading_before_the_ledger_closes() -> None:
    ledger, asked = Ledger(), list[int]()
    ledger.enter("d", Origin(0, 1))

    def read() -> Iterator[int]:
        for number in range(100_000):
            asked.append(ledger.edges("d"))
            yield number

    def fail() -> None:
        with closing(prefetched(read(), depth=4)) as ahead:
            next(ahead)
            raise OSError("the engine went away")

    with pytest.raises(OSError, match="went away"):
        fail()
    count = len(asked)
    ledger.close()
    assert len(asked) == count < 100
