"""
Documents from files and folders, one at a time, with a report of what was left out.

Nothing is kept of a document once it is handed on; ids that must be compared lie in the ledger.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ccrag.corpus.fields import as_id, document_of
from ccrag.corpus.ledger import Ledger, Origin
from ccrag.corpus.readers.page import Page
from ccrag.corpus.records import (
    RECORD_SUFFIXES,
    TABLE_SUFFIXES,
    Fault,
    Place,
    RecordError,
    at,
    data_suffix,
    decode,
    has_bom,
    open_data,
    read_records,
    without_bom,
)
from ccrag.corpus.sections import find_headings
from ccrag.errors import InputError
from ccrag.types import Document, TextSource

OnError = Literal["stop", "skip"]
PAGE_SUFFIXES = (".md", ".txt", ".html", ".htm", ".pdf", ".tex")
"""One document a file."""
MAX_EXAMPLES = 20
MAX_COLLECTIONS = 1_000


@dataclass(slots=True)
class LoadReport:
    """What reading documents met; filled while they are read."""

    documents: int = 0
    files: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    """Documents per named collection."""
    text_sources: Counter[str] = field(default_factory=Counter)
    """Documents per `text_source`; those under "none" have no text at all."""
    unsupported: Counter[str] = field(default_factory=Counter)
    """Files of other kinds in the folders, per suffix."""
    with_bom: list[Path] = field(default_factory=list)
    """Files that start with a byte order mark, which was left out."""
    skipped: Counter[Fault] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    """The first messages about skipped records."""

    def add(self, document: Document) -> None:
        """
        Count a document.

        Raises:
            InputError: the documents belong to more collections than an index can name.
        """
        self.documents += 1
        self.text_sources[document.text_source] += 1
        if document.collection is not None:
            self.collections[document.collection] += 1
            if len(self.collections) > MAX_COLLECTIONS:
                raise InputError(
                    f"the documents name more than {MAX_COLLECTIONS} collections, which an index "
                    "cannot hold; rename the field `collection` if it means something else"
                )

    def skip(self, error: RecordError) -> None:
        """Count a record that was left out."""
        self.skipped[error.fault] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(str(error))

    def lines(self) -> list[str]:
        """The report for a person; nothing is said of what did not happen."""
        sources = ", ".join(f"{n} {name}" for name, n in self.text_sources.most_common())
        said = [f"{self.documents} documents from {self.files} files (text: {sources or 'none'})"]
        if self.collections:
            held = ", ".join(f"{name} {n}" for name, n in sorted(self.collections.items()))
            said.append(f"documents per collection: {held}")
        if self.text_sources["none"]:
            said.append(f"{self.text_sources['none']} documents have empty texts")
        if self.unsupported:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.unsupported.items()))
            said.append(f"files of other kinds left out: {kinds}")
        said.extend(f"{path}: byte order mark left out" for path in self.with_bom)
        if self.skipped:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.skipped.items()))
            said.append(f"records skipped: {kinds}; the first:")
            said.extend(f"  {example}" for example in self.examples)
        return said


def find_files(paths: Iterable[Path], report: LoadReport) -> list[Path]:
    """
    The files to read: those named, and those in the folders named, recursively, in sorted order.

    Hidden files and files of other kinds in a folder are left out, the latter counted.

    Raises:
        InputError: a path does not exist, or names a file of another kind.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(_files_below(path, report))
        elif not path.exists():
            raise InputError("no such file or folder", path=path)
        elif not _is_supported(path):
            known = ", ".join((*RECORD_SUFFIXES, *PAGE_SUFFIXES))
            raise InputError(f"documents come from {known}, plain or .gz", path=path)
        else:
            found.append(path)
    report.files = len(found)
    return found


def _is_supported(path: Path) -> bool:
    return data_suffix(path) in (*RECORD_SUFFIXES, *PAGE_SUFFIXES)


def _is_part(path: Path) -> bool:
    """Whether a file is LaTeX that only makes sense where another one reads it in."""
    if data_suffix(path) != ".tex":
        return False
    from ccrag.corpus.readers.latex_source import is_whole_document

    with open_data(path) as file:
        return not is_whole_document(file.read())


