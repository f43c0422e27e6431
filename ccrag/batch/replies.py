"""
The lines of a batch's files: which replies they hold, and what is wrong with the rest. Pure.

Lines come in any order. Nothing is dropped in silence: a line that cannot be used is a problem, and
its request stays without a reply, to be asked again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from ccrag.errors import ModelError
from ccrag.llm.quote import visible
from ccrag.llm.reply import parse_reply
from ccrag.text.truncate import shortened
from ccrag.types import JSON

OK = 200
MAX_TOLD_CHARS = 120


@dataclass(slots=True)
class ReadLines:
    """The lines of a batch's files, and what is wrong with them."""

    bodies: dict[str, JSON] = field(default_factory=dict)
    """Body of the chat completion by custom id: the first usable one of each."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why a request has no reply, by custom id, as far as the provider says."""
    problems: list[str] = field(default_factory=list)
    """Lines that belong to no request, or that cannot be read."""


def read_lines(found: ReadLines, lines: Iterable[bytes], *, asked: Collection[str]) -> None:
    """
    Add what `lines` of an output or error file hold to `found`.

    Args:
        asked: the custom ids of the batch; others are problems.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        record = _record(line)
        if record is None:
            told = _told(line.decode(errors="replace"))
            found.problems.append(f"line {number} is no whole JSON object: {told}")
            continue
        custom_id = record.get("custom_id")
        if not isinstance(custom_id, str) or custom_id not in asked:
            found.problems.append(f"line {number}: custom_id {custom_id!r} was not asked")
            continue
        _take(found, custom_id, record, number)


def _record(line: bytes) -> JSON | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _take(found: ReadLines, custom_id: str, record: JSON, number: int) -> None:
    body, reason = _outcome(record)
    if body is None:
        found.reasons.setdefault(custom_id, reason)
        return
    known = found.bodies.setdefault(custom_id, body)
    if known is not body:
        differs = "" if known == body else " and differs; the first counts"
        found.problems.append(f"line {number}: reply to {custom_id} is repeated{differs}")


def _outcome(record: JSON) -> tuple[JSON | None, str]:
    """Return the body of a usable reply, or why there is none."""
    error, response = record.get("error"), record.get("response")
    if error:
        return None, _told(error)
    if not isinstance(response, Mapping):
        return None, "a line without a response"
    body = response.get("body")
    if response.get("status_code") != OK:
        return None, f"status {response.get('status_code')}: {_told(body)}"
    if not isinstance(body, dict):
        return None, "a response without a body"
    try:
        fault = parse_reply(body).fault
    except ModelError as error:
        return None, str(error)
    return (body, "") if fault is None else (None, fault)


def _told(error: object) -> str:
    """Return an error as the provider words it, on one line."""
    if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    if isinstance(error, Mapping):
        words = [str(error[key]) for key in ("code", "message") if error.get(key)]
        error = ": ".join(words) or "no reason given"
    return shortened(" ".join(visible(str(error)).split()), max_chars=MAX_TOLD_CHARS)
