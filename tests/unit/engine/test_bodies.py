from typing import Any

import numpy as np
import orjson
import pytest

from ccrag.engine import bodies
from ccrag.types import Candidates, WeightedText

TWO = Candidates.of(["b", "a"], query_id="q")


def parts(text: str) -> tuple[WeightedText, ...]:
    return (WeightedText(text, 1.0),)


def test_bm25_filters_inside_the_query_and_breaks_ties_by_id() -> None:
    assert bodies.bm25_body(parts("graph pruning"), TWO, depth=7, title_weight=0) == {
        "size": 7,
        "_source": False,
        "track_total_hits": False,
        "query": {
            "bool": {
                "should": [{"match": {"text": {"query": "graph pruning"}}}],
                "minimum_should_match": 1,
                "filter": [{"terms": {"doc_id": ["a", "b"]}}],
            }
        },
        "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
    }


def test_a_title_weight_adds_a_title_clause() -> None:
    body = bodies.bm25_body(parts("graph"), TWO, depth=7, title_weight=0.5)
    assert body["query"]["bool"]["should"][1] == {
        "match": {"title": {"query": "graph", "boost": 0.5}}
    }


def test_texts_are_the_same_search_with_fields() -> None:
    body = bodies.bm25_body(parts("graph"), TWO, depth=7, title_weight=0)
    texts = bodies.with_text(body, depth=2)
    assert texts["query"] is body["query"]
    assert (texts["size"], texts["_source"]) == (2, bodies.PASSAGES)


def test_the_whole_index_has_no_filter() -> None:
    assert bodies.candidate_filter(Candidates.whole_index()) == []


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(65_536, [65_536]), (65_537, [65_536, 1]), (140_000, [65_536, 65_536, 8_928])],
)
def test_more_ids_than_a_clause_takes_are_split(count: int, sizes: list[int]) -> None:
    ids = [f"d{number:06}" for number in range(count)]
    [clause] = bodies.candidate_filter(Candidates.of(ids, query_id="q"))
    clauses = clause["bool"]["should"] if "bool" in clause else [clause]
    assert [len(c["terms"]["doc_id"]) for c in clauses] == sizes
    assert [doc_id for c in clauses for doc_id in c["terms"]["doc_id"]] == ids


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()), set())
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(
    "body",
    [
        bodies.bm25_body(parts("x"), TWO, depth=1, title_weight=1),
        bodies.document_body("a", depth=1),
        bodies.passages_body(TWO, size=1, after="a#0"),
        bodies.ordinals_body("a", [1, 0]),
    ],
)
def test_no_body_filters_after_the_search_or_parses_operators(body: dict[str, Any]) -> None:
    assert not _keys(body) & {"post_filter", "query_string", "simple_query_string"}
    assert b"doc_id" in orjson.dumps(body)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a b c", "a b c"),
        ("", ""),
        ("w " * 400, "w " * 400),
        ("w " * 401, "w " * 400),
        ("漢" * 401, "漢" * 400),
        ("ab漢" * 250, "ab漢" * 200),
    ],
)
def test_long_queries_are_truncated_at_a_word(text: str, kept: str) -> None:
    assert bodies.searched(parts(text)) == list(parts(kept))


def test_parts_share_the_words_that_are_searched() -> None:
    asked = (
        WeightedText("new " * 300, 1.0),
        WeightedText("old " * 300, 0.5),
        WeightedText("oldest", 0.2),
    )
    assert bodies.searched(asked) == [
        WeightedText("new " * 300, 1.0),
        WeightedText("old " * 100, 0.5),
    ]


def test_a_parts_weight_boosts_its_clauses_and_scores_are_summed() -> None:
    body = bodies.bm25_body(
        (WeightedText("new", 1.0), WeightedText("old", 0.5)), TWO, depth=7, title_weight=0.5
    )
    assert body["query"]["bool"]["should"] == [
        {"match": {"text": {"query": "new"}}},
        {"match": {"title": {"query": "new", "boost": 0.5}}},
        {"match": {"text": {"query": "old", "boost": 0.5}}},
        {"match": {"title": {"query": "old", "boost": 0.25}}},
    ]


def test_a_collection_is_the_filter_and_comes_with_every_hit() -> None:
    fiqa = Candidates.of_collection("fiqa")
    vector = np.zeros(2, dtype=np.float32)
    bm25 = bodies.bm25_body(parts("x"), fiqa, depth=1, title_weight=0)
    exact = bodies.exact_body(vector, fiqa, depth=1)
    hnsw = bodies.hnsw_body(vector, fiqa, depth=1, ef_search=1)
    clause = {"term": {"collection": "fiqa"}}
    assert bm25["query"]["bool"]["filter"] == [clause]
    assert exact["query"]["script_score"]["query"] == {"bool": {"filter": [clause]}}
    assert hnsw["query"]["knn"]["vector"]["filter"] == clause
    assert [body["docvalue_fields"] for body in (bm25, exact, hnsw)] == [["collection"]] * 3


def test_parts_and_passages_are_asked_inside_the_candidates() -> None:
    inside = {"terms": {"doc_id": ["a", "b"]}}
    body = bodies.parts_body(TWO, size=5, among=("unit_id", ["u2", "u1"]), after="a@0")
    among = {"terms": {"unit_id": ["u1", "u2"]}}
    assert body["query"] == {"bool": {"filter": [inside, among]}}
    assert (body["size"], body["search_after"]) == (5, ["a@0"])
    assert bodies.parts_body(TWO, size=5)["query"] == {"bool": {"filter": [inside]}}
    some = bodies.passages_of_body(["b"], TWO, size=5)
    own = {"terms": {"doc_id": ["b"]}}
    assert some["query"] == {"bool": {"filter": [inside, own]}}
