"""
Files opened for reading, packed or not, as their bytes show; their names do not count.

Unpacking is bounded: half a megabyte of gzip may hold gigabytes.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.conversions import how_to_convert
from ccrag.corpus.readers.registry import SizeName, reader_of


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The most bytes that are read of one file, unpacked."""

    page: int = 200_000_000
    """Bytes of a file that is one document; reading it takes about five times as much memory."""
    pdf: int = 2_000_000_000
    """Bytes of a PDF; most of a large one is pictures, which are not read."""
    json: int = 2_000_000_000
    """Bytes of a JSON file, which is read as a whole; JSONL has no such limit."""
    record: int = 200_000_000
    """Bytes of one line of a record file."""
    by_settings: bool = True
    """The user can raise the limits; False for who sends a file to a server."""

    def at_most(self, max_bytes: int) -> "SizeLimits":
        """Return these limits, none above `max_bytes`, as they are for an uploaded file."""
        return SizeLimits(
            page=min(self.page, max_bytes),
            pdf=min(self.pdf, max_bytes),
            json=min(self.json, max_bytes),
            record=min(self.record, max_bytes),
            by_settings=False,
        )

    def advice(self, limit: SizeName) -> str:
        """Return what a user can do about a file that is beyond a limit."""
        if not self.by_settings:
            return "split it"
        return f"split it, or raise the limit (--set reading.max_{limit}_mb=…, see docs/reading.md)"


DEFAULT_SIZES = SizeLimits()
_PART_BYTES = 1_000_000

_GZIP, _XZ = b"\x1f\x8b\x08", b"\xfd7zXZ\0"
_BZIP2, _BLOCK = b"BZh", b"1AY&SY"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ARCHIVES = {b"PK\x03\x04": ".zip", b"7z\xbc\xaf\x27\x1c": ".7z", b"Rar!\x1a\x07": ".rar"}
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


@contextmanager
def open_data(path: Path) -> Iterator[io.BufferedReader]:
    """
    Open a file for reading the bytes that it holds, or that are packed in it by gzip, bzip2 or xz.

    Raises:
        RecordError: of fault "file": it cannot be opened or unpacked, or is an archive.
    """
    try:
        with path.open("rb") as raw, _unpacked(path, raw) as file:
            yield cast(io.BufferedReader, file)
    except _BROKEN as error:
        problem = f"broken compressed file ({error}); fetch it again"
        raise RecordError("file", problem, path=path) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise RecordError("file", problem, path=path) from error


def _unpacked(path: Path, raw: io.BufferedReader) -> IO[bytes]:
    # The bytes count, not the name: downloads are often unpacked, or packed, under the other name.
    head = raw.peek(10)[:10]
    if head.startswith(_GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if head.startswith(_BZIP2) and head[4:] == _BLOCK:
        return bz2.BZ2File(raw)
    if head.startswith(_XZ):
        return lzma.LZMAFile(raw)
    if head.startswith(_ZSTD):
        return _zstd(path, raw)
    reader = reader_of(path)
    own = reader.signature if reader is not None else b""
    for magic, suffix in _ARCHIVES.items():
        if head.startswith(magic) and magic != own:  # formats such as EPUB are archives themselves
            how = how_to_convert(suffix, file=path.name)
            raise RecordError("file", f"is a {suffix[1:]} archive; unpack it: {how}", path=path)
    return raw


def _zstd(path: Path, raw: io.BufferedReader) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return cast(IO[bytes], zstd.ZstdFile(raw))
    problem = f"packed by zstd, which Python reads from 3.14 on; unpack it: zstd -d {path.name}"
    raise RecordError("file", problem, path=path)


def read_whole(path: Path, *, sizes: SizeLimits, limit: SizeName) -> bytes:
    """
    Return all bytes of a file, unpacked.

    Raises:
        RecordError: of fault "size": more bytes than the limit; otherwise as `open_data`.
    """
    max_bytes: int = getattr(sizes, limit)
    with open_data(path) as file:
        # Never `read(max_bytes + 1)`: it takes that much memory before the first byte is read.
        parts = [file.read(min(max_bytes, path.stat().st_size) + 1)]
        left = max_bytes + 1 - len(parts[0])
        while left > 0 and (part := file.read(min(left, _PART_BYTES))):
            parts.append(part)
            left -= len(part)
    if left <= 0:
        most = f"more than {max_bytes:,} bytes when unpacked, the most that is read"
        raise RecordError("size", f"{most}; {sizes.advice(limit)}", path=path)
    return parts[0] if len(parts) == 1 else b"".join(parts)
