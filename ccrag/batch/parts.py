"""Requests as lines, and lines in parts that fit a provider's limits. Pure."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from ccrag.errors import InputError
from ccrag.llm.request import CHAT_URL, ChatRequest, request_body


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request of a batch, as it is sent."""

    custom_id: str
    """The request's digest: equal requests are one."""
    line: bytes
    """JSON without a line end."""


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The requests of one batch."""

    part_id: str
    custom_ids: tuple[str, ...]
    lines: tuple[bytes, ...]


def request_line(request: ChatRequest) -> RequestLine:
    """Return the line that asks `request` in a batch."""
    custom_id = request.digest
    line = {"custom_id": custom_id, "method": "POST", "url": CHAT_URL}
    return RequestLine(custom_id, orjson.dumps({**line, "body": request_body(request)}))


def split(
    requests: Iterable[RequestLine],
    *,
    tries: Mapping[str, int],
    max_requests: int,
    max_bytes: int,
) -> Iterator[BatchPart]:
    """
    Yield the requests in order, in parts as full as the limits allow.

    What is left after some parts were sent splits into the other parts again, so that a killed
    submission goes on with the same ones.

    Args:
        tries: of a custom id, how many ended batches it was in; 0 if it is not named.

    Raises:
        InputError: one request alone is larger than `max_bytes`.
    """
    taken: list[RequestLine] = []
    size = 0
    for request in requests:
        length = len(request.line) + 1
        if length > max_bytes:
            raise InputError(
                f"request {request.custom_id} has {length} bytes, more than "
                f"batch.max_bytes={max_bytes}; show less evidence, or raise the limit"
            )
        if taken and (len(taken) == max_requests or size + length > max_bytes):
            yield _part(taken, tries)
            taken, size = [], 0
        taken.append(request)
        size += length
    if taken:
        yield _part(taken, tries)


def _part(requests: Sequence[RequestLine], tries: Mapping[str, int]) -> BatchPart:
    custom_ids = tuple(request.custom_id for request in requests)
    tried = [[custom_id, tries.get(custom_id, 0)] for custom_id in custom_ids]
    part_id = hashlib.blake2b(orjson.dumps(tried), digest_size=16).hexdigest()
    return BatchPart(part_id, custom_ids, tuple(request.line for request in requests))
