"""
Files of records, read one record at a time, plain or packed.

Lines, encodings and syntax are for the readers; what a record's fields mean is for `fields` and
`queries`. A broken record is yielded as an error in its place, so that a caller may skip it.
"""

from collections.abc import Iterator
from pathlib import Path

from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits, open_data
from ccrag.corpus.readers.encodings import bom_encoding
from ccrag.corpus.readers.registry import (
    data_suffix,
    load_function,
    readable_suffixes,
    reader_of,
)
from ccrag.corpus.readers.source import Columns, Doubt, NumberedRecord, RecordSource
from ccrag.errors import InputError


def read_records(
    path: Path,
    *,
    columns: Columns | None = None,
    doubt: Doubt | None = None,
    sizes: SizeLimits = DEFAULT_SIZES,
) -> Iterator[NumberedRecord]:
    """
    Yield the records of a file, in order; memory holds one of them, or the whole of a JSON file.

    Args:
        columns: names for the columns of a TSV file without header.
        doubt: called for rows that may have been read wrongly.

    Raises:
        InputError: the file cannot be read, is of another kind, or is broken as a whole.
    """
    reader = reader_of(path)
    if reader is None or reader.content != "records":
        kind = data_suffix(path) or "a file without suffix"
        raise InputError(f"cannot read {kind}; use {readable_suffixes('records')}", path=path)
    yield from load_function(reader.function)(RecordSource(path, sizes, columns, doubt))


def has_bom(path: Path) -> bool:
    """Tell whether the file starts with a byte order mark, which reading leaves out."""
    with open_data(path) as file:
        return bom_encoding(file.peek(4)[:4])[0] != b""
