"""At which stage a relevant document was lost."""

from typing import Any

import pytest

from ccrag.evaluation.gold import Gold, GoldQuote
from ccrag.experiment.loss_analysis import LossStage, relevant_items
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
) -> Any:
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


def where_lost(relevant_id: str, given: Any, **arguments: Any) -> LossStage:
    """The stage that lost one document or passage."""
    (result,) = relevant_items([relevant_id], given, **arguments)
    return result.end


HIGH, LOW = ["d#1", "x#1", "y#1"], ["x#1", "y#1", "d#1"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record({"bm25:original": HIGH}, references=("d",)), LossStage.CITED),
        (record({"bm25:original": HIGH}, read=("d",), evidence=("d",)), LossStage.ANSWER),
        (record({"bm25:original": LOW}, read=("d",)), LossStage.EVIDENCE),
        (record({"bm25:original": HIGH}), LossStage.SELECTION),
        (record({"bm25:original": LOW}), LossStage.FIRST_LISTS),
        (record({"bm25:original": ["x#1"]}), LossStage.FIRST_LISTS),
        (record({}), LossStage.FIRST_LISTS),
        (record({"bm25:original": HIGH, "rerank": LOW}), LossStage.RERANK),
        (record({"bm25:original": LOW, "rerank": LOW}), LossStage.FIRST_LISTS),
        (record({"bm25:original": LOW, "rerank": HIGH}), LossStage.SELECTION),
        (record({"a": HIGH, "b": LOW, "rrf": HIGH, "rerank": LOW}), LossStage.RERANK),
        (record({"a": LOW, "b": HIGH, "rrf": LOW, "rerank": LOW}), LossStage.FUSION),
        (record({"a": LOW, "b": HIGH, "rrf": LOW}), LossStage.FUSION),
        (record({"a": LOW, "b": ["x#1"], "rrf": LOW, "rerank": LOW}), LossStage.FIRST_LISTS),
        (record({"a": HIGH, "rrf": HIGH, "rerank": HIGH}), LossStage.SELECTION),
        (None, LossStage.FAILED),
    ],
)
def test_the_stage_after_the_last_that_had_it(given: Any, expected: LossStage) -> None:
    assert where_lost("d", given, depth=DEPTH) is expected


def test_what_is_no_candidate_or_has_no_passage_was_lost_before_any_list() -> None:
    nowhere = record({"bm25:original": ["x#1"]})
    assert where_lost("d", nowhere, depth=DEPTH, candidates=("x",)) is LossStage.CANDIDATES
    assert where_lost("d", nowhere, depth=DEPTH, candidates=("x", "d")) is LossStage.FIRST_LISTS
    assert where_lost("d", nowhere, depth=DEPTH, not_held={"d"}) is LossStage.PASSAGES


def test_the_rank_at_the_depth_still_counts() -> None:
    at_depth = record({"bm25:original": ["x#1", "d#1"]})
    assert where_lost("d", at_depth, depth=2) is LossStage.SELECTION
    assert where_lost("d", at_depth, depth=1) is LossStage.FIRST_LISTS


def test_ranks_are_those_of_the_best_passage_and_ids_may_hold_the_mark() -> None:
    given = record({"a": ["x#1", "d#2", "d#1", "e#f#1"], "rrf": ["d#1"]})
    d, e = relevant_items(["d", "e#f"], given, depth=DEPTH)
    assert (d.ranks, e.ranks) == ({"a": 2, "rrf": 1}, {"a": 4, "rrf": None})
    assert relevant_items([], given, depth=DEPTH) == ()


P, OTHER = (make_passage_id("d", Span(at, at + 1), "text") for at in (0, 1))
"""Two passages of one document."""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            record({"a": [P]}, references=("d",), read=(P,), evidence=(P,), named=("e0",)),
            LossStage.CITED,
        ),
        (
            record({"a": [P]}, references=("d",), evidence=(OTHER, P), named=("e0",)),
            LossStage.ANSWER,
        ),
        (record({"a": [P]}, references=("d",), read=(P,), evidence=(OTHER,)), LossStage.EVIDENCE),
        (record({"a": [P]}, references=("d",), read=(OTHER,)), LossStage.SELECTION),
        (record({"a": [OTHER, "x#1", P]}, references=("d",)), LossStage.FIRST_LISTS),
        (record({"a": [P], "rrf": [OTHER, "x#1", P]}), LossStage.FUSION),
        (record({"a": [P], "rrf": [P], "rerank": [OTHER, "x#1", P]}), LossStage.RERANK),
    ],
)
def test_a_passage_is_followed_by_itself_and_not_by_its_document(
    given: dict[str, Any], expected: LossStage
) -> None:
    assert where_lost(P, given, depth=DEPTH) is expected


def test_a_passage_is_a_candidate_with_its_document_and_may_be_cut_otherwise() -> None:
    nowhere = record({"a": ["x#1"]})
    assert where_lost(P, nowhere, depth=DEPTH, candidates=("x",)) is LossStage.CANDIDATES
    assert where_lost(P, nowhere, depth=DEPTH, candidates=("d",)) is LossStage.FIRST_LISTS
    assert (
        where_lost(P, nowhere, depth=DEPTH, candidates=("d",), not_held={P}) is LossStage.PASSAGES
    )


def test_a_passage_and_its_document_have_ranks_of_their_own() -> None:
    given = record({"a": ["x#1", OTHER, P]})
    assert [result.ranks for result in relevant_items([P, "d"], given, depth=DEPTH)] == [
        {"a": 3},
        {"a": 2},
    ]


def test_what_is_relevant_is_what_is_judged_and_documents_quoted() -> None:
    gold = Gold(
        {"q": "?", "other": "?"},
        qrels={"q": {P: 1, OTHER: 0, "j": 2}},
        quotes={
            "q": (
                GoldQuote("d", "a"),
                GoldQuote("new", "b"),
                GoldQuote("new", "c"),
                GoldQuote("j", "d"),
            )
        },
    )
    assert relevant_ids(gold) == {"q": (P, "j", "new"), "other": ()}
