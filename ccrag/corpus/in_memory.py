"""Documents that are in memory already, seen as a collection the way `scan` sees files."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from ccrag.corpus.digests import collection_digest, document_digest, document_weight
from ccrag.corpus.fields import as_id
from ccrag.corpus.ledger import LedgerCorpus, Origin
from ccrag.corpus.load import LoadReport
from ccrag.corpus.scan import edge_weights
from ccrag.errors import InputError
from ccrag.types import DocId, Document, require_text


class Corpus(Protocol):
    """A collection known as a whole before anything of it is written."""

    @property
    def report(self) -> LoadReport: ...
    @property
    def fingerprint(self) -> str:
        """Return the digest of all documents, fields and edges, in hexadecimal, for any order."""
        ...

    @property
    def count(self) -> int: ...
    @property
    def max_edges(self) -> int: ...

    def documents(self) -> Iterator[Document]: ...

    def edges(self, doc_id: DocId) -> int: ...

    def cites(self, doc_id: DocId) -> tuple[DocId, ...]:
        """Return what a table of citations says this document cites, known or not."""
        ...

    def citing(self) -> list[DocId]:
        """Return every document, known or not, that a table of citations lets cite another."""
        ...

    def holds(self, doc_id: DocId) -> bool:
        """Tell whether a document is in the collection."""
        ...


class InMemoryCorpus(LedgerCorpus):
    """A `Corpus` of documents held in memory; the same from files have its fingerprint."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """
        Look at every document once.

        Raises:
            InputError: no document, an id that cannot be one, or an id given twice.
        """
        self._documents = tuple(documents)
        super().__init__()
        self.report = LoadReport()
        weight = 0
        try:
            for number, document in enumerate(self._documents, start=1):
                self._enter(number, document)
                weight += document_weight(document_digest(document))
            if not self._documents:
                raise InputError("no documents were given")
            self.report.require_text()
        except BaseException:
            self.close()
            raise
        self._ledger.count_edges()
        self.fingerprint = collection_digest((weight, *edge_weights(self._ledger)))
        self.count = len(self._documents)
        self.max_edges = self._ledger.max_edges()

    def _enter(self, number: int, document: Document) -> None:
        name = f"the doc_id of document {number}"
        if as_id(document.doc_id, field=name) != document.doc_id:
            raise InputError(f"{name}, {document.doc_id!r}, starts or ends with a blank; remove it")
        named = (document.doc_id, document.title, document.text, document.date, document.collection)
        for text in (*named, *document.links):
            require_text(text or "", what=f"document {number} ({document.doc_id!r})")
        if not self._ledger.enter(document.doc_id, Origin(0, number)):
            raise InputError(f"document {number}: id {document.doc_id!r} was given before")
        self._ledger.link(document.doc_id, document.links)
        self.report.add(document)

    def documents(self) -> Iterator[Document]:
        """Return the documents, in the order given."""
        return iter(self._documents)
