"""The engine's own words, and what to do about them."""

from typing import Any

import pytest

from ccrag.engine.reasons import incomplete, is_blocked, lasts, reason_of, with_advice


def error(reason: str, kind: str = "some_exception", **more: Any) -> dict[str, Any]:
    return {"error": {"type": kind, "reason": reason, **more}}


@pytest.mark.parametrize(
    ("info", "advice"),
    [
        (
            error("index [x] blocked by: [FORBIDDEN/6/cluster read-only (api)];"),
            "unset cluster.blocks.read_only",
        ),
        (
            error("index [x] blocked by: [FORBIDDEN/5/index read-only (api)];"),
            "unset that block (index.blocks.*)",
        ),
        (error("index [x] blocked by: [FORBIDDEN/7/index read (api)];"), "unset that block"),
        (error("index [x] blocked by: [FORBIDDEN/8/index write (api)];"), "unset that block"),
        (
            error(
                "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage "
                "watermark, index has read-only-allow-delete block];"
            ),
            "free disk space",
        ),
        (
            error("blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"),
            "free disk space",
        ),
        (error("no permissions for [indices:data/read/search]"), "give engine.user the rights"),
        (error("[parent] Data too large, data for [<http_request>]"), "--heap-mb"),
        (error("closed", "index_closed_exception"), "open the index"),
        (error("rejected execution of x"), "the engine is busy"),
    ],
)
def test_known_reasons_have_advice(info: dict[str, Any], advice: str) -> None:
    told = with_advice(reason_of(info), info)
    assert told.startswith(info["error"]["reason"])
    assert advice in told


def test_an_unknown_reason_is_left_alone() -> None:
    assert with_advice("no such field", error("no such field")) == "no such field"


def test_each_cause_is_in_the_message_once_in_one_line() -> None:
    info = error(
        "all shards failed",
        root_cause=[{"reason": "too\nmany"}, {"reason": "too\nmany"}],
        caused_by={"reason": "why", "caused_by": {"reason": "deeper"}},
    )
    assert reason_of(info) == "all shards failed; too many; why; deeper"
    assert reason_of({"error": {"type": "x"}}) == "x"
    assert reason_of("<html>") == "<html>"


def test_what_is_permanent_or_blocked_is_not_tried_again() -> None:
    assert lasts(error("too large", durability="PERMANENT"))
    assert not lasts(error("too large", durability="TRANSIENT"))
    assert is_blocked(error("x", "cluster_block_exception"))
    assert not is_blocked(error("x", "rejected"))


@pytest.mark.parametrize("whole", [None, [], {}, {"timed_out": False, "_shards": {"failed": 0}}])
def test_a_whole_answer_is_taken(whole: Any) -> None:
    assert incomplete(whole) is None
