from typing import Any

import orjson
import pytest

from ccrag.engine import bodies
from ccrag.types import Candidates

TWO = Candidates.of(["b", "a"], query_id="q")


def test_bm25_filters_inside_the_query_and_breaks_ties_by_id() -> None:
    assert bodies.bm25_body("graph pruning", TWO, depth=7, title_weight=0) == {
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
    body = bodies.bm25_body("graph", TWO, depth=7, title_weight=0.5)
    assert body["query"]["bool"]["should"][1] == {
        "match": {"title": {"query": "graph", "boost": 0.5}}
    }


def test_texts_are_the_same_search_with_fields() -> None:
    body = bodies.bm25_body("graph", TWO, depth=7, title_weight=0)
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
        bodies.bm25_body("x", TWO, depth=1, title_weight=1),
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
def test_long_queries_are_cut_at_a_word(text: str, kept: str) -> None:
    assert bodies.searched(text) == kept
