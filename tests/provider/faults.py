"""What can go wrong with one call, and the plain forms of an answer."""

import json
from dataclasses import dataclass
from typing import Any, Literal

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one call; see the named ones below."""

    answer: Literal["status", "cut", "drop", "hang"]
    status: int = 500
    acted: bool = False
    """Whether the call is carried out all the same, so that only its answer is lost."""
    headers: tuple[tuple[str, str], ...] = ()


def refused(status: int, *, retry_after_s: float | None = None) -> Fault:
    """An error status: 429, 500, 401, …"""
    after = () if retry_after_s is None else (("Retry-After", str(retry_after_s)),)
    return Fault("status", status, headers=after)


CUT = Fault("cut", acted=True)
"""Carried out; the answer is the first half of its JSON."""
DROPPED = Fault("drop", acted=True)
"""Carried out; the connection ends without an answer."""
HANG = Fault("hang")
"""No answer until the client gives up."""
HANG_AFTER = Fault("hang", acted=True)
"""Carried out; no answer until the client gives up, or is killed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, its content being JSON or JSON lines."""

    status: int
    content: bytes
    headers: tuple[tuple[str, str], ...] = ()


def ok(value: JSON) -> Answer:
    """200 with `value`."""
    return Answer(200, json.dumps(value).encode())


def error(status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """An error as the API words it."""
    told = {"message": message, "type": "test", "code": None, "param": None}
    return Answer(status, json.dumps({"error": told}).encode(), headers)
