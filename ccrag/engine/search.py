"""Sending many searches at once: msearch, every slot checked, refused slots sent again."""

import time
from collections.abc import Sequence

from opensearchpy import OpenSearch

from ccrag.engine.client import engine_errors, to_json
from ccrag.engine.reasons import incomplete, lasts, reason_of, with_advice
from ccrag.errors import EngineError
from ccrag.types import JSON

SLOT_RETRIES = 5
FIRST_PAUSE_S = 0.1

Slot = JSON | EngineError


def msearch(
    client: OpenSearch, index: str, bodies: Sequence[JSON], *, max_searches: int, dfs: bool = False
) -> list[Slot]:
    """
    Return one response per body, in order; a slot that failed holds its error instead.

    HTTP 200 says nothing about the slots: each is checked for an error, a time-out and failed
    shards. Slots refused with 429 are sent again, `SLOT_RETRIES` times, with doubling pauses.

    Args:
        max_searches: slots per request; more bodies travel in several requests.
        dfs: gather term statistics from all shards first, so that shards do not change scores.

    Raises:
        EngineError: a whole request failed.
    """
    slots: list[Slot] = []
    for at in range(0, len(bodies), max_searches):
        slots += _checked(client, index, bodies[at : at + max_searches], dfs=dfs)
    return slots


def _checked(client: OpenSearch, index: str, bodies: Sequence[JSON], *, dfs: bool) -> list[Slot]:
    slots: list[Slot] = [EngineError("not sent")] * len(bodies)
    waiting = list(range(len(bodies)))
    for attempt in range(SLOT_RETRIES + 1):
        responses = _send(client, index, [bodies[at] for at in waiting], dfs=dfs)
        for at, response in zip(waiting, responses, strict=True):
            slots[at] = _check(response)
        # A full queue is empty again soon; a reason that lasts would only be met again.
        waiting = [
            at
            for at, response in zip(waiting, responses, strict=True)
            if response.get("status") == 429 and not lasts(response)
        ]
        if not waiting:
            break
        time.sleep(FIRST_PAUSE_S * 2**attempt)
    return slots


def _send(client: OpenSearch, index: str, bodies: Sequence[JSON], *, dfs: bool) -> list[JSON]:
    header = to_json(
        {
            "index": index,
            "search_type": "dfs_query_then_fetch" if dfs else "query_then_fetch",
            "allow_partial_search_results": False,
        }
    )
    lines = [line for body in bodies for line in (header, to_json(body))]
    with engine_errors(f"search {index}"):
        answer = client.msearch(body=b"\n".join(lines).decode() + "\n")
    responses: list[JSON] = answer["responses"]
    return responses


def _check(response: JSON) -> Slot:
    if "error" in response:
        reason = f"HTTP {response.get('status')}: {reason_of(response)}"
        return EngineError(f"search failed with {with_advice(reason, response)}")
    why = incomplete(response)
    return response if why is None else EngineError(f"search failed: {why}")
