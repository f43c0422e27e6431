"""Reranking by signals as a stage: each weight is heard, and what it needs is asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ModelError
from ccrag.models.base import Encoded, TokenVectors
from ccrag.pipeline.signal_reranking import SignalRerankStage
from ccrag.pipeline.state import QueryState
from ccrag.types import Ranking
from tests.support import query
from tests.unit.stages import by_id, ids, passage, ranking

QUESTION = "how high"
TEXTS = {
    "a": ("A sentence about canals. ", "Another one about canals."),
    "b": ("The whole passage is close to it. ", "But no sentence of it alone."),
    "c": ("One sentence hits it exactly. ", "Then it drifts very far away."),
}
WHOLE = {name: "".join(sentences) for name, sentences in TEXTS.items()}
QUERY_VECTOR = np.array([1.0, 0.0], dtype=np.float32)
NEAR = {WHOLE["b"]: 0.9, WHOLE["c"]: 0.5, TEXTS["b"][0].strip(): 0.2, TEXTS["c"][0].strip(): 0.99}
"""How close a text is to the question; others are not at all."""


class Nearness:
    """Encodes texts, or their one token, as near to the question as `NEAR` says."""

    def __init__(self) -> None:
        self.model_id, self.revision, self.dimension = "near", "1", 2
        self.options: dict[str, str] = {}

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        return Encoded(np.array([self._vector(text) for text in texts], dtype=np.float32))

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        return Encoded(np.array([QUERY_VECTOR for _ in texts], dtype=np.float32))

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        place = np.array([[0, 1]])
        return [
            TokenVectors(np.array([7]), np.array([self._vector(text)]), place) for text in texts
        ]

    passage_tokens = token_vectors

    def _vector(self, text: str) -> np.ndarray:
        near = 1.0 if text == QUESTION else NEAR.get(text.strip(), 0.0)
        return np.array([near, np.sqrt(1 - near**2)], dtype=np.float32)


def settings(**weights: float) -> PipelineSettings:
    names = ("bm25", "dense", "sentence", "tokens", "sentence_tokens")
    rerank: dict[str, Any] = {f"signal_{name}": weights.get(name, 0.0) for name in names}
    return PipelineSettings.model_validate(
        {"name": "mine", "rerank": {"method": "signals", **rerank}}
    )


def state() -> QueryState:
    one = QueryState(query(QUESTION, *TEXTS), question=QUESTION, vector=QUERY_VECTOR)
    one.passages = by_id(*(passage(name, sentences=said) for name, said in TEXTS.items()))
    one.ranking = ranking("a", "b", "c", stage="rrf")
    one.lists = [ranking("c", "b", stage="bm25:original")]
    return one


def order(weights: dict[str, float], *, model: bool = True) -> list[str]:
    one = state()
    near = Nearness() if model else None
    SignalRerankStage(settings(**weights), near, near).rerank([one])
    return ids(one.current())


@pytest.mark.parametrize(
    ("signal", "first"),
    [("bm25", "c"), ("dense", "b"), ("sentence", "c"), ("tokens", "b"), ("sentence_tokens", "c")],
)
def test_each_weight_is_heard(signal: str, first: str) -> None:
    assert order({signal: 1.0})[0] == first
    other = {"b": "bm25", "c": "dense"}[first]
    assert order({signal: 0.01, other: 1.0})[0] != first
    assert order({signal: 1.0, other: 0.01})[0] == first


def test_a_passage_without_a_shared_word_comes_last_by_bm25() -> None:
    assert order({"bm25": 1.0}, model=False) == ["c", "b", "a"]


def test_nothing_is_asked_of_models_that_no_weight_needs() -> None:
    assert not requirements(settings(bm25=1.0, dense=1.0, sentence=1.0)).token_vectors
    assert requirements(settings(tokens=1.0)).token_vectors
    assert requirements(settings(sentence_tokens=1.0)).token_vectors
    assert settings(dense=2.0).rerank.signal_weights == {"dense": 2.0}
    assert not requirements(PipelineSettings.model_validate({"name": "other"})).token_vectors


@pytest.mark.parametrize("signal", ["dense", "sentence", "tokens", "sentence_tokens"])
def test_a_missing_model_is_an_error(signal: str) -> None:
    with pytest.raises(ModelError, match="an encoder"):
        order({signal: 1.0}, model=False)


def test_a_query_that_found_nothing_stays_so() -> None:
    one = state()
    one.ranking = Ranking.of("q1", "rrf", ())
    SignalRerankStage(settings(tokens=1.0), None, None).rerank([one])
    assert ids(one.current()) == []
