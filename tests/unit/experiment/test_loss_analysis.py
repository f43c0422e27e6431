"""At which stage a relevant document was lost."""

from typing import Any

import pytest

from ccrag.evaluation.gold import Gold, Quote
from ccrag.experiment.loss_analysis import End, ways_of
from ccrag.experiment.outcome import relevant_ids
from ccrag.types import Span, doc_id_of, make_passage_id

DEPTH = 2


def record(
    rankings: dict[str, list[str]],
    *,
    read: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Provenance of one query; a passage `d#1` is of document `d`; the answer rests on `named`."""
    return {
        "rankings": [
            {"stage": stage, "hits": [[passage_id, 1.0] for passage_id in hits]}
            for stage, hits in rankings.items()
        ],
        "read": [{"doc_id": doc_id_of(name) or name, "passage_id": name} for name in read],
        "evidence": [
            {"evidence_id": f"e{at}", "doc_id": doc_id_of(name) or name, "passage_id": name}
            for at, name in enumerate(evidence)
        ],
        "answer": [{"text": "A.", "citations": [0], "evidence": list(named)}],
        "references": list(references),
    }


def where_lost(relevant_id: str, given: dict[str, Any] | None, **arguments: Any) -> End:
    """The stage that lost one document or passage."""
    (way,) = ways_of([relevant_id], given, **arguments)
    return way.end


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
    assert where_lost("d", nowhere, depth=DEPTH, not_held={"d"}) is End.PASSAGES


def test_the_rank_at_the_depth_still_counts() -> None:
    at_depth = record({"bm25:original": ["x#1", "d#1"]})
    assert where_lost("d", at_depth, depth=2) is End.SELECTION
    assert where_lost("d", at_depth, depth=1) is End.FIRST_LISTS


def test_ranks_are_those_of_the_best_passage_and_ids_may_hold_the_mark() -> None:
    given = record({"a": ["x#1", "d#2", "d#1", "e#f#1"], "rrf": ["d#1"]})
    d, e = ways_of(["d", "e#f"], given, depth=DEPTH)
    assert (d.ranks, e.ranks) == ({"a": 2, "rrf": 1}, {"a": 4, "rrf": None})
    assert ways_of([], given, depth=DEPTH) == ()


P, OTHER = (make_passage_id("d", Span(at, at + 1), "text") for at in (0, 1))
"""Two passages of one document."""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record({"a": [P]}, references=("d",), read=(P,), evidence=(P,), named=("e0",)), End.CITED),
        (record({"a": [P]}, references=("d",), evidence=(OTHER, P), named=("e0",)), End.ANSWER),
        (record({"a": [P]}, references=("d",), read=(P,), evidence=(OTHER,)), End.EVIDENCE),
        (record({"a": [P]}, references=("d",), read=(OTHER,)), End.SELECTION),
        (record({"a": [OTHER, "x#1", P]}, references=("d",)), End.FIRST_LISTS),
        (record({"a": [P], "rrf": [OTHER, "x#1", P]}), End.FUSION),
        (record({"a": [P], "rrf": [P], "rerank": [OTHER, "x#1", P]}), End.RERANK),
    ],
)
def test_a_passage_is_followed_by_itself_and_not_by_its_document(
    given: dict[str, Any], expected: End
) -> None:
    assert where_lost(P, given, depth=DEPTH) is expected


def test_a_passage_is_a_candidate_with_its_document_and_may_be_cut_otherwise() -> None:
    nowhere = record({"a": ["x#1"]})
    assert where_lost(P, nowhere, depth=DEPTH, candidates=("x",)) is End.CANDIDATES
    assert where_lost(P, nowhere, depth=DEPTH, candidates=("d",)) is End.FIRST_LISTS
    assert where_lost(P, nowhere, depth=DEPTH, candidates=("d",), not_held={P}) is End.PASSAGES


def test_a_passage_and_its_document_have_ranks_of_their_own() -> None:
    given = record({"a": ["x#1", OTHER, P]})
    assert [way.ranks for way in ways_of([P, "d"], given, depth=DEPTH)] == [{"a": 3}, {"a": 2}]


def test_what_is_relevant_is_what_is_judged_and_documents_quoted() -> None:
    gold = Gold(
        {"q": "?", "other": "?"},
        qrels={"q": {P: 1, OTHER: 0, "j": 2}},
        quotes={"q": (Quote("d", "a"), Quote("new", "b"), Quote("new", "c"), Quote("j", "d"))},
    )
    assert relevant_ids(gold) == {"q": (P, "j", "new"), "other": ()}
