"""Writing many items: byte-bounded requests, refused items sent again, every failure classified."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from opensearchpy import OpenSearch, TransportError, helpers

from ccrag.config import EngineSettings
from ccrag.engine.client import engine_errors
from ccrag.engine.reasons import HEAP_ADVICE, is_blocked, reason_of, with_advice
from ccrag.errors import BulkWriteError, EngineError
from ccrag.types import JSON

ITEMS_PER_REQUEST = 2_000
FIRST_PAUSE_S = 1
MAX_FAILURES = 100
"""Loading stops when so many items failed: the cause will not go away by itself."""

RESPONSE_FIELDS = "errors,items.*._id,items.*._index,items.*.status,items.*.error"
CONFLICT, NOT_FOUND = 409, 404
_TOO_LARGE = (429, 413, "N/A")
"""Statuses of a request with one item too large; "N/A": the engine closed the connection."""


@dataclass(slots=True)
class WriteCounts:
    """Items per index of one load."""

    written: int = 0
    resumed: int = 0
    """Items that were there already, from an interrupted load."""


def write(
    client: OpenSearch,
    actions: Iterable[JSON],
    settings: EngineSettings,
) -> dict[str, WriteCounts]:
    """
    Do every action: create an item unless it exists; index it; delete it.

    Ids change with content, so an item that exists is the one that was to be created. Deleting
    what is not there is no failure: the request was repeated.

    Args:
        actions: `{"_op_type": "create" | "index" | "delete", "_index", "_id", …fields}`.

    Returns:
        Counts by concrete index.

    Raises:
        BulkWriteError: items were refused for good; those before them are written.
        EngineError: a request failed.
    """
    counts: dict[str, WriteCounts] = {}
    failed: dict[str, str] = {}
    with engine_errors("write passages"):
        results = helpers.streaming_bulk(
            _Sender(client, settings.bulk_max_bytes),
            actions,
            chunk_size=ITEMS_PER_REQUEST,
            max_chunk_bytes=settings.bulk_max_bytes,
            max_retries=settings.bulk_retries,
            initial_backoff=FIRST_PAUSE_S,
            max_backoff=30,
            raise_on_error=False,
            request_timeout=settings.bulk_timeout_s,
            filter_path=RESPONSE_FIELDS,
        )
        # The helper repeats items refused with 429 by itself; what comes here is final.
        for ok, result in results:
            [(kind, item)] = result.items()
            count = counts.setdefault(item["_index"], WriteCounts())
            if ok:
                count.written += 1
            elif (kind, item["status"]) == ("create", CONFLICT):
                count.resumed += 1
            elif (kind, item["status"]) == ("delete", NOT_FOUND):
                continue
            else:
                reason = f"HTTP {item['status']}: {reason_of(item)}"
                failed[item["_id"]] = with_advice(reason, item)
                if len(failed) >= MAX_FAILURES:
                    raise BulkWriteError(item["_index"], failed)
    if failed:
        raise BulkWriteError(item["_index"], failed)
    return counts


class _Sender:
    """The client as the bulk helper sees it: failures that would only repeat end the load."""

    def __init__(self, client: OpenSearch, max_bytes: int) -> None:
        self.transport = client.transport
        self._client = client
        self._max_bytes = max_bytes

    def bulk(self, body: str, **options: Any) -> JSON:
        """
        Send one request.

        Raises:
            EngineError: an item is too large for the engine, or its index takes no writes.
            TransportError: the request failed for another reason, or may be sent again.
        """
        try:
            answer: JSON = self._client.bulk(body=body, **options)
        except TransportError as error:
            size = len(body.encode())
            if size > self._max_bytes and error.status_code in _TOO_LARGE:
                raise EngineError(_too_large(body, size, error)) from error
            raise
        for item in answer["items"] if answer["errors"] else ():
            [result] = item.values()
            if is_blocked(result):
                raise EngineError(f"cannot write: {with_advice(reason_of(result), result)}")
        return answer


def _too_large(body: str, size: int, error: TransportError) -> str:
    """Return the message for a request that the engine refused for its size."""
    # The bulk helper sends more than the limit only where a single item is larger.
    [action] = orjson.loads(body.partition("\n")[0]).values()
    said, advice = f"HTTP {error.status_code}: {reason_of(error.info)}", HEAP_ADVICE
    if error.status_code != 429:
        said = "its http.max_content_length is 100 MB, unless set otherwise"
        advice = "split the document"
    return (
        f"{action['_id']!r} is too large for the engine: {size / 1e6:.0f} MB in one request "
        f"({said}); {advice}"
    )
