from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.retrieval.fusion import highest, rrf
from ccrag.types import Hit, Ranking
from tests.unit.stages import ids, ranking

LISTS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=6)


def rankings(lists: Sequence[Sequence[str]]) -> list[Ranking]:
    return [ranking(*names) for names in lists]


def test_scores_are_the_papers_arithmetic() -> None:
    fused = rrf([ranking("a", "b", "c"), ranking("c", "a")])
    assert [(hit.passage_id, hit.score) for hit in fused] == [
        ("a", 1 / 61 + 1 / 62),
        ("c", 1 / 63 + 1 / 61),
        ("b", 1 / 62),
    ]
    assert fused.stage == "rrf"


def test_k_and_weights_count() -> None:
    fused = rrf([ranking("a"), ranking("b")], k=10, weights=[1.0, 2.0])
    assert [(hit.passage_id, hit.score) for hit in fused] == [("b", 2 / 11), ("a", 1 / 11)]


def test_ties_go_by_passage_id_whatever_the_order_of_lists() -> None:
    assert ids(rrf([ranking("b"), ranking("a")])) == ids(rrf([ranking("a"), ranking("b")]))
    assert ids(rrf([ranking("b"), ranking("a")])) == ["a", "b"]


def test_empty_lists_give_nothing() -> None:
    assert len(rrf([ranking(), ranking()])) == 0
    assert ids(rrf([ranking(), ranking("a")])) == ["a"]


@pytest.mark.parametrize(
    ("lists", "k", "weights", "message"),
    [
        ([], 60, None, r"rankings of one query, got those of \[\]"),
        ([ranking("a"), ranking("a", query_id="q2")], 60, None, r"\['q1', 'q2'\]"),
        ([ranking("a")], 0, None, "k > 0, got 0"),
        ([ranking("a")], 60, [1.0, 1.0], "2 weights for 1 rankings"),
        ([ranking("a")], 60, [0.0], r"weights > 0, got \[0.0\]"),
        ([ranking("a")], 60, [float("nan")], "weights > 0"),
    ],
)
def test_bad_input_is_refused(
    lists: list[Ranking], k: int, weights: list[float] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rrf(lists, k=k, weights=weights)


@given(LISTS.flatmap(lambda lists: st.tuples(st.just(lists), st.permutations(lists))))
def test_the_order_of_the_lists_does_not_show(
    both: tuple[list[list[str]], list[list[str]]],
) -> None:
    lists, shuffled = both
    assert rrf(rankings(lists)) == rrf(rankings(shuffled))


@given(LISTS)
def test_passages_of_one_list_keep_its_order(lists: list[list[str]]) -> None:
    fused = ids(rrf(rankings(lists)))
    for names in lists:
        others = {name for other in lists if other is not names for name in other}
        own = [name for name in names if name not in others]
        assert [name for name in fused if name in own] == own


@given(LISTS)
def test_the_union_comes_out_once_each(lists: list[list[str]]) -> None:
    fused = ids(rrf(rankings(lists)))
    assert sorted(fused) == sorted({name for names in lists for name in names})


def test_highest_keeps_a_passages_best_score() -> None:
    first = Ranking.of("q1", "dense:original", [Hit("a", "a", 0.9), Hit("b", "b", 0.2)])
    second = Ranking.of("q1", "dense:rewrite", [Hit("b", "b", 0.5), Hit("c", "c", 0.9)])
    for lists in ([first, second], [second, first]):
        merged = highest(lists)
        assert merged.stage == "highest"
        assert [(hit.passage_id, hit.score) for hit in merged] == [
            ("a", 0.9),
            ("c", 0.9),
            ("b", 0.5),
        ]


def test_highest_of_one_and_of_empty_lists() -> None:
    assert list(highest([ranking("a", "b")])) == list(ranking("a", "b"))
    assert list(highest([ranking(), ranking("a")])) == list(ranking("a"))
    with pytest.raises(ValueError, match="one query"):
        highest([])
    with pytest.raises(ValueError, match=r"\['q1', 'q2'\]"):
        highest([ranking("a"), ranking("a", query_id="q2")])
