"""A collection in files and folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ccrag.corpus.corpus import Corpus
from ccrag.corpus.ledger import Ledger
from ccrag.corpus.load import ErrorMode, LoadReport, find_files, read_documents
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits
from ccrag.errors import InputError
from ccrag.types import Document


class CorpusScan(Corpus):
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
            citations: as `Corpus` takes it.
            sizes: the most that is read of one file.

        Raises:
            InputError: nothing to index, an unusable record (with "stop"), an unreadable file.
        """
        self._report = LoadReport()
        self._paths = paths
        self._on_error: ErrorMode = on_error
        self._sizes = sizes
        self._files = find_files(paths, self._report)
        self._collections = _by_file(collections or {})
        super().__init__(citations=citations)

    @property
    def report(self) -> LoadReport:
        return self._report

    def _read_first(self) -> Iterator[Document]:
        return self._read(self._report, self._ledger)

    def _read_again(self) -> Iterator[Document]:
        # Ids are compared once more only where the first reading skipped repeated ones.
        repeated = self._report.skipped["duplicate"] > 0
        return self._read(None, self._ledger if repeated else None)

    def _read(self, report: LoadReport | None, ledger: Ledger | None) -> Iterator[Document]:
        return read_documents(
            self._files,
            collections=self._collections,
            on_error=self._on_error,
            sizes=self._sizes,
            report=report,
            ledger=ledger,
        )

    def _why_empty(self) -> str:
        found = [line for line in self._report.lines()[1:] if not line.startswith("  to read")]
        instead = f" ({'; '.join(found)})" if found else ""
        named = ", ".join(map(str, self._paths))
        return f"no documents in {named or 'an empty list of paths'}{instead}"


def _by_file(collections: Mapping[Path, str]) -> dict[Path, str]:
    """Return the collection of each file, from that of the paths it lies under."""
    by_file: dict[Path, str] = {}
    for path, name in collections.items():
        for file, _ in find_files([path], LoadReport()):
            if by_file.setdefault(file, name) != name:
                raise InputError(f"is put into {by_file[file]!r} and into {name!r}", path=file)
    return by_file
