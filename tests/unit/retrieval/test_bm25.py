from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.retrieval.bm25 import CandidateBm25
from ccrag.text.analysis import terms
from ccrag.types import Passage, Ranking, WeightedText
from tests.unit.stages import ids, passage


def rank(
    text: str,
    *passages: Passage,
    k1: float = 1.5,
    b: float = 0.75,
    title_weight: float = 0.0,
    depth: int = 100,
) -> Ranking:
    index = CandidateBm25(passages, k1=k1, b=b, title_weight=title_weight)
    return index.rank("q1", "bm25:original", [WeightedText(text, 1.0)], depth=depth)


def bm25(text: str, texts: list[str], *, k1: float, b: float) -> list[float]:
    """The formula of the docstring, term by term."""
    bags = [terms(other) for other in texts]
    average = sum(map(len, bags)) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for term in terms(text):
            df = sum(term in other for other in bags)
            tf = bag.count(term)
            if tf:
                idf = log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                score += idf * tf / (tf + k1 * (1 - b + b * len(bag) / average))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (1.5, 0.0)])
def test_scores_are_lucenes_arithmetic(k1: float, b: float) -> None:
    texts = ["ice melts fast", "ice ice and snow lie on the cold ground", "rivers run", ""]
    passages = [passage(name, text) for name, text in zip("abcd", texts, strict=True)]
    expected = bm25("melting ice, ice", texts, k1=k1, b=b)
    found = rank("melting ice, ice", *passages, k1=k1, b=b)
    assert {h.passage_id: h.score for h in found} == pytest.approx(
        {name: score for name, score in zip("abcd", expected, strict=True) if score}, rel=1e-12
    )
    assert found.stage == "bm25:original"


def test_a_passage_that_shares_nothing_is_no_hit() -> None:
    assert ids(rank("ice", passage("a", "snow"), passage("b", "ice"))) == ["b"]
    assert len(rank("ice", passage("a", "snow"))) == 0


def test_a_term_in_every_passage_still_scores() -> None:
    assert ids(rank("ice", passage("b", "ice"), passage("a", "ice"))) == ["a", "b"]


def test_chinese_matches_by_bigrams_only() -> None:
    found = rank("深度学习", passage("a", "机器学习的方法"), passage("b", "天气很好"))
    assert ids(found) == ["a"]


@pytest.mark.parametrize("text", ["", "what is it", "ice"])
@pytest.mark.parametrize("texts", [[], [""], ["the of and", ""]])
def test_empty_and_stop_word_only_input_ranks_nothing(text: str, texts: list[str]) -> None:
    passages = [passage(f"p{at}", other) for at, other in enumerate(texts)]
    assert len(rank(text, *passages, title_weight=1.0)) == 0


def test_a_query_of_unknown_words_ranks_nothing() -> None:
    assert len(rank("zebra", passage("a", "ice"))) == 0


def test_the_title_counts_when_it_has_weight() -> None:
    passages = [passage("a", "snow", title="Ice"), passage("b", "ice", title="Snow")]
    [title_only] = bm25("ice", ["Ice", "Snow"], k1=1.5, b=0.75)[:1]
    found = rank("ice", *passages, title_weight=2.0)
    assert ids(found) == ["a", "b"]
    assert [h.score for h in found] == pytest.approx([2 * title_only, title_only])
    assert ids(rank("ice", *passages)) == ["b"]


def test_depth_cuts() -> None:
    assert ids(rank("ice", passage("a", "ice"), passage("b", "ice"), depth=1)) == ["a"]


def test_the_library_stays_silent(caplog: pytest.LogCaptureFixture) -> None:
    rank("ice", passage("a", "ice"))
    assert caplog.records == []


@settings(max_examples=30)
@given(st.permutations([("a", "ice snow"), ("b", "snow"), ("c", "ice"), ("d", "ice")]))
def test_the_order_of_the_passages_does_not_show(given_order: list[tuple[str, str]]) -> None:
    found = rank("snow ice", *(passage(name, text) for name, text in given_order))
    assert ids(found) == ["a", "b", "c", "d"]
