"""Splitting judged queries, choosing what to learn from, and nDCG."""

import random
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import InputError
from ccrag.models.judged import JudgedQuery, ndcg, sample_group, split


def judged(query_id: str, relevant: str, others: str) -> JudgedQuery:
    texts = {doc_id: doc_id for doc_id in sorted(relevant + others)}
    return JudgedQuery(query_id, "q", texts, dict.fromkeys(relevant, 1))


def test_ndcg_is_the_papers_arithmetic() -> None:
    assert ndcg("abc", {"a": 1}) == 1
    assert ndcg("bac", {"a": 1}) == 1 / log2(3)
    assert ndcg("cab", {"a": 2, "b": 1}) == (2 / log2(3) + 1 / log2(4)) / (2 + 1 / log2(3))
    assert ndcg("ba", {"a": 1}, depth=1) == 0
    assert ndcg("ab", {"a": 1, "x": 1}) == 1 / (1 + 1 / log2(3))  # x was not found at all


def test_ndcg_of_nothing() -> None:
    assert ndcg("", {"a": 1}) == ndcg("ab", {}) == ndcg("ab", {"a": 0, "b": -1}) == 0


def test_relevant_and_others_keep_bm25s_order() -> None:
    query = JudgedQuery("q", "q", {"c": "", "a": "", "b": "", "d": ""}, {"a": 0, "b": 2, "c": 1})
    assert query.relevant == ["c", "b"]
    assert query.others == ["a", "d"]


@given(st.permutations([judged(str(n), "a", "bc") for n in range(10)]), st.integers(0, 3))
def test_the_split_does_not_depend_on_the_order(queries: list[JudgedQuery], seed: int) -> None:
    train, held_out = split(queries, share=0.2, seed=seed)
    assert (len(train), len(held_out)) == (8, 2)
    assert {q.query_id for q in train + held_out} == set("0123456789")
    again = split(sorted(queries, key=lambda q: q.query_id), share=0.2, seed=seed)
    assert (train, held_out) == again


def test_another_seed_is_another_split() -> None:
    queries = [judged(str(n), "a", "b") for n in range(10)]
    assert split(queries, share=0.5, seed=0) != split(queries, share=0.5, seed=1)


def test_queries_that_tell_nothing_are_left_out() -> None:
    queries = [
        judged("1", "a", "b"),
        judged("2", "", "ab"),
        judged("3", "ab", ""),
        judged("4", "a", "b"),
    ]
    train, held_out = split(queries, share=0.5, seed=0)
    assert {q.query_id for q in train + held_out} == {"1", "4"}


@pytest.mark.parametrize(("count", "share"), [(0, 0.5), (1, 0.5), (4, 0.1), (4, 0.9)])
def test_too_few_queries_are_an_error(count: int, share: float) -> None:
    queries = [judged(str(n), "a", "b") for n in range(count)]
    with pytest.raises(InputError, match=f"{count} of {count} queries"):
        split(queries, share=share, seed=0)


@given(st.integers(0, 9), st.integers(2, 12))
def test_a_group_holds_few_relevant_and_the_hardest_others(seed: int, size: int) -> None:
    query = judged("q", "abcde", "fghijklm")
    found = sample_group(query, size=size, hard=4, rng=random.Random(seed))
    relevant = [doc_id for doc_id in found if doc_id in "abcde"]
    others = [doc_id for doc_id in found if doc_id not in "abcde"]
    assert len(set(found)) == len(found) <= size
    assert len(relevant) == max(1, size // 4)
    assert set(others) <= set("fghi")
    assert len(others) == min(4, size - len(relevant))
