"""
Ids and citation edges of all documents of a collection, in a temporary database.

Memory stays flat however large the collection; SQLite keeps the rows in a private file that
vanishes with the connection.
"""

import sqlite3
from collections.abc import Iterable
from threading import Lock
from typing import Any, NamedTuple

from ccrag.types import DocId

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32768;
CREATE TABLE seen (doc_id TEXT PRIMARY KEY, file INTEGER, number INTEGER) WITHOUT ROWID;
CREATE TABLE edge (citing TEXT, cited TEXT, PRIMARY KEY (citing, cited)) WITHOUT ROWID;
CREATE TABLE listed (citing TEXT, cited TEXT, PRIMARY KEY (citing, cited)) WITHOUT ROWID;
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
    """
    Ids and edges of one collection; safe for threads.

    SQLite itself is not: closing a connection while another thread asks it ends the process
    (seen: exit -11), so every question and `close` take turns.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._lock = Lock()
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Delete the database; harmless when repeated. Questions asked later raise."""
        with self._lock:
            self._db.close()

    def enter(self, doc_id: DocId, origin: Origin) -> bool:
        """Note that a document was seen; False if its id was seen before, which stays noted."""
        row = (doc_id, *origin)
        with self._lock:
            done = self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", row)
            return done.rowcount == 1

    def origin(self, doc_id: DocId) -> Origin | None:
        """Return where a document was first seen."""
        rows = self._rows("SELECT file, number FROM seen WHERE doc_id = ?", doc_id)
        return Origin(*rows[0]) if rows else None

    def link(self, citing: DocId, cited: Iterable[DocId]) -> None:
        """Note edges from one document to others; repeated ones count once, self links never."""
        self._insert("edge", citing, cited)

    def cite(self, citing: DocId, cited: DocId) -> None:
        """Note an edge that a table of citations lists, beside those the documents give."""
        self._insert("edge", citing, (cited,))
        self._insert("listed", citing, (cited,))

    def _insert(self, table: str, citing: DocId, cited: Iterable[DocId]) -> None:
        rows = [(citing, other) for other in cited if other != citing]
        with self._lock:
            self._db.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", rows)  # noqa: S608

    def count_edges(self) -> None:
        """Count the edges of every document seen; to be called once, when all is noted."""
        with self._lock:
            self._db.execute(_COUNT_EDGES)

    def edges(self, doc_id: DocId) -> int:
        """Return how many edges between documents of the collection touch this one."""
        rows = self._rows("SELECT edges FROM degree WHERE doc_id = ?", doc_id)
        return int(rows[0][0]) if rows else 0

    def cites(self, doc_id: DocId) -> tuple[DocId, ...]:
        """Return the documents, known or not, that a table says this one cites, sorted by id."""
        rows = self._rows("SELECT cited FROM listed WHERE citing = ? ORDER BY cited", doc_id)
        return tuple(cited for (cited,) in rows)

    def citing(self) -> list[DocId]:
        """Return every document, seen or not, that a table of citations lets cite another."""
        return [doc_id for (doc_id,) in self._rows("SELECT DISTINCT citing FROM listed")]

    def connected(self) -> list[tuple[DocId, int]]:
        """Return every document seen that has edges, or cites by a table, with its edges."""
        return self._rows(
            "SELECT seen.doc_id, COALESCE(edges, 0) FROM seen LEFT JOIN degree USING (doc_id) "
            "WHERE edges > 0 OR seen.doc_id IN (SELECT citing FROM listed)"
        )

    def max_edges(self) -> int:
        """Return the largest number of edges of one document; 0 if there are none."""
        return int(self._rows("SELECT COALESCE(MAX(edges), 0) FROM degree")[0][0])

    def unknown_edges(self) -> int:
        """Return how many edges lead out of the collection, or lie outside it."""
        total = self._rows("SELECT COUNT(*) FROM edge")[0][0]
        known = self._rows(f"SELECT COUNT(*) {_KNOWN_EDGES}")[0][0]
        return int(total - known)

    def _rows(self, question: str, *values: str) -> list[Any]:
        with self._lock:
            return self._db.execute(question, values).fetchall()
