"""
A collection read twice: once to know it as a whole, once to hand its documents on.

The first reading gives what must be known before anything is written: a fingerprint, counts and
citation edges. The second is checked against it, so that what is indexed is what was fingerprinted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from ccrag.corpus.faults import Place, RecordError, at
from ccrag.corpus.fields import as_id
from ccrag.corpus.kinds import TABLE_SUFFIXES, data_suffix
from ccrag.corpus.ledger import Ledger
from ccrag.corpus.load import LoadReport, OnError, find_files, read_documents
from ccrag.corpus.records import read_records
from ccrag.errors import InputError
from ccrag.types import DocId, Document

CITING, CITED = "citing_doc_id", "cited_doc_id"
_DIGEST_BYTES = 16


class Digest:
    """
    A digest of a set of things, whatever their order: the sum of their digests.

    Leaving things out, adding or repeating them changes it (sum modulo 2**128, and their number).
    """

    def __init__(self) -> None:
        self._sum = 0
        self._count = 0

    def add(self, content: bytes) -> None:
        """Put one thing into the set."""
        digest = hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
        self._sum += int.from_bytes(digest, "big")
        self._count += 1

    def add_document(self, document: Document) -> None:
        """Put a document with all its fields into the set."""
        rest: tuple[object, ...] = (
            document.doc_id,
            document.title,
            document.date,
            document.links,
            document.text_source,
            document.collection,
            document.pages,
        )
        if document.version_of is not None or document.version is not None:
            rest = (*rest, document.version_of, document.version)
        self.add(f"{rest!r}{document.text}".encode())

    def hexdigest(self) -> str:
        """The digest of the set, 32 hex digits."""
        total = self._sum % (1 << 8 * _DIGEST_BYTES)
        return hashlib.blake2b(
            f"{self._count} {total}".encode(), digest_size=_DIGEST_BYTES
        ).hexdigest()


def edges_digest(ledger: Ledger) -> bytes:
    """A digest of all edges between documents of the collection."""
    content = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for doc_id, edges in ledger.edge_counts():
        content.update(f"{edges} {doc_id}\n".encode())
    return content.digest()


class CorpusScan:
    """
    What the first reading of a collection found; `documents` reads it again.

    Close it, or use it in a `with` statement: it holds a temporary database.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        collections: Mapping[Path, str] | None = None,
        on_error: OnError = "stop",
        citations: Path | None = None,
    ) -> None:
        """
        Read everything once.

        Args:
            paths: files and folders of documents.
            collections: the collection of all documents below a path, by path.
            on_error: what to do at a record that cannot be used.
            citations: a table with columns citing_doc_id and cited_doc_id; its edges count beside
                those the documents' links give, each once.

        Raises:
            InputError: nothing to index, an unusable record (with "stop"), an unreadable file.
        """
        self.report = LoadReport()
        self._on_error: OnError = on_error
        self._files = find_files(paths, self.report)
        self._collections = _by_file(collections or {})
        self._ledger = Ledger()
        try:
            digest = self._read(paths)
            self._document_fingerprint = digest.hexdigest()
            if citations is not None:
                _read_citations(citations, self._ledger)
            self._ledger.count_edges()
        except BaseException:
            self.close()
            raise
        digest.add(edges_digest(self._ledger))
        self.fingerprint = digest.hexdigest()
        """Of all documents, their fields and edges, in whatever order they come; hexadecimal."""
        self.count = self.report.documents
        self.max_edges = self._ledger.max_edges()
        self.unknown_edges = self._ledger.unknown_edges()
        """Edges from or to a document that is not in the collection; they count nowhere."""

    def _read(self, paths: Sequence[Path]) -> Digest:
        digest = Digest()
        documents = read_documents(
            self._files,
            collections=self._collections,
            on_error=self._on_error,
            report=self.report,
            ledger=self._ledger,
        )
        for document in documents:
            digest.add_document(document)
            if document.links:
                self._ledger.link(document.doc_id, document.links)
        if not self.report.documents:
            named = ", ".join(map(str, paths))
            raise InputError(
                f"no documents in {named or 'an empty list of paths'}{self._instead()}"
            )
        self.report.require_text()
        return digest

    def _instead(self) -> str:
        """What there was instead of documents."""
        said = [line for line in self.report.lines()[1:] if not line.startswith("  to read")]
        return f" ({'; '.join(said)})" if said else ""

    def documents(self) -> Iterator[Document]:
        """
        Read the documents again, in the same order; may be repeated.

        Raises:
            InputError: at the end, if they are not what the first reading saw.
        """
        digest = Digest()
        repeated = self.report.skipped["duplicate"] > 0
        for document in read_documents(
            self._files,
            collections=self._collections,
            on_error=self._on_error,
            ledger=self._ledger if repeated else None,
        ):
            digest.add_document(document)
            yield document
        if digest.hexdigest() != self._document_fingerprint:
            raise InputError("the documents changed while they were read; run the command again")

    def edges(self, doc_id: DocId) -> int:
        """How many edges between documents of the collection touch this one."""
        return self._ledger.edges(doc_id) if self.max_edges else 0

    def close(self) -> None:
        """Let go of the temporary database; `documents` and `edges` need it."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _by_file(collections: Mapping[Path, str]) -> dict[Path, str]:
    """The collection of each file, from that of the paths it lies under."""
    by_file: dict[Path, str] = {}
    for path, name in collections.items():
        for file, _ in find_files([path], LoadReport()):
            if by_file.setdefault(file, name) != name:
                raise InputError(f"is put into {by_file[file]!r} and into {name!r}", path=file)
    return by_file


def _read_citations(path: Path, ledger: Ledger) -> None:
    if data_suffix(path) not in TABLE_SUFFIXES:
        raise InputError(f"citations come as .csv or .tsv with columns {CITING},{CITED}", path=path)
    for number, fields in read_records(path):
        place = Place(path, number)
        if isinstance(fields, RecordError):
            raise at(place, fields)
        if CITING not in fields or CITED not in fields:
            raise InputError(f"expected the header {CITING},{CITED}", path=path, line=1)
        try:
            citing, cited = (as_id(fields[name], field=name) for name in (CITING, CITED))
        except RecordError as error:
            raise at(place, error) from error
        ledger.link(citing, (cited,))
