"""
A collection read twice: once to know it as a whole, once to hand its documents on.

The first reading gives what must be known before anything is written: a fingerprint, counts and
citation edges. The second is checked against it, so that what is indexed is what was fingerprinted.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from ccrag.corpus.digests import (
    collection_digest,
    document_digest,
    document_weight,
    edges_weight,
)
from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.fields import as_id
from ccrag.corpus.ledger import Ledger
from ccrag.corpus.readers.registry import has_cells
from ccrag.corpus.records import read_records
from ccrag.corpus.report import LoadReport
from ccrag.errors import InputError
from ccrag.types import DocId, Document

CITING, CITED = "citing_doc_id", "cited_doc_id"


class Corpus(ABC):
    """
    A collection known as a whole; its base class reads, its subclasses say where from.

    Close it, or use it in a `with` statement: it holds a temporary database.
    """

    def __init__(self, *, citations: Path | None = None) -> None:
        """
        Read everything once.

        Args:
            citations: a table with columns citing_doc_id and cited_doc_id; its edges count beside
                those the documents' links give, each once.

        Raises:
            InputError: nothing to index, a document or citation at fault, or an unreadable file.
        """
        self._ledger = Ledger()
        self._has_table = citations is not None
        self._weight = 0
        try:
            for document in self._read_first():
                self._weight += document_weight(document_digest(document))
                if document.links:
                    self._ledger.link(document.doc_id, document.links)
            if not self.report.documents:
                raise InputError(self._why_empty())
            self.report.require_text()
            if citations is not None:
                _read_citations(citations, self._ledger)
            self._ledger.count_edges()
        except BaseException:  # Ctrl-C too: the temporary database goes in any case
            self.close()
            raise
        edges = (edges_weight(d, n, self._ledger.cites(d)) for d, n in self._ledger.connected())
        self.fingerprint = collection_digest((self._weight, *edges))
        """The digest of all documents, fields and edges, in hexadecimal, for any order."""
        self.count = self.report.documents
        self.max_edges = self._ledger.max_edges()
        """The largest number of edges of one document."""
        self.unknown_edges = self._ledger.unknown_edges()
        """Edges from or to a document that is not in the collection; they count nowhere."""

    @property
    @abstractmethod
    def report(self) -> LoadReport:
        """Return the report of the first reading."""

    @abstractmethod
    def _read_first(self) -> Iterator[Document]:
        """Yield all documents, their ids entered in the ledger and each counted in the report."""

    @abstractmethod
    def _read_again(self) -> Iterator[Document]:
        """Yield the same documents in the same order."""

    @abstractmethod
    def _why_empty(self) -> str:
        """Return the message for a collection without documents."""

    def digested(self) -> Iterator[tuple[Document, str]]:
        """
        Read the documents again, in the same order, each with its digest; may be repeated.

        Raises:
            InputError: at the end, if they are not those of the first reading.
        """
        weight = 0
        for document in self._read_again():
            digest = document_digest(document)
            weight += document_weight(digest)
            yield document, digest
        if weight != self._weight:
            raise InputError("the documents changed while they were read; run the command again")

    def documents(self) -> Iterator[Document]:
        """Read the documents again, as `digested` does."""
        return (document for document, _ in self.digested())

    def edges(self, doc_id: DocId) -> int:
        """Return how many edges between documents of the collection touch this one."""
        return self._ledger.edges(doc_id) if self.max_edges else 0

    def cites(self, doc_id: DocId) -> tuple[DocId, ...]:
        """Return the documents, known or not, that the table of citations says this one cites."""
        return self._ledger.cites(doc_id) if self._has_table else ()

    def citing(self) -> list[DocId]:
        """Return every document, known or not, that the table of citations lets cite another."""
        return self._ledger.citing()

    def holds(self, doc_id: DocId) -> bool:
        """Tell whether a document is in the collection."""
        return self._ledger.origin(doc_id) is not None

    def close(self) -> None:
        """Delete the temporary database, which all questions need."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_citations(path: Path, ledger: Ledger) -> None:
    if not has_cells(path):
        raise InputError(f"citations come as .csv or .tsv with columns {CITING},{CITED}", path=path)
    for number, fields in read_records(path):
        place = RecordPlace(path, number)
        if isinstance(fields, RecordError):
            raise at(place, fields)
        if CITING not in fields or CITED not in fields:
            raise InputError(f"expected the header {CITING},{CITED}", path=path, line=1)
        try:
            citing, cited = (as_id(fields[name], field=name) for name in (CITING, CITED))
        except RecordError as error:
            raise at(place, error) from error
        ledger.cite(citing, cited)
