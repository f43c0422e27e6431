from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import InvariantError
from ccrag.retrieval.rerank import rerank_paper, rerank_published_code, with_tail
from ccrag.types import Hit, Passage, Ranking
from tests.unit.stages import by_id, ids, passage, ranking

PASSAGES = by_id(
    passage("a", "rivers run", date="1990", edges=0),
    passage("b", "ice melts", date="2000", edges=2, title="Sea ice"),
    passage("c", "the ice that melts fast", date="2020", edges=4),
)


def paper(
    fused: Ranking,
    *,
    passages: dict[str, Passage] = PASSAGES,
    query_text: str = "recent ice",
    citation_weight: float = 0.0,
    temporal_weight: float = 0.0,
) -> Ranking:
    return rerank_paper(
        fused,
        passages=passages,
        query_text=query_text,
        max_edges=4,
        citation_weight=citation_weight,
        temporal_weight=temporal_weight,
    )


def code(fused: Ranking, query_text: str = "fast ice melts", **weights: float) -> dict[str, float]:
    names = ("coverage", "title", "phrase", "temporal", "citation")
    reranked = rerank_published_code(
        fused,
        passages=PASSAGES,
        query_text=query_text,
        max_edges=4,
        **{f"{name}_weight": weights.get(name, 0.0) for name in names},
    )
    return {hit.passage_id: hit.score for hit in reranked}


def test_paper_adds_both_priors_to_the_fused_score() -> None:
    reranked = paper(ranking("a", "b", "c"), citation_weight=0.5, temporal_weight=3.0)
    assert {hit.passage_id: hit.score for hit in reranked} == {
        "c": 1 + (0.5 * 4 / 4 + 3.0 * 1.0),
        "b": 2 + (0.5 * 2 / 4 + 3.0 * 0.5),
        "a": 3 + (0.5 * 0 / 4 + 3.0 * 0.0),
    }
    assert ids(reranked) == ["c", "b", "a"]
    assert reranked.stage == "rerank"


def test_time_reorders_only_a_query_about_time() -> None:
    fused = ranking("a", "b", "c")
    assert ids(paper(fused, temporal_weight=9.0)) == ["c", "b", "a"]
    assert ids(paper(fused, query_text="ice", temporal_weight=9.0)) == ["a", "b", "c"]


def test_ids_decide_not_positions() -> None:
    shuffled = dict(reversed(PASSAGES.items()))
    fused = ranking("b", "c", "a")
    assert paper(fused, passages=shuffled, citation_weight=1.0) == paper(fused, citation_weight=1.0)


def test_empty_and_one() -> None:
    assert len(paper(ranking())) == 0
    assert ids(paper(ranking("a"))) == ["a"]
    assert code(ranking()) == {}


@pytest.mark.parametrize("rerank", [paper, code])
def test_a_passage_that_was_not_fetched_is_a_bug(rerank: Callable[[Ranking], object]) -> None:
    with pytest.raises(InvariantError, match="'x' is ranked but its text was not fetched"):
        rerank(ranking("a", "x"))


@pytest.mark.parametrize(
    ("query_text", "term", "shares"),
    [
        ("fast ice melts", "coverage", {"a": 0, "b": 2 / 3, "c": 3 / 3}),
        ("fast ice melts", "title", {"a": 0, "b": 1 / 3, "c": 0}),
        ("fast ice melts", "phrase", {"a": 0, "b": 1 / 2, "c": 1 / 2}),
        ("ice", "phrase", {"a": 0, "b": 0, "c": 0}),
        ("what is it", "coverage", {"a": 0, "b": 0, "c": 0}),
        ("ice of 2000", "temporal", {"b": 1.0}),
        ("ice", "citation", {"a": 0, "b": 2 / 4, "c": 4 / 4}),
    ],
)
def test_published_code_terms(query_text: str, term: str, shares: dict[str, float]) -> None:
    scores = code(ranking("a", "b", "c"), query_text, **{term: 0.5})
    base = {"a": 3.0, "b": 2.0, "c": 1.0}
    assert {pid: scores[pid] for pid in shares} == pytest.approx(
        {pid: base[pid] + 0.5 * share for pid, share in shares.items()}
    )


def test_the_tail_follows_in_fused_order() -> None:
    fused = ranking("a", "b", "c", "d")
    reranked = Ranking.of("q1", "rerank", [Hit("b", "b", 0.5), Hit("a", "a", 0.25)])
    whole = with_tail(reranked, fused)
    assert [(h.passage_id, h.score) for h in whole] == [
        ("b", 0.5),
        ("a", 0.25),
        ("c", 0.25 - 1),
        ("d", 0.25 - 2),
    ]
    assert whole.stage == "rerank"


def test_tail_of_nothing_and_nothing_as_tail() -> None:
    assert ids(with_tail(ranking(), ranking("b", "a"))) == ["b", "a"]
    assert with_tail(ranking("a"), ranking("a")) == ranking("a")


def test_a_tail_of_another_query_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="'q2' under the shortlist of 'q1'"):
        with_tail(ranking("a"), ranking("a", query_id="q2"))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 12))
def test_a_complete_run_loses_and_repeats_nothing(scores: list[int], depth: int) -> None:
    hits = [Hit(f"p{at:02}", "d", float(score)) for at, score in enumerate(scores)]
    fused = Ranking.of("q1", "rrf", hits)
    assert ids(with_tail(fused.top(depth), fused)) == ids(fused)
