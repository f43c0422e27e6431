"""The lines of record files in UTF-8, bounded, or errors that name their likely encoding."""

import codecs
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ccrag.corpus.faults import RecordError
from ccrag.corpus.packed import SizeLimits
from ccrag.corpus.readers.encodings import bom_encoding, likely_encoding

_BOM = codecs.BOM_UTF8


def decode(data: bytes, *, path: Path | None = None) -> str:
    """
    Return `data` as text: in UTF-8, or in the encoding of its byte order mark.

    Raises:
        RecordError: it is in another encoding; the message names the likely one, and a conversion.
    """
    bom, encoding = bom_encoding(data)
    try:
        return data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = len(bom) + error.start
        problem = f"not UTF-8: byte 0x{data[offset]:02x} at offset {offset}"
        likely = likely_encoding(data)
        advice = "convert the file to UTF-8"
        if likely != "UTF-8":
            name = "FILE" if path is None else path.name
            convert = f"iconv -f {likely} -t UTF-8 {name} > NEW"
            advice = f"it looks like {likely}, convert the file: {convert}"
        raise RecordError("encoding", f"{problem}; {advice}") from error


class RecordLines:
    """
    The lines of a record file, as bytes in UTF-8 with their line ends; `number` is the last one's.

    UTF-16 and UTF-32 with a byte order mark, which spreadsheets write, become UTF-8. Lines may end
    in CR alone. A byte order mark at the start of any line, where files were joined, is left out.
    """

    def __init__(self, path: Path, file: io.BufferedReader, *, sizes: SizeLimits) -> None:
        """Start reading `file`, whose place is `path`; a line may have `sizes.record` bytes."""
        self._sizes = sizes
        self.max_bytes = sizes.record
        self.number = 0
        self._path = path
        self._file = file
        self._lines = self._read()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._lines)

    def text(self) -> Iterator[str]:
        """
        Yield the same lines as text.

        An iterator, not a generator: it goes on after a line that is not UTF-8.
        """
        return map(partial(decode, path=self._path), self)

    def _read(self) -> Iterator[bytes]:
        head = self._file.peek(1 << 13)[: 1 << 13]
        _, encoding = bom_encoding(head)
        if encoding != "utf-8":
            yield from self._transcoded(encoding.removesuffix("-le").removesuffix("-be"), "utf-8")
        elif b"\n" not in head and b"\r" in head[:-1]:  # lines that end in CR, as on old Macs
            yield from self._transcoded("latin-1", "latin-1")
        else:
            while line := self._file.readline(self.max_bytes + 1):
                yield self._checked(line)

    def _transcoded(self, encoding: str, target: str) -> Iterator[bytes]:
        """Yield the lines as Python's text files split them: at LF, CRLF and CR."""
        wrapper = io.TextIOWrapper(self._file, encoding, newline="")
        try:
            while line := wrapper.readline(self.max_bytes + 1):
                yield self._checked(line.encode(target))
        except UnicodeDecodeError as error:
            problem = f"not {encoding} as its byte order mark says; convert it to UTF-8"
            raise RecordError("file", problem, path=self._path) from error
        finally:
            wrapper.detach()

    def _checked(self, line: bytes) -> bytes:
        self.number += 1
        if len(line) > self.max_bytes:
            long = f"line {self.number} has more than {self.max_bytes:,} bytes"
            raise RecordError("size", f"{long}; {self._sizes.advice('record')}", path=self._path)
        return line.removeprefix(_BOM)
