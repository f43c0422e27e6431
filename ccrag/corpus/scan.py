"""
A collection read twice: once to know it as a whole, once to hand its documents on.

The first reading gives what must be known before anything is written: a fingerprint, counts and
citation edges. The second is checked against it, so that what is indexed is what was fingerprinted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ccrag.corpus.digests import (
    collection_digest,
    document_digest,
    document_weight,
    edges_weight,
)
from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.fields import as_id
from ccrag.corpus.ledger import Ledger, LedgerCorpus
from ccrag.corpus.load import ErrorMode, LoadReport, find_files, read_documents
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits
from ccrag.corpus.readers.registry import has_cells
from ccrag.corpus.records import read_records
from ccrag.errors import InputError
from ccrag.types import Document

CITING, CITED = "citing_doc_id", "cited_doc_id"


def edge_weights(ledger: Ledger) -> Iterator[int]:
    """Yield what the edges of each document of the collection add to its digest."""
    for doc_id, edges in ledger.connected():
        yield edges_weight(doc_id, edges, ledger.cites(doc_id))


class CorpusScan(LedgerCorpus):
    """Read a collection once, to know what it holds; `documents` reads it again."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        collections: Mapping[Path, str] | None = None,
        on_error: ErrorMode = "stop",
        citations: Path | None = None,
        sizes: SizeLimits = DEFAULT_SIZES,
    ) -> None:
        """
        Read everything once.

        Args:
            paths: files and folders of documents.
            collections: the collection of all documents below a path, by path.
            on_error: what to do at a record that cannot be used.
            citations: a table with columns citing_doc_id and cited_doc_id; its edges count beside
                those the documents' links give, each once.
            sizes: what may be read of one file.

        Raises:
            InputError: nothing to index, an unusable record (with "stop"), an unreadable file.
        """
        self.report = LoadReport()
        self._on_error: ErrorMode = on_error
        self._sizes = sizes
        self._files = find_files(paths, self.report)
        self._collections = _by_file(collections or {})
        super().__init__(has_table=citations is not None)
        try:
            self._weight = self._read(paths)
            if citations is not None:
                _read_citations(citations, self._ledger)
            self._ledger.count_edges()
        except BaseException:
            self.close()
            raise
        self.fingerprint = collection_digest((self._weight, *edge_weights(self._ledger)))
        """The digest of all documents, fields and edges, in hexadecimal, for any order."""
        self.count = self.report.documents
        self.max_edges = self._ledger.max_edges()
        self.unknown_edges = self._ledger.unknown_edges()
        """Edges from or to a document that is not in the collection; they count nowhere."""

    def _read(self, paths: Sequence[Path]) -> int:
        """Read everything once; returns the sum of the documents' weights."""
        weight = 0
        documents = read_documents(
            self._files,
            collections=self._collections,
            on_error=self._on_error,
            sizes=self._sizes,
            report=self.report,
            ledger=self._ledger,
        )
        for document in documents:
            weight += document_weight(document_digest(document))
            if document.links:
                self._ledger.link(document.doc_id, document.links)
        if not self.report.documents:
            named = ", ".join(map(str, paths))
            raise InputError(
                f"no documents in {named or 'an empty list of paths'}{self._instead()}"
            )
        self.report.require_text()
        return weight

    def _instead(self) -> str:
        """Return what there was instead of documents."""
        said = [line for line in self.report.lines()[1:] if not line.startswith("  to read")]
        return f" ({'; '.join(said)})" if said else ""

    def documents(self) -> Iterator[Document]:
        """
        Read the documents again, in the same order; may be repeated.

        Raises:
            InputError: at the end, if they are not what the first reading saw.
        """
        weight = 0
        repeated = self.report.skipped["duplicate"] > 0
        for document in read_documents(
            self._files,
            collections=self._collections,
            on_error=self._on_error,
            sizes=self._sizes,
            ledger=self._ledger if repeated else None,
        ):
            weight += document_weight(document_digest(document))
            yield document
        if weight != self._weight:
            raise InputError("the documents changed while they were read; run the command again")


def _by_file(collections: Mapping[Path, str]) -> dict[Path, str]:
    """Return the collection of each file, from that of the paths it lies under."""
    by_file: dict[Path, str] = {}
    for path, name in collections.items():
        for file, _ in find_files([path], LoadReport()):
            if by_file.setdefault(file, name) != name:
                raise InputError(f"is put into {by_file[file]!r} and into {name!r}", path=file)
    return by_file


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