def _files_below(folder: Path, report: LoadReport) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            path = Path(parent, name)
            if _is_part(path):
                report.unsupported[".tex that is part of another"] += 1
            elif _is_supported(path):
                yield path
            else:
                report.unsupported[path.suffix.lower() or "without suffix"] += 1


def _page(path: Path) -> Document | RecordError:
    """A whole file as one document; its id, and if it says none its title, come from its name."""
    name = path.name.removesuffix(".gz")
    with open_data(path) as file:
        data = without_bom(file.read())
    try:
        doc_id, page = as_id(name, field="the file's name"), _read_page(path, data)
    except RecordError as error:
        return error
    headings = find_headings(page.text)
    title = page.title or (headings[0].title if headings else Path(name).stem)
    source: TextSource = "full_text" if page.text.strip() else "none"
    return Document(doc_id, title, page.text, text_source=source, pages=page.pages)


def _read_page(path: Path, data: bytes) -> Page:
    """The text of one file; the libraries that read it are imported only where it needs one."""
    match data_suffix(path):
        case ".html" | ".htm":
            from ccrag.corpus.readers.html import read_html

            return read_html(data)
        case ".pdf":
            from ccrag.corpus.readers.pdf import read_pdf

            return read_pdf(data)
        case ".tex":
            from ccrag.corpus.readers.latex import read_latex

            return read_latex(path, data)
        case _:
            return Page("", decode(data))


def _documents_in(path: Path) -> Iterator[tuple[int, Document | RecordError]]:
    """The documents of one file, or what is wrong with them, after their numbers."""
    if data_suffix(path) in PAGE_SUFFIXES:
        yield 1, _page(path)
        return
    in_cells = data_suffix(path) in TABLE_SUFFIXES
    for number, fields in read_records(path):
        if isinstance(fields, RecordError):
            yield number, fields
            continue
        try:
            document = document_of(fields, in_cells=in_cells)
        except RecordError as error:
            yield number, error
        else:
            yield number, document


def _unless_repeated(
    document: Document, here: Origin, *, files: Sequence[Path], ledger: Ledger
) -> Document | RecordError:
    """`document`, or what is wrong with it if its id was seen at another place."""
    if ledger.enter(document.doc_id, here):
        return document
    first = ledger.origin(document.doc_id)
    if first is None or first == here:
        return document
    there = Place(files[first.file], first.number)
    return RecordError("duplicate", f"id {document.doc_id!r} again, first at {there}")


def _placed(document: Document, collection: str | None) -> Document | RecordError:
    """`document` in the collection its file stands for; it may not name another itself."""
    if collection is None or document.collection == collection:
        return document
    if document.collection is not None:
        problem = f"collection {document.collection!r} in the record, {collection!r} for the file"
        return RecordError("field", problem)
    return replace(document, collection=collection)


def read_documents(
    files: Sequence[Path],
    *,
    collections: Mapping[Path, str] | None = None,
    on_error: OnError = "stop",
    report: LoadReport | None = None,
    ledger: Ledger | None = None,
) -> Iterator[Document]:
    """
    The documents of `files` (see `find_files`), in order.

    Args:
        collections: the collection that all documents of a file belong to, by file.
        on_error: at a record that cannot be used, stop, or count it in `report` and go on.
        ledger: where ids are compared, so that of several documents with one id only the first is
            yielded and the others are errors; without it, ids are not compared.

    Raises:
        InputError: a record that cannot be used, unless skipped; a file that cannot be read.
    """
    report = LoadReport() if report is None else report
    for file, path in enumerate(files):
        if has_bom(path):
            report.with_bom.append(path)
        collection = (collections or {}).get(path)
        for number, found in _documents_in(path):
            if isinstance(found, Document):
                found = _placed(found, collection)
            if ledger is not None and isinstance(found, Document):
                origin = Origin(file, number)
                found = _unless_repeated(found, origin, files=files, ledger=ledger)
            if isinstance(found, Document):
                report.add(found)
                yield found
                continue
            at(Place(path, number), found)
            if on_error == "stop":
                raise found
            report.skip(found)
