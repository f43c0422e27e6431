from typing import Any, cast

import orjson
import pytest
from opensearchpy import OpenSearch, TransportError

from ccrag.engine import search
from ccrag.errors import EngineError

OK = {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": []}}
REFUSED = {"status": 429, "error": {"type": "rejected", "reason": "queue is full"}}
BROKEN = {"status": 400, "error": {"type": "parsing", "root_cause": [{"reason": "no such field"}]}}


class FakeClient:
    """Answers each msearch with the next prepared responses, and remembers what was asked."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.sent: list[list[dict[str, Any]]] = []

    def msearch(self, *, body: str) -> dict[str, Any]:
        self.sent.append([orjson.loads(line) for line in body.splitlines()])
        return {"responses": self.answers.pop(0)}


def run(client: FakeClient, count: int, *, max_searches: int = 10, dfs: bool = False) -> list[Any]:
    bodies = [{"size": number} for number in range(count)]
    return search.msearch(
        cast(OpenSearch, client), "idx", bodies, max_searches=max_searches, dfs=dfs
    )


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "FIRST_PAUSE_S", 0)


def test_each_slot_is_checked_by_itself() -> None:
    timed_out = {**OK, "timed_out": True}
    shard_failed = {**OK, "_shards": {"failed": 1}}
    slots = run(FakeClient([OK, BROKEN, timed_out, shard_failed]), 4)
    assert slots[0] == OK
    assert [str(slot) for slot in slots[1:]] == [
        "search failed with HTTP 400: no such field",
        "search failed: it timed out; its answer is incomplete and was not used",
        "search failed: 1 of ? shards failed",
    ]


def test_refused_slots_alone_are_sent_again() -> None:
    first = {**OK, "took": 1}
    client = FakeClient([first, REFUSED, OK], [{**OK, "took": 2}])
    slots = run(client, 3)
    assert [slot.get("took") for slot in slots] == [1, 2, None]
    assert client.sent[1][1] == {"size": 1}
    assert len(client.sent[1]) == 2


def test_a_slot_refused_for_good_keeps_its_error() -> None:
    client = FakeClient(*([[REFUSED]] * (search.SLOT_RETRIES + 1)))
    [slot] = run(client, 1)
    assert isinstance(slot, EngineError)
    assert "HTTP 429: queue is full" in str(slot)


def test_a_slot_that_can_only_fail_again_is_sent_once() -> None:
    lasting = {"status": 429, "error": {"reason": "Data too large", "durability": "PERMANENT"}}
    [slot] = run(FakeClient([lasting]), 1)
    assert "HTTP 429: Data too large; give the engine a larger heap" in str(slot)


def test_many_bodies_travel_in_several_requests_in_order() -> None:
    client = FakeClient([{**OK, "took": 0}, {**OK, "took": 1}], [{**OK, "took": 2}])
    assert [slot["took"] for slot in run(client, 3, max_searches=2)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("dfs", "kind"), [(False, "query_then_fetch"), (True, "dfs_query_then_fetch")]
)
def test_the_header_forbids_partial_results(dfs: bool, kind: str) -> None:
    client = FakeClient([OK])
    run(client, 1, dfs=dfs)
    assert client.sent[0][0] == {
        "index": "idx",
        "search_type": kind,
        "allow_partial_search_results": False,
    }


def test_nothing_to_search_sends_nothing() -> None:
    assert run(FakeClient(), 0) == []


def test_a_failed_request_is_our_error_with_the_engines_reason() -> None:
    class Failing(FakeClient):
        def msearch(self, *, body: str) -> dict[str, Any]:
            raise TransportError(400, "bad", {"error": {"root_cause": [{"reason": "malformed"}]}})

    with pytest.raises(EngineError, match="cannot search idx: HTTP 400: malformed"):
        run(Failing(), 1)
