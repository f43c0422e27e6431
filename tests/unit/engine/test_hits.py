from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.engine import hits
from ccrag.errors import CandidateLeakError, InvariantError
from ccrag.types import Candidates, Document, Query, UnitPart, doc_id_of
from tests.support import document, query, whole_passage


def response(*scored: tuple[str, float | None]) -> dict[str, Any]:
    return {"hits": {"hits": [{"_id": pid, "_score": score} for pid, score in scored]}}


def test_hits_are_ordered_by_score_then_passage_id() -> None:
    ranking = hits.parse_ranking(
        query("x", "a", "b"), "bm25", response(("b#1", 1.0), ("a#2", 2.0), ("a#1", 1.0))
    )
    assert [hit.passage_id for hit in ranking] == ["a#2", "a#1", "b#1"]
    assert [hit.doc_id for hit in ranking] == ["a", "a", "b"]


def test_no_hits_is_an_empty_ranking() -> None:
    assert len(hits.parse_ranking(query("x", "a"), "bm25", response())) == 0


def test_a_hit_outside_the_candidates_is_a_leak() -> None:
    with pytest.raises(CandidateLeakError, match=r"'q1'.*'c'"):
        hits.parse_ranking(query("x", "a", "b"), "bm25", response(("a#1", 2.0), ("c#1", 1.0)))


def test_order_gives_falling_scores_and_checks_closure_too() -> None:
    asked = query("x", "b", "a")
    ranking = hits.parse_order(
        asked, "order", [response(("b#9", None), ("b#1", None)), response(("a#5", None))]
    )
    assert [(hit.passage_id, hit.score) for hit in ranking] == [
        ("b#9", 1 / 1),
        ("b#1", 1 / 2),
        ("a#5", 1 / 3),
    ]
    with pytest.raises(CandidateLeakError):
        hits.parse_order(asked, "order", [response(("c#1", None))])


def test_passages_come_back_as_they_were_stored() -> None:
    passage = whole_passage(document("a#b", "Ein Satz.", title="T", date="2020-01-02"), edges=3)
    stored = hits.passage_source(passage)
    assert hits.parse_passage(passage.passage_id, stored) == passage


def parts_response(*parts: UnitPart, collection: str | None = None) -> dict[str, Any]:
    sources = [hits.part_source(part, collection=collection) for part in parts]
    return {"hits": {"hits": [{"_id": s["part_id"], "_source": s} for s in sources]}}


A = UnitPart("u1", "a", 0, 0, 9, 3, "T", "2020", "law", "2.1", links=("b", "c"))
B = UnitPart("u1", "b", 1, 0, 9, 3)


def test_parts_come_back_without_links_beyond_the_candidates() -> None:
    found = hits.parse_parts(query("x"), [parts_response(A), parts_response(B)])
    assert found == [A, B]
    [part, _] = hits.parse_parts(query("x", "a", "b"), [parts_response(A, B)])
    assert part.links == ("b",)
    assert hits.parse_parts(query("x", "a"), []) == []


def test_parts_of_a_collection_keep_links_among_themselves_alone() -> None:
    asked = Query("q1", "x", Candidates.of_collection("wet"))
    found = hits.parse_parts(asked, [parts_response(A, B, collection="wet")])
    assert [part.links for part in found] == [("b",), ()]
    with pytest.raises(CandidateLeakError):
        hits.parse_parts(asked, [parts_response(A, collection="dry")])
    assert hits.parse_parts(asked, []) == []


def test_parts_outside_the_candidates_are_a_leak() -> None:
    with pytest.raises(CandidateLeakError, match=r"'b'"):
        hits.parse_parts(query("x", "a"), [parts_response(A, B)])


def test_passages_outside_the_candidates_are_a_leak() -> None:
    passage = whole_passage(document("c", "Text."))
    found = {
        "hits": {"hits": [{"_id": passage.passage_id, "_source": hits.passage_source(passage)}]}
    }
    assert hits.parse_passages(query("x"), found) == [passage]
    with pytest.raises(CandidateLeakError):
        hits.parse_passages(query("x", "a"), found)


def test_a_passage_stored_under_another_document_is_a_bug() -> None:
    stored = hits.passage_source(whole_passage(document("a", "Text.")))
    with pytest.raises(InvariantError, match="is stored for 'a'"):
        hits.parse_passage("b#1", stored)


DOC_IDS = st.text(st.sampled_from("abc#"), min_size=1, max_size=3)


@given(
    st.sets(DOC_IDS, min_size=1),
    st.lists(st.tuples(DOC_IDS, st.floats(0, 9)), unique_by=lambda h: h[0]),
)
def test_closure_holds_for_any_response(
    candidates: set[str], found: list[tuple[str, float]]
) -> None:
    asked = Query("q", "x", Candidates.of(sorted(candidates), query_id="q"))
    body = response(*((f"{doc_id}#0f", score) for doc_id, score in found))
    if {doc_id for doc_id, _ in found} <= candidates:
        ranking = hits.parse_ranking(asked, "bm25", body)
        assert {doc_id_of(hit.passage_id) for hit in ranking} <= candidates
        assert list(ranking) == sorted(ranking, key=lambda hit: (-hit.score, hit.passage_id))
    else:
        with pytest.raises(CandidateLeakError):
            hits.parse_ranking(asked, "bm25", body)


COLLECTIONS = st.sampled_from(["fiqa", "govt", None])


def placed(*found: tuple[str, str | None]) -> dict[str, Any]:
    """A response as it comes when candidates are a collection."""
    hits_ = [
        {"_id": f"{doc_id}#0f", "_score": 1.0, **({"fields": {"collection": [c]}} if c else {})}
        for doc_id, c in found
    ]
    return {"hits": {"hits": hits_}}


@given(st.lists(st.tuples(DOC_IDS, COLLECTIONS), unique_by=lambda h: h[0]))
def test_closure_by_collection_holds_for_any_response(found: list[tuple[str, str | None]]) -> None:
    asked = Query("q", "x", Candidates.of_collection("fiqa"))
    outside = {doc_id for doc_id, collection in found if collection != "fiqa"}
    if not outside:
        ranking = hits.parse_ranking(asked, "bm25", placed(*found))
        assert {hit.doc_id for hit in ranking} == {doc_id for doc_id, _ in found}
        return
    with pytest.raises(CandidateLeakError) as leak:
        hits.parse_ranking(asked, "bm25", placed(*found))
    assert leak.value.doc_ids == outside
    with pytest.raises(CandidateLeakError):
        hits.parse_order(asked, "order", [placed(*found)])


@pytest.mark.parametrize("collection", ["govt", None])
def test_passages_outside_the_collection_are_a_leak(collection: str | None) -> None:
    passage = whole_passage(Document("a", "", "Text.", collection=collection))
    stored = hits.passage_source(passage)
    assert hits.parse_passage(passage.passage_id, stored) == passage
    found = {"hits": {"hits": [{"_id": passage.passage_id, "_source": stored}]}}
    with pytest.raises(CandidateLeakError):
        hits.parse_passages(Query("q", "x", Candidates.of_collection("fiqa")), found)


def test_a_collection_cannot_be_asked_by_id_alone() -> None:
    with pytest.raises(InvariantError, match="an id alone"):
        _ = "a" in Candidates.of_collection("fiqa")
