"""
Documents from files and folders, one at a time, with a report of what was left out.

Memory holds one document at a time; ids that must be compared are in the ledger.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.fields import TABLE_COLUMNS, document_of, unwrapped
from ccrag.corpus.files import SourceFile as SourceFile
from ccrag.corpus.files import find_files as find_files
from ccrag.corpus.ledger import Ledger, Origin
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits
from ccrag.corpus.pages import read_page
from ccrag.corpus.readers.registry import has_cells, is_page
from ccrag.corpus.records import has_bom, read_records
from ccrag.corpus.report import MAX_COLLECTIONS as MAX_COLLECTIONS
from ccrag.corpus.report import MAX_EXAMPLES, no_text
from ccrag.corpus.report import LoadReport as LoadReport
from ccrag.types import Document

ErrorMode = Literal["stop", "skip"]


def _records(
    path: Path, report: LoadReport, sizes: SizeLimits
) -> Iterator[tuple[int, Document | RecordError]]:
    """Yield the documents of a record file, or what is wrong with them, after their numbers."""
    if has_bom(path) and len(report.with_bom) < MAX_EXAMPLES:
        report.with_bom.append(path)
    in_cells = has_cells(path)
    seen = LoadReport()

    def doubt(number: int, problem: str) -> None:
        report.warn(f"{RecordPlace(path, number)}: {problem}")

    for number, fields in read_records(path, columns=TABLE_COLUMNS, doubt=doubt, sizes=sizes):
        if isinstance(fields, RecordError):
            yield number, fields
            continue
        fields = unwrapped(fields)
        seen.add_fields(fields)
        try:
            document = document_of(fields, in_cells=in_cells)
        except RecordError as error:
            yield number, error
            continue
        seen.documents += 1
        seen.text_sources[document.text_source] += 1
        yield number, document
    report.field_names.update(seen.field_names)
    _look_for_texts(path, seen, report)


def _look_for_texts(path: Path, seen: LoadReport, report: LoadReport) -> None:
    """Warn of a file none of whose records has a text of its own; other files may have some."""
    if not seen.documents:
        return
    if seen.documents == seen.text_sources["none"]:
        report.warn(f"{path}: {no_text(seen.documents, seen.field_names)}")
    elif seen.unread_fields() and not (
        seen.text_sources["full_text"] or seen.text_sources["abstract"]
    ):
        report.warn(
            f"{path}: no record has a text but its title; "
            f"fields not read: {', '.join(list(seen.unread_fields())[:MAX_EXAMPLES])}"
        )


def _documents_in(
    file: SourceFile, report: LoadReport, sizes: SizeLimits
) -> Iterator[tuple[int, Document | RecordError]]:
    """Yield the documents of one file, or what is wrong with them, after their numbers."""
    if is_page(file.path):
        try:
            document, page = read_page(file, sizes=sizes)
        except RecordError as error:
            yield 1, error
            return
        report.add_page(file.path, page)
        yield 1, document
        return
    number = 0
    try:
        for number, found in _records(file.path, report, sizes):
            yield number, found
    except RecordError as error:
        if error.fault not in ("file", "size"):
            raise
        yield number + 1, error


def _unless_repeated(
    document: Document, here: Origin, *, files: Sequence[SourceFile], ledger: Ledger
) -> Document | RecordError:
    """Return `document`, or what is wrong with it if its id was seen at another place."""
    if ledger.enter(document.doc_id, here):
        return document
    first = ledger.origin(document.doc_id)
    if first is None or first == here:
        return document
    there = RecordPlace(files[first.file].path, first.number)
    return RecordError("duplicate", f"id {document.doc_id!r} again, first at {there}")


def _placed(document: Document, collection: str | None) -> Document | RecordError:
    """Return `document` in the collection its file stands for; it may not name another itself."""
    if collection is None or document.collection == collection:
        return document
    if document.collection is not None:
        problem = f"collection {document.collection!r} in the record, {collection!r} for the file"
        return RecordError("field", problem)
    return replace(document, collection=collection)


def read_documents(
    files: Sequence[SourceFile],
    *,
    collections: Mapping[Path, str] | None = None,
    on_error: ErrorMode = "stop",
    report: LoadReport | None = None,
    ledger: Ledger | None = None,
    sizes: SizeLimits = DEFAULT_SIZES,
) -> Iterator[Document]:
    """
    Yield the documents of `files` (see `find_files`), in order.

    Args:
        collections: the collection that all documents of a file belong to, by file.
        on_error: at a record that cannot be used, stop, or count it in `report` and go on. A page
            file without text, one of several files, is always counted: nothing of it could be read,
            whatever the user mends, and it is no reason to lose the others.
        ledger: where ids are compared, so that of several documents with one id only the first is
            yielded and the others are errors; without it, ids are not compared.
        sizes: what may be read of one file.

    Raises:
        InputError: a record that cannot be used, unless skipped; a file that cannot be read.
    """
    report = LoadReport() if report is None else report
    for file, source in enumerate(files):
        collection = (collections or {}).get(source.path)
        for number, found in _documents_in(source, report, sizes):
            place = RecordPlace(source.path, number)
            if isinstance(found, Document):
                found = _placed(found, collection)
            if ledger is not None and isinstance(found, Document):
                origin = Origin(file, number)
                found = _unless_repeated(found, origin, files=files, ledger=ledger)
            if isinstance(found, Document):
                report.add(found, place)
                yield found
                continue
            if found.path is None:
                at(place, found)
            if on_error == "stop" and (found.fault != "no text" or len(files) == 1):
                raise found
            report.skip(found)
