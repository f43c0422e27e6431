"""Where a list goes on, as a short opaque string. Pure."""

import base64
import binascii
from typing import Any

import orjson

from ccrag.web.problems import ProblemError

MAX_CHARS = 4_000
MAX_SCORE = 3e38
"""A score is a 32-bit float where it comes from."""


def write_cursor(after: tuple[Any, ...] | None) -> str | None:
    """Return the cursor of what comes behind `after`; None: nothing does."""
    if after is None:
        return None
    return base64.urlsafe_b64encode(orjson.dumps(after)).decode().rstrip("=")


def read_cursor(cursor: str | None, kinds: tuple[type, ...]) -> tuple[Any, ...] | None:
    """
    Return what `write_cursor` was given.

    Args:
        kinds: of its values; a float may be written as an int.

    Raises:
        ProblemError: it is no cursor of a list of these `kinds`.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise _refused() from error
    if len(cursor) > MAX_CHARS or not isinstance(value, list) or len(value) != len(kinds):
        raise _refused()
    if not all(_is_a(kind, item) for kind, item in zip(kinds, value, strict=True)):
        raise _refused()
    return tuple(value)


def read_document_cursor(cursor: str | None, title: str) -> tuple[Any, ...] | None:
    """Return where a list of documents goes on: by score and id for a `title`, else by id alone."""
    return read_cursor(cursor, (float, str) if title.strip() else (str,))


def read_offset_cursor(cursor: str | None, *, most: int) -> int:
    """Return where a list that is counted goes on, from 0 to `most`; 0 without a cursor."""
    (offset,) = read_cursor(cursor, (int,)) or (0,)
    if not 0 <= offset <= most:
        raise _refused()
    return int(offset)


def _is_a(kind: type, value: Any) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) <= MAX_SCORE
    return type(value) is kind


def _refused() -> ProblemError:
    return ProblemError("invalid_request", "no such cursor; take it from the page before")
