"""The text of a user's evaluation file: compressed or not, with a byte order mark or without."""

import gzip
import zlib
from pathlib import Path

from ccrag.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


def file_bytes(path: Path) -> bytes:
    """
    Return the file's content as it is.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def plain_bytes(path: Path) -> bytes:
    """
    Return the file's content, unpacked if it is gzip, whatever its name, and without the mark.

    Raises:
        InputError: as `file_bytes`, or the compression is broken.
    """
    content = file_bytes(path)
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"is no whole gzip file ({error})", path=path) from error
    return content.removeprefix(BOM)


def plain_text(path: Path) -> str:
    """
    Return the file's text, line ends as `\\n`.

    Raises:
        InputError: as `plain_bytes`, or it is not UTF-8.
    """
    try:
        text = plain_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 (byte {error.start}); save it as UTF-8"
        raise InputError(problem, path=path) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
