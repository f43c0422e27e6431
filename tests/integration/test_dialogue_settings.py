"""Every setting that speaks of turns, or of merging their lists, changes what its stage does."""

from typing import Any

import pytest
from opensearchpy import OpenSearch

from ccrag.config import PipelineSettings
from ccrag.types import Candidates, Document, Query, Result, Turn
from tests.fakes import HashEncoder
from tests.integration.building import build_index, pipeline

NAME = "test-dialogue-settings"
TOPICS = ("bond", "stock", "fund", "option", "loan", "deposit")
DOCUMENTS = [
    Document(
        f"d{n}",
        "",
        f"A {TOPICS[n % 6]} is safer than a {TOPICS[(n * 5 + 1) % 6]} in year {n}. "
        f"The {TOPICS[(n + 2) % 6]} pays interest every month, as case {n} shows to all readers.",
        collection="fiqa",
    )
    for n in range(30)
]
ASKED = Query(
    "q",
    "And is it safer?",
    Candidates.of_collection("fiqa"),
    (
        Turn("user", "What does an option pay?"),
        Turn("agent", "A deposit pays interest, an option does not."),
        Turn("user", "What is a bond or a stock?"),
        Turn("agent", "A loan."),
        Turn("user", "Does a fund pay interest?"),
        Turn("agent", "Some do."),
    ),
)
BASE: dict[str, Any] = {
    "chunking.method": "none",
    "vectors.mode": "exact",
    "variants.use": ["decayed"],
    "variants.dense": ["decayed"],
    "retrieval.lists": ["bm25", "dense"],
    "feedback.enabled": False,
    "rerank.method": "none",
}


def settings(changes: dict[str, Any]) -> PipelineSettings:
    nested: dict[str, dict[str, Any]] = {}
    for path, value in (BASE | changes).items():
        section, key = path.split(".")
        nested.setdefault(section, {})[key] = value
    return PipelineSettings.model_validate(nested)


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> str:
    build_index(client, NAME, DOCUMENTS, settings({}), encoder=HashEncoder())
    return NAME


def answered(client: OpenSearch, index: str, changes: dict[str, Any]) -> Result:
    return pipeline(client, index, settings(changes), encoder=HashEncoder()).answer(ASKED)


def final(result: Result) -> Any:
    return [(hit.passage_id, hit.score) for hit in result.ranking]


@pytest.mark.parametrize(
    "changes",
    [
        {"variants.use": ["last-two"]},
        {"variants.use": ["last-three"]},
        {"variants.use": ["user-turns"]},
        {"variants.use": ["dialogue"]},
        {"variants.use": ["rewrite"]},
        {"variants.dense": ["last-two", "rewrite"]},
        {"variants.decay": [1.0, 0.1]},
        {"fusion.weights": {"dense:decayed": 3.0}},
    ],
)
def test_it_is_heard(client: OpenSearch, index: str, changes: dict[str, Any]) -> None:
    assert final(answered(client, index, changes)) != final(answered(client, index, {}))


def test_each_wording_has_its_list_and_the_trace_shows_its_text(
    client: OpenSearch, index: str
) -> None:
    use = {"variants.use": ["last-two", "decayed"], "variants.dense": ["original", "last-two"]}
    trace = answered(client, index, use).trace
    assert [ranking.stage for ranking in trace.rankings] == [
        "bm25:last-two",
        "bm25:decayed",
        "dense:original",
        "dense:last-two",
        "rrf",
    ]
    texts = {variant.name: variant.text for variant in trace.variants}
    assert list(texts) == ["last-two", "decayed", "original"]
    assert texts["last-two"] == "And is it safer?\nDoes a fund pay interest?"


def test_decayed_scores_are_the_weighted_sum_of_the_parts(client: OpenSearch, index: str) -> None:
    def scores(use: str, query: Query, **more: Any) -> dict[str, float]:
        changes = {"variants.use": [use], "retrieval.lists": ["bm25"], **more}
        found = pipeline(client, index, settings(changes)).answer(query)
        return {hit.passage_id: hit.score for hit in found.ranking}

    texts = [ASKED.text, ASKED.turns[4].text, f"{ASKED.turns[2].text}\n{ASKED.turns[0].text}"]
    alone = [scores("original", Query("q", text, ASKED.candidates)) for text in texts]
    for passage_id, score in scores("decayed", ASKED).items():
        parts = [found.get(passage_id, 0.0) for found in alone]
        assert score == pytest.approx(parts[0] + 0.5 * parts[1] + 0.25 * parts[2], rel=1e-5)


def test_highest_merges_lists_of_one_source_by_score(client: OpenSearch, index: str) -> None:
    changes = {
        "retrieval.lists": ["dense"],
        "retrieval.depth": 10,
        "variants.dense": ["original", "last-two"],
        "fusion.method": "highest",
    }
    trace = answered(client, index, changes).trace
    first, second, merged = trace.rankings
    assert (len(first), len(second), merged.stage) == (10, 10, "highest")
    best: dict[str, float] = {}
    for hit in (*first, *second):
        best[hit.passage_id] = max(hit.score, best.get(hit.passage_id, 0.0))
    assert {hit.passage_id: hit.score for hit in merged} == best


@pytest.mark.parametrize("scorer", ["lexical", "fused", "bi-encoder"])
def test_the_wording_that_stands_for_the_question_chooses_the_evidence(
    client: OpenSearch, index: str, scorer: str
) -> None:
    base = {"evidence.scorer": scorer}
    alone = answered(client, index, base).answer
    filled = answered(client, index, {**base, "variants.question": "rewrite"}).answer
    assert alone.evidence != filled.evidence
