"""
Vectors on disk: the same text is never encoded twice by the same model.

One SQLite file per model and options, in the user's cache folder. Vectors are stored as the model
gave them, in float32, and the vector that was written first stays: the last bit of a vector may
depend on the texts that shared its batch, and a text must always have the same vector. Several
processes may use a file at once. A file may be deleted at any time; it costs encoding again.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from ccrag.errors import ModelError

LOCK_TIMEOUT_S = 60.0
_KEYS_PER_QUERY = 900
"""Older SQLite builds take 999 values."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY, vector BLOB NOT NULL, truncated INTEGER NOT NULL
)
"""


class CachedVector(NamedTuple):
    """The vector of one text, as it is stored."""

    vector: bytes
    """Little-endian float32."""
    truncated: bool


class VectorCache:
    """The cached vectors of one model, by `key_of` their texts. Safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        """
        Open `path`, or make it.

        Raises:
            ModelError: it cannot be written, or is no cache.
        """
        self.path = path
        with self._errors():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S), self._open() as db:
                db.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer
                db.execute(_SCHEMA)

    @classmethod
    def of(cls, folder: Path, model_id: str, identity: Mapping[str, str]) -> "VectorCache":
        """Return the cache in `folder` of the model with this `identity`."""
        stated = json.dumps(dict(identity), sort_keys=True).encode()
        digest = hashlib.blake2b(stated, digest_size=8).hexdigest()
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(model_id).name)[:60]
        return cls(folder / f"{name}-{digest}.sqlite")

    def fetch(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """Return the vectors of `keys`; those that are not cached are left out."""
        found: dict[bytes, CachedVector] = {}
        with self._errors(), self._open() as db:
            for first in range(0, len(keys), _KEYS_PER_QUERY):
                some = keys[first : first + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                rows = db.execute(
                    f"SELECT key, vector, truncated FROM vectors WHERE key IN ({marks})",  # noqa: S608
                    some,
                )
                found.update((key, CachedVector(vector, bool(cut))) for key, vector, cut in rows)
        return found

    def add(self, vectors: Mapping[bytes, CachedVector]) -> None:
        """Write all of `vectors` or none; a key that is there already keeps its vector."""
        rows = [(key, cached.vector, cached.truncated) for key, cached in vectors.items()]
        with self._errors(), self._open() as db, db:
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def drop(self, keys: Sequence[bytes]) -> int:
        """Delete the vectors of `keys`, overwritten on disk; returns how many there were."""
        before = 0
        with self._errors(), self._open() as db:
            db.execute("PRAGMA secure_delete = ON")
            with db:
                for first in range(0, len(keys), _KEYS_PER_QUERY):
                    some = keys[first : first + _KEYS_PER_QUERY]
                    marks = ",".join("?" * len(some))
                    done = db.execute(f"DELETE FROM vectors WHERE key IN ({marks})", some)  # noqa: S608
                    before += done.rowcount
            if before:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before

    def __len__(self) -> int:
        with self._errors(), self._open() as db:
            (count,) = db.execute("SELECT count(*) FROM vectors").fetchone()
        return int(count)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one task."""
        # Cheap, and never shared by two threads or forked processes, which SQLite forbids.
        with closing(sqlite3.connect(self.path, timeout=LOCK_TIMEOUT_S)) as db:
            db.execute("PRAGMA synchronous = NORMAL")
            yield db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise ModelError(
                f"the cache of vectors {self.path} cannot be used: {error}; "
                "delete it, or pass --set encoder.cache=false"
            ) from error


def key_of(prefix: str, text: str) -> bytes:
    """Return the key, 16 bytes, of `text` encoded behind `prefix`."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (prefix, text):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()
