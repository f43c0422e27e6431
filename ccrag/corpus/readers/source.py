"""The input of a reader: a whole file, or a file of records to be read one at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ccrag.corpus.faults import RecordError
from ccrag.corpus.packed import SizeLimits, open_data
from ccrag.corpus.readers.record_lines import RecordLines

NumberedRecord = tuple[int, Mapping[str, object] | RecordError]
"""The fields of a record, or what is wrong with it, after its number (see `RecordPlace`)."""
Doubt = Callable[[int, str], None]
"""Called with the line of a record that may have been read wrongly, and the reason."""


class PageSource(NamedTuple):
    """A file that is one document, unpacked and within its limit."""

    path: Path
    data: bytes


class Columns:
    """
    Names for the columns of a table without header.

    Args:
        header_names: a first row that holds one of these is a header.
        layouts: the names for a table of so many columns.
    """

    def __init__(self, header_names: Iterable[str], *layouts: tuple[str, ...]) -> None:
        self._header_names = frozenset(header_names)
        self._layouts = {len(layout): layout for layout in layouts}

    def without_header(self, row: Sequence[str]) -> tuple[str, ...] | None:
        """Return the names if `row`, a table's first, is no header; None if it is one."""
        if self._header_names.isdisjoint(row):
            return self._layouts.get(len(row))
        return None


class RecordSource(NamedTuple):
    """A file of records, plain or packed."""

    path: Path
    sizes: SizeLimits
    columns: Columns | None = None
    """Names for the columns of a table without header; None: its first row is the header."""
    doubt: Doubt | None = None

    @contextmanager
    def lines(self) -> Iterator[RecordLines]:
        """
        Open the file as lines.

        Raises:
            RecordError: it cannot be opened or unpacked.
        """
        with open_data(self.path) as file:
            yield RecordLines(self.path, file, sizes=self.sizes)
