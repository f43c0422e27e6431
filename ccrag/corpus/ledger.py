"""
What must be known about all documents at once, in a temporary database: ids seen, and edges.

Memory stays flat however large the collection; SQLite keeps the rows in a private file that
vanishes with the connection.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from ccrag.types import DocId

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32768;
CREATE TABLE seen (doc_id TEXT PRIMARY KEY, file INTEGER, number INTEGER) WITHOUT ROWID;
CREATE TABLE edge (citing TEXT, cited TEXT, PRIMARY KEY (citing, cited)) WITHOUT ROWID;
CREATE TABLE degree (doc_id TEXT PRIMARY KEY, edges INTEGER) WITHOUT ROWID;
"""
_KNOWN_EDGES = """
FROM edge JOIN seen AS a ON a.doc_id = edge.citing JOIN seen AS b ON b.doc_id = edge.cited
"""
_COUNT_EDGES = f"""
INSERT INTO degree
SELECT doc_id, COUNT(*) FROM (
    SELECT citing AS doc_id {_KNOWN_EDGES} UNION ALL SELECT cited {_KNOWN_EDGES}
) GROUP BY doc_id
"""  # noqa: S608  both parts are constants


class Origin(NamedTuple):
    """Where a document came from: the number of its file, and of its record there."""

    file: int
    number: int


class Ledger:
    """Ids and edges of one collection; usable from one thread at a time."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Delete the database; harmless when repeated."""
        self._db.close()

    def enter(self, doc_id: DocId, origin: Origin) -> bool:
        """Note that a document was seen; False if its id was seen before, which stays noted."""
        row = (doc_id, *origin)
        return self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", row).rowcount == 1

    def origin(self, doc_id: DocId) -> Origin | None:
        """Where a document was first seen."""
        row = self._db.execute(
            "SELECT file, number FROM seen WHERE doc_id = ?", (doc_id,)
        ).fetchone()
        return None if row is None else Origin(*row)

    def link(self, citing: DocId, cited: Iterable[DocId]) -> None:
        """Note edges from one document to others; repeated ones count once, self links never."""
        rows = ((citing, other) for other in cited if other != citing)
        self._db.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?)", rows)

    def count_edges(self) -> None:
        """Count the edges of every document seen; to be called once, when all is noted."""
        self._db.execute(_COUNT_EDGES)

    def edges(self, doc_id: DocId) -> int:
        """How many edges between documents of the collection touch this one."""
        row = self._db.execute("SELECT edges FROM degree WHERE doc_id = ?", (doc_id,)).fetchone()
        return 0 if row is None else int(row[0])

    def edge_counts(self) -> Iterable[tuple[DocId, int]]:
        """Every document that has edges, with their number, by id."""
        return self._db.execute("SELECT doc_id, edges FROM degree ORDER BY doc_id")

    def max_edges(self) -> int:
        """The largest number of edges of one document; 0 if there are none."""
        return int(self._db.execute("SELECT COALESCE(MAX(edges), 0) FROM degree").fetchone()[0])

    def unknown_edges(self) -> int:
        """How many edges lead out of the collection, or lie outside it."""
        total = self._db.execute("SELECT COUNT(*) FROM edge").fetchone()[0]
        known = self._db.execute(f"SELECT COUNT(*) {_KNOWN_EDGES}").fetchone()[0]
        return int(total - known)
