"""Reordering by a model's scores."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import InvariantError
from ccrag.retrieval.model_rerank import add_model_scores, rerank_by_scores, sigmoid
from ccrag.types import Ranking
from tests.unit.stages import ids, ranking

EMPTY = Ranking.of("q1", "rrf", ())


def test_scores_replace_the_order() -> None:
    found = rerank_by_scores(ranking("a", "b", "c"), {"a": -3.0, "b": 0.5, "c": 2.0}, stage="ce")
    assert [(hit.passage_id, hit.doc_id, hit.score) for hit in found] == [
        ("c", "c", 2.0),
        ("b", "b", 0.5),
        ("a", "a", -3.0),
    ]
    assert (found.stage, found.query_id) == ("ce", "q1")


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_scores_are_matched_by_id_in_whatever_order_they_come(
    ranked: list[str], scored: list[str]
) -> None:
    scores = {passage_id: float(ord(passage_id)) for passage_id in scored}
    assert ids(rerank_by_scores(ranking(*ranked), scores)) == list("fedcba")


def test_ties_are_broken_by_passage_id() -> None:
    assert ids(rerank_by_scores(ranking("c", "a", "b"), dict.fromkeys("abc", 1.0))) == list("abc")


def test_a_model_term_is_added() -> None:
    found = add_model_scores(ranking("a", "b"), {"a": 0.0, "b": 1.0}, weight=4.0)
    assert [(hit.passage_id, hit.score) for hit in found] == [
        ("a", 2 + 4 / 2),  # b: 1 + 4 / (1 + e^-1) = 3.92
        ("b", 1 + 4 / (1 + exp(-1))),
    ]
    assert ids(add_model_scores(ranking("a", "b"), {"a": 0.0, "b": 1.0}, weight=5.0)) == ["b", "a"]


def test_one_passage_and_none() -> None:
    assert ids(rerank_by_scores(ranking("a"), {"a": 0.0})) == ["a"]
    assert len(rerank_by_scores(EMPTY, {})) == len(add_model_scores(EMPTY, {}, weight=1)) == 0


@pytest.mark.parametrize("scores", [{"a": 1.0}, {"a": 1.0, "b": 1.0, "x": 1.0}, {}])
def test_scores_of_other_passages_are_refused(scores: dict[str, float]) -> None:
    with pytest.raises(InvariantError, match="'q1': model scores do not match"):
        rerank_by_scores(ranking("a", "b"), scores)
    with pytest.raises(InvariantError, match="'q1': model scores do not match"):
        add_model_scores(ranking("a", "b"), scores, weight=1)


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvariantError, match="NaN"):
        rerank_by_scores(ranking("a"), {"a": float("nan")})


def test_sigmoid() -> None:
    assert sigmoid(0) == 1 / 2
    assert sigmoid(1) == 1 / (1 + exp(-1))
    assert sigmoid(-1) == pytest.approx(1 - sigmoid(1))
    assert (sigmoid(1e6), sigmoid(-1e6)) == (1, 0)
