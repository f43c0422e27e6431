"""
The table of document readers: which function reads files of which suffix. Pure.

To add a reader, write its module in this folder and add one line to `READERS`. All else follows
from that line: which files of a folder are read, packed or not, how large they may be, that an
uploaded one is read in a process of its own, and what messages list as readable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

SizeName = Literal["page", "pdf", "json", "record"]
"""A limit of `SizeLimits`, and of the settings `reading.max_…_mb`."""
PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes that are ignored in looking up the kind of a file; its bytes show if it is packed."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of file and the function that reads it."""

    function: str
    """
    Module of this folder and function, e.g. "pdf:read_pdf", imported when a file needs it. It takes
    a `PageSource` and returns a `ReadPage`, or takes a `RecordSource` and yields `NumberedRecord`s.
    """
    suffixes: tuple[str, ...]
    """In lower case; "" stands for plain text in a file without suffix."""
    content: Literal["page", "records"] = "page"
    """One document a file, or many records."""
    limit: SizeName = "page"
    """The limit that a whole file, or a record of it, is held to."""
    signature: bytes = b""
    """The first bytes of every such file: under the name of plain text it is refused."""
    is_whole: str | None = None
    """
    Module and function that return False for the bytes of a file that is only a part of others;
    parts are left out of folders. None: every file is a document.
    """
    cells: bool = False
    """Records are rows of a table, all values strings: an empty one is no value."""
    counts_lines: bool = True
    """A record's number is its line in the file; False: its position among the records."""


READERS = (
    Reader("json_records:read_jsonl", (".jsonl", ".ndjson"), "records", "record"),
    Reader("json_records:read_json", (".json",), "records", "json", counts_lines=False),
    Reader("tables:read_csv", (".csv",), "records", "record", cells=True),
    Reader("tables:read_tsv", (".tsv",), "records", "record", cells=True),
    Reader("plain_text:read_text", ("", ".md", ".markdown", ".txt", ".text", ".rst")),
    Reader("html:read_html", (".html", ".htm", ".xhtml")),
    Reader("pdf:read_pdf", (".pdf",), limit="pdf", signature=b"%PDF-"),
    Reader("latex:read_latex", (".tex",), is_whole="latex_source:is_whole_document"),
)
"""In the order in which messages list their suffixes."""
_BY_SUFFIX = {suffix: reader for reader in READERS for suffix in reader.suffixes}


def load_function(name: str) -> Callable[..., Any]:
    """Return the function `name` of this folder, e.g. "pdf:read_pdf"."""
    # Imported here and not above: a reader's libraries take seconds, and may not be installed.
    module, _, function = name.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return loaded


def reader_of(path: Path) -> Reader | None:
    """Return the reader for files of this name; None if documents are not read from them."""
    return _BY_SUFFIX.get(data_suffix(path))


def is_page(path: Path) -> bool:
    """
    Tell whether a file of this name is one document: by its suffix, or because it has none.

    Without a suffix it is plain text if its bytes are, which `find_files` looks at.
    """
    reader = reader_of(path)
    return reader is not None and reader.content == "page"


def has_cells(path: Path) -> bool:
    """Tell whether the records of a file of this name are rows of a table."""
    reader = reader_of(path)
    return reader is not None and reader.cells


def readable_suffixes(content: Literal["page", "records"] | None = None) -> str:
    """Return the suffixes of all readers, or of those for `content`, for a message."""
    readers = (reader for reader in READERS if content in (None, reader.content))
    return ", ".join(suffix for reader in readers for suffix in reader.suffixes if suffix)


def unpacked_name(name: str) -> str:
    """Return a file's name without the suffix of a compressed file."""
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and dot + suffix.lower() in PACKED_SUFFIXES else name


def data_suffix(path: Path) -> str:
    """Return the suffix that names the format, in lower case: `.txt` of `A.TXT.gz`."""
    return Path(unpacked_name(path.name)).suffix.lower()
