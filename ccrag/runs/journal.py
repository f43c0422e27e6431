"""
Keep on disk what a run has done, one line a query, so that a killed run can go on.

Provider batches keep what they know in journals too, by other keys. The first line holds the digest
of all that decides the outcome; a journal of another run is refused. A torn last line (a kill while
writing) is cut off. The file is not called `.jsonl`: a submission folder may hold one such file
only.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import orjson

from ccrag.errors import InputError

FILE_NAME = "journal.part"
JournalEntry = dict[str, Any]


class Journal:
    """
    Appends entries, and knows which queries have one. Use as a context manager.

    Of several entries with one key the last counts.
    """

    def __init__(
        self,
        path: Path,
        *,
        run_digest: str,
        key: str = "query_id",
        head: JournalEntry | None = None,
    ) -> None:
        """
        Open `path`, or begin it.

        Args:
            key: the field that entries are kept by.
            head: what the first line says, the digest as `run`; None: the digest alone.

        Raises:
            InputError: it belongs to another run.
        """
        self.path = path
        self._key = key
        self._offsets: dict[str, int] = {}
        if not (path.exists() and self._read(run_digest)):
            path.write_bytes(orjson.dumps(head or {"run": run_digest}) + b"\n")
        self._file = path.open("ab")

    def _read(self, run_digest: str) -> bool:
        """
        Tell whether there is a whole first line; what follows it is taken, a torn end cut off.
        """
        end = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                entry = orjson.loads(line)
                if end == 0 and entry.get("run") != run_digest:
                    raise InputError(
                        "an unfinished run with other settings, queries or index; "
                        "use another --out, or --overwrite to begin anew",
                        path=self.path,
                    )
                if end:
                    self._offsets[entry[self._key]] = end
                end += len(line)
        with self.path.open("r+b") as file:
            file.truncate(end)
        return end > 0

    def __contains__(self, key: object) -> bool:
        return key in self._offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def append(self, entry: JournalEntry) -> None:
        """Keep `entry`, which names its key; on disk when this returns."""
        self._offsets[entry[self._key]] = self._file.tell()
        self._file.write(orjson.dumps(entry) + b"\n")
        self._file.flush()

    def keys(self) -> Iterator[str]:
        """Return the keys that have an entry, in the order they first came."""
        return iter(self._offsets)

    def entries(self, keys: Iterable[str]) -> Iterator[JournalEntry]:
        """Yield the entries of `keys` that have one, in that order."""
        with self.path.open("rb") as file:
            for key in keys:
                if key in self._offsets:
                    file.seek(self._offsets[key])
                    yield orjson.loads(file.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
