"""Writing many items: byte-bounded requests, refused items sent again, every failure classified."""

from collections.abc import Iterable
from dataclasses import dataclass

from opensearchpy import OpenSearch, helpers

from ccrag.config import EngineSettings
from ccrag.engine.client import engine_errors, reason_of
from ccrag.errors import BulkWriteError
from ccrag.types import JSON

ITEMS_PER_REQUEST = 2_000
FIRST_PAUSE_S = 1
MAX_FAILURES = 100
"""Loading stops when so many items failed: the cause will not go away by itself."""

RESPONSE_FIELDS = "errors,items.*._id,items.*._index,items.*.status,items.*.error"
CONFLICT, NOT_FOUND = 409, 404


@dataclass(slots=True)
class WriteCounts:
    """Items per index of one load."""

    written: int = 0
    kept: int = 0
    """Already there from an earlier, interrupted load."""


def write(
    client: OpenSearch,
    actions: Iterable[JSON],
    settings: EngineSettings,
) -> dict[str, WriteCounts]:
    """
    Do every action: create an item, which is kept if it exists; index it; delete it.

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
            client,
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
        for ok, result in results:
            [(kind, item)] = result.items()
            count = counts.setdefault(item["_index"], WriteCounts())
            if ok:
                count.written += 1
            elif (kind, item["status"]) == ("create", CONFLICT):
                count.kept += 1
            elif (kind, item["status"]) == ("delete", NOT_FOUND):
                continue
            else:
                failed[item["_id"]] = f"HTTP {item['status']}: {reason_of(item)}"
                if len(failed) >= MAX_FAILURES:
                    raise BulkWriteError(item["_index"], failed)
    if failed:
        raise BulkWriteError(item["_index"], failed)
    return counts
