"""Where a list goes on, as a short opaque string. Pure."""

import base64
import binascii
from typing import Any

import orjson

from ccrag.web.problems import ProblemError

MAX_CHARS = 4_000
_SHAPES = ((str,), (float, str), (int, str), (int,))


def write_cursor(after: tuple[Any, ...] | None) -> str | None:
    """The cursor of what comes behind `after`; None: nothing does."""
    if after is None:
        return None
    return base64.urlsafe_b64encode(orjson.dumps(after)).decode().rstrip("=")


def read_cursor(cursor: str | None) -> tuple[Any, ...] | None:
    """
    What `write_cursor` was given.

    Raises:
        ProblemError: it is none of its cursors.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise _refused() from error
    if len(cursor) > MAX_CHARS or not isinstance(value, list):
        raise _refused()
    if tuple(map(type, value)) not in _SHAPES:
        raise _refused()
    return tuple(value)


def _refused() -> ProblemError:
    return ProblemError("invalid_request", "no such cursor; take it from the page before")
