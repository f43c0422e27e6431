"""At which stage a relevant document was lost."""

from typing import Any

import pytest

from ccrag.experiment.losing import End, document_ways, where_lost

DEPTH = 2


def record(
    rankings: dict[str, list[str]],
    *,
    read: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Provenance of one query; a passage `d#1` is of document `d`."""
    return {
        "rankings": [
            {"stage": stage, "hits": [[passage_id, 1.0] for passage_id in hits]}
            for stage, hits in rankings.items()
        ],
        "read": [{"doc_id": doc_id} for doc_id in read],
        "evidence": [{"doc_id": doc_id} for doc_id in evidence],
        "references": list(references),
    }


HIGH, LOW = ["d#1", "x#1", "y#1"], ["x#1", "y#1", "d#1"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record({"bm25:original": HIGH}, references=("d",)), End.CITED),
        (record({"bm25:original": HIGH}, read=("d",), evidence=("d",)), End.ANSWER),
        (record({"bm25:original": LOW}, read=("d",)), End.EVIDENCE),
        (record({"bm25:original": HIGH}), End.SELECTION),
        (record({"bm25:original": LOW}), End.FIRST_LISTS),
        (record({"bm25:original": ["x#1"]}), End.FIRST_LISTS),
        (record({}), End.FIRST_LISTS),
        (record({"bm25:original": HIGH, "rerank": LOW}), End.RERANK),
        (record({"bm25:original": LOW, "rerank": LOW}), End.FIRST_LISTS),
        (record({"bm25:original": LOW, "rerank": HIGH}), End.SELECTION),
        (record({"a": HIGH, "b": LOW, "rrf": HIGH, "rerank": LOW}), End.RERANK),
        (record({"a": LOW, "b": HIGH, "rrf": LOW, "rerank": LOW}), End.FUSION),
        (record({"a": LOW, "b": HIGH, "rrf": LOW}), End.FUSION),
        (record({"a": LOW, "b": ["x#1"], "rrf": LOW, "rerank": LOW}), End.FIRST_LISTS),
        (record({"a": HIGH, "rrf": HIGH, "rerank": HIGH}), End.SELECTION),
        (None, End.FAILED),
    ],
)
def test_the_stage_after_the_last_that_had_it(given: dict[str, Any] | None, expected: End) -> None:
    assert where_lost("d", given, depth=DEPTH) is expected


def test_what_is_no_candidate_or_has_no_passage_was_lost_before_any_list() -> None:
    nowhere = record({"bm25:original": ["x#1"]})
    assert where_lost("d", nowhere, depth=DEPTH, candidates=("x",)) is End.CANDIDATES
    assert where_lost("d", nowhere, depth=DEPTH, candidates=("x", "d")) is End.FIRST_LISTS
    assert where_lost("d", nowhere, depth=DEPTH, without_passages={"d"}) is End.PASSAGES


def test_the_rank_at_the_depth_still_counts() -> None:
    at_depth = record({"bm25:original": ["x#1", "d#1"]})
    assert where_lost("d", at_depth, depth=2) is End.SELECTION
    assert where_lost("d", at_depth, depth=1) is End.FIRST_LISTS


def test_ranks_are_those_of_the_best_passage_and_ids_may_hold_the_mark() -> None:
    given = record({"a": ["x#1", "d#2", "d#1", "e#f#1"], "rrf": ["d#1"]})
    d, e = document_ways(["d", "e#f"], given, depth=DEPTH)
    assert (d.ranks, e.ranks) == ({"a": 2, "rrf": 1}, {"a": 4, "rrf": None})
    assert document_ways([], given, depth=DEPTH) == ()
