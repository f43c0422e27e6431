"""From a query to the searches of its first round."""

from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.pipeline.expansion import first_requests
from ccrag.types import Candidates, Query, Turn
from tests.fakes import HashEncoder

ASKED = Query(
    "q",
    "And how many of them?",
    Candidates.of_collection("fiqa"),
    (Turn("user", "What is a bond?"), Turn("agent", "A loan.")),
)


def settings(**sections: Any) -> PipelineSettings:
    base = {"feedback": {"enabled": False}, "vectors": {"mode": "exact"}}
    return PipelineSettings.model_validate(base | sections)


def searched(**sections: Any) -> list[list[str]]:
    """The texts that each BM25 search matches."""
    requests = first_requests(settings(**sections), ASKED, None)
    clauses = [body["query"]["bool"]["should"] for body in requests]
    return [[clause["match"]["text"]["query"] for clause in each] for each in clauses]


def test_each_wording_is_a_search_and_each_part_a_clause() -> None:
    use = {"use": ["original", "last-two", "decayed"]}
    assert searched(variants=use) == [
        ["And how many of them?"],
        ["And how many of them?\nWhat is a bond?"],
        ["And how many of them?", "What is a bond?"],
    ]


def test_function_words_are_left_out_when_asked_for() -> None:
    use = {"use": ["original", "last-two", "decayed"]}
    assert searched(variants=use, bm25={"content_words": True}) == [
        ["And how many of them?"],
        ["bond"],
        ["bond"],
    ]


def test_a_decayed_vector_is_the_weighted_mean_of_its_turns() -> None:
    encoder = HashEncoder()
    chosen = settings(retrieval={"lists": ["dense"]}, variants={"dense": ["decayed"]})
    [body] = first_requests(chosen, ASKED, encoder)
    vector = body["query"]["script_score"]["script"]["params"]["query_value"]
    own, before = encoder.encode_queries([ASKED.text, "What is a bond?"]).vectors
    mean = own + 0.5 * before
    assert vector == pytest.approx((mean / (mean @ mean) ** 0.5).tolist(), rel=1e-5)


def test_texts_are_encoded_in_one_call_each_once() -> None:
    encoder = HashEncoder()
    variants = {"dense": ["original", "decayed", "last-two"], "question": "last-two"}
    first_requests(settings(retrieval={"lists": ["dense"]}, variants=variants), ASKED, encoder)
    assert encoder.calls == [3]


def test_a_dense_list_without_an_encoder_is_an_error() -> None:
    with pytest.raises(ModelError, match="needs an encoder"):
        first_requests(settings(retrieval={"lists": ["dense"]}), ASKED, None)
