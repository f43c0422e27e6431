"""Scores of several scales added up, and tokens matched."""

import numpy as np
import pytest

from ccrag.errors import InvariantError
from ccrag.models.base import TokenVectors
from ccrag.retrieval.signals import rerank_by_signals, standardised
from ccrag.retrieval.token_match import match_scores, token_weights
from ccrag.types import Hit, Ranking


def ranking(*ids: str) -> Ranking:
    return Ranking.of("q", "rrf", [Hit(f"d#{i}", "d", 1 / n) for n, i in enumerate(ids, start=1)])


def scores(**values: float) -> dict[str, float]:
    return {f"d#{name}": value for name, value in values.items()}


def test_standardised() -> None:
    found = standardised(ranking("a", "b", "c"), scores(a=1, b=3, c=5, other=9))
    spread = np.sqrt(8 / 3)
    assert found == pytest.approx(scores(a=-2 / spread, b=0, c=2 / spread))


@pytest.mark.parametrize("values", [{"a": 2.0}, {"a": 0.1, "b": 0.1, "c": 0.1}])
def test_equal_scores_say_nothing(values: dict[str, float]) -> None:
    assert set(standardised(ranking(*values), scores(**values)).values()) == {0.0}


def test_a_weight_of_one_means_the_same_for_every_scale() -> None:
    signals = {"bm25": scores(a=0, b=30, c=0), "cosine": scores(a=0.1, b=0.1, c=0.2)}
    found = rerank_by_signals(ranking("a", "b", "c"), signals, {"bm25": 1, "cosine": 1})
    assert found.stage == "rerank"
    assert found.hits[0].score == pytest.approx(found.hits[1].score)
    assert found.hits[2].passage_id == "d#a"


@pytest.mark.parametrize(("weight", "first"), [(0.5, "d#b"), (2.0, "d#c")])
def test_weights_decide(weight: float, first: str) -> None:
    signals = {"bm25": scores(a=0, b=1, c=0), "cosine": scores(a=0, b=0, c=1)}
    weights = {"bm25": 1, "cosine": weight}
    assert rerank_by_signals(ranking("a", "b", "c"), signals, weights).hits[0].passage_id == first


def test_nothing_to_order() -> None:
    assert rerank_by_signals(ranking(), {"bm25": {}}, {"bm25": 1}).hits == ()


def test_ties_go_by_id_whatever_the_order() -> None:
    signals = {"bm25": scores(a=1, b=1)}
    orders = [rerank_by_signals(ranking(*ids), signals, {"bm25": 1}) for ids in ("ab", "ba")]
    assert [h.passage_id for h in orders[0]] == [h.passage_id for h in orders[1]] == ["d#a", "d#b"]


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(InvariantError, match="no score for passage 'd#b'"):
        rerank_by_signals(ranking("a", "b"), {"bm25": scores(a=1)}, {"bm25": 1})
    with pytest.raises(InvariantError, match="signal 'bm25' has no weight"):
        rerank_by_signals(ranking("a"), {"bm25": scores(a=1)}, {})


X, Y = np.eye(2, dtype=np.float32)


def tokens(*items: tuple[int, np.ndarray]) -> TokenVectors:
    rows = np.array([vector for _, vector in items], dtype=np.float32).reshape(len(items), 2)
    ids = np.array([token for token, _ in items], dtype=np.int64)
    return TokenVectors(ids, rows, np.zeros((len(ids), 2), dtype=np.int64))


def test_rare_tokens_weigh_more() -> None:
    query = tokens((1, X), (2, Y))
    texts = [tokens((1, X)), tokens((1, X), (2, Y)), tokens((1, X))]
    weights = token_weights(query, texts)
    idf = [np.log(1 + 0.5 / 3.5), np.log(1 + 2.5 / 1.5)]
    assert weights == pytest.approx(np.array(idf) / sum(idf))
    assert weights.sum() == pytest.approx(1)


def test_each_query_token_meets_its_closest() -> None:
    query = tokens((1, X), (2, Y))
    texts = [tokens((7, X)), tokens((7, X), (8, Y)), tokens((9, -X))]
    found = match_scores(query, texts, np.array([0.75, 0.25]))
    assert found == pytest.approx([0.75, 1.0, -0.75])


def test_no_tokens() -> None:
    assert match_scores(tokens(), [tokens((1, X))], np.array([])).tolist() == [-1.0]
    assert match_scores(tokens((1, X)), [tokens()], np.array([1.0])).tolist() == [-1.0]
    assert match_scores(tokens((1, X)), [], np.array([1.0])).tolist() == []
    assert token_weights(tokens(), [tokens()]).tolist() == []
