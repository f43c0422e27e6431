"""Which files documents are read from, and the ids of those that are one document each."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ccrag.corpus.faults import RecordError
from ccrag.corpus.packed import DEFAULT_SIZES, open_data, read_whole
from ccrag.corpus.readers.conversions import how_to_convert
from ccrag.corpus.readers.encodings import bom_encoding
from ccrag.corpus.readers.registry import (
    data_suffix,
    is_page,
    load_function,
    readable_suffixes,
    reader_of,
    unpacked_name,
)
from ccrag.corpus.report import LoadReport
from ccrag.errors import InputError

_HEAD_BYTES = 4_096
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that plain text has in no encoding but UTF-16 and UTF-32; ESC begins those of ISO-2022."""


class SourceFile(NamedTuple):
    """A file to read."""

    path: Path
    doc_id: str
    """The id of its document if it is a page file; records have their own."""


class _FoundFile(NamedTuple):
    path: Path
    below: Path
    """The path from the folder that was named."""

    def ids(self) -> tuple[str, str, str]:
        """Return its possible ids, the shortest first: name, path in the folder, path as given."""
        name = unpacked_name(self.path.name)
        return (
            name,
            self.below.with_name(name).as_posix(),
            self.path.with_name(name).as_posix(),
        )


def find_files(paths: Iterable[Path], report: LoadReport) -> list[SourceFile]:
    """
    Return the files to read: those named, and those in the folders named, in sorted order.

    The id of a page file is its name. Where files of one name lie in several folders, it is the
    path of each from the folder that was named (`a/index.md`) or, where that repeats too or they
    were named themselves, the path as given. So a file's id changes when another of its name
    comes in; `report.path_ids` counts those. Hidden files, files of other kinds and links to
    folders are left out and counted; a file that is reached twice is read once.

    Raises:
        InputError: a path does not exist, names a file of another kind, or cannot be listed.
    """
    found: dict[Path, _FoundFile] = {}
    for path in paths:
        for file in _files_at(path, report):
            whole = file.path.resolve()  # a link and its target are one file
            if whole in found:
                report.repeated_files += 1
            else:
                found[whole] = file
    files = _with_ids(list(found.values()), report)
    report.files = len(files)
    return files


def _with_ids(found: list[_FoundFile], report: LoadReport) -> list[SourceFile]:
    pages = [file.ids() for file in found if is_page(file.path)]
    names = Counter(name for name, _, _ in pages)
    below = Counter(inside for _, inside, _ in pages)
    files = []
    for file in found:
        name, inside, given = file.ids()
        doc_id = name if names[name] <= 1 else inside if below[inside] <= 1 else given
        report.path_ids += doc_id != name
        files.append(SourceFile(file.path, doc_id))
    return files


def _files_at(path: Path, report: LoadReport) -> Iterator[_FoundFile]:
    if path.is_dir():
        yield from _files_below(path, report)
    elif not path.exists():
        raise InputError("no such file or folder", path=path)
    elif reader_of(path) is None:
        how = how_to_convert(data_suffix(path), file=path.name)
        known = f"documents come from {readable_suffixes()}, plain or packed"
        raise InputError(f"{known}{f'; convert it: {how}' if how else ''}", path=path)
    elif not data_suffix(path) and (kind := _kind_without_suffix(path)):
        raise InputError(f"{kind}; only plain text is read from a file without suffix", path=path)
    else:
        yield _FoundFile(path, path)


def _files_below(folder: Path, report: LoadReport) -> Iterator[_FoundFile]:
    def refuse(error: OSError) -> None:
        raise InputError(f"cannot be listed: {error.strerror}", path=Path(error.filename))

    for parent, folders, names in os.walk(folder, onerror=refuse):
        report.hidden += sum(name.startswith(".") for name in (*folders, *names))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        linked = sum(Path(parent, name).is_symlink() for name in folders)
        if linked:
            report.unsupported["link to a folder"] += linked
        for name in sorted(name for name in names if not name.startswith(".")):
            path = Path(parent, name)
            kind = _kind_left_out(path)
            if kind is None:
                yield _FoundFile(path, path.relative_to(folder))
            else:
                report.unsupported[kind] += 1


def _kind_left_out(path: Path) -> str | None:
    """Return what kind of file this is if it is not read; None if it is."""
    if reader_of(path) is None:
        return data_suffix(path)
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        return "no regular file"
    if not data_suffix(path):
        return _kind_without_suffix(path)
    return f"{data_suffix(path)} that is part of another" if _is_part(path) else None


def _kind_without_suffix(path: Path) -> str | None:
    """Return what a file without suffix is, e.g. a program; None for plain text like a README."""
    try:
        with open_data(path) as file:
            head = file.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    except RecordError:  # reported when it is read
        return None
    if head.startswith(b"#!"):
        return "program without suffix"
    is_text = bool(bom_encoding(head)[0]) or not _CONTROLS.search(head)
    return None if is_text else "without suffix, no plain text"


def _is_part(path: Path) -> bool:
    """Tell whether a file only makes sense where another one reads it in, as in LaTeX."""
    reader = reader_of(path)
    if reader is None or reader.is_whole is None:
        return False
    try:
        data = read_whole(path, sizes=DEFAULT_SIZES, limit=reader.limit)
    except RecordError:  # reported when it is read
        return False
    return not load_function(reader.is_whole)(data)
