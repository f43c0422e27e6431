"""Every query-time setting reaches its stage: changing it changes what that stage does."""

from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from ccrag.config import PipelineSettings
from ccrag.types import Document, Result
from tests.integration.building import build_index, pipeline
from tests.support import query

NAME = "test-settings"
DOCUMENTS = [
    Document(
        f"d{n}",
        "Recent glacier models" if n == 3 else f"Report {n}",
        " ".join(
            f"Glacier melt model {n} gives a new estimate of loss in {1990 + n}. "
            f"Sentence {k} of the report {n} speaks of {word} and of the recent method used. "
            "A short one. "
            for k, word in enumerate(["melt", "snow", "albedo", "runoff", "moraine"] * (1 + n % 3))
        ),
        date=f"{1990 + n}-01-01",
    )
    for n in range(12)
]
TWIN = Document("twin", "Copy", DOCUMENTS[0].text, date="1990-01-01")
QUESTION = "How did the recent glacier melt models change the loss estimate and the albedo?"

View = Callable[[Result], Any]


def variants(result: Result) -> Any:
    return result.trace.variants


def rankings(result: Result) -> Any:
    return result.trace.rankings


def final(result: Result) -> Any:
    return [(hit.passage_id, hit.score) for hit in result.ranking]


def read(result: Result) -> Any:
    return result.read


def evidence(result: Result) -> Any:
    return result.answer.evidence


def answer(result: Result) -> Any:
    return result.answer.sentences


@pytest.fixture(scope="module")
def corpus(client: OpenSearch) -> str:
    small = PipelineSettings.model_validate({"chunking": {"max_words": 40}})
    build_index(client, NAME, [*DOCUMENTS, TWIN], small, corpus="settings")
    return NAME


def answered(client: OpenSearch, changes: dict[str, Any], text: str = QUESTION) -> Result:
    settings = {"chunking": {"max_words": 40}}
    for path, value in changes.items():
        section, key = path.split(".")
        settings.setdefault(section, {})[key] = value
    ids = [document.doc_id for document in [*DOCUMENTS, TWIN]]
    chosen = PipelineSettings.model_validate(settings)
    return pipeline(client, NAME, chosen).answer(query(text, *ids))


@pytest.mark.parametrize(
    ("changes", "view"),
    [
        ({"bm25.statistics": "candidates"}, rankings),
        ({"bm25.title_weight": 2.0}, rankings),
        ({"variants.use": ["original"]}, variants),
        ({"variants.max_keywords": 3}, variants),
        ({"variants.min_chars": 6}, variants),
        ({"feedback.enabled": False}, variants),
        ({"feedback.passages": 1, "feedback.max_terms": 30}, variants),
        ({"feedback.max_terms": 1}, variants),
        ({"feedback.min_chars": 9}, variants),
        ({"retrieval.depth": 3}, rankings),
        ({"fusion.rrf_k": 1}, rankings),
        ({"rerank.method": "none"}, final),
        ({"rerank.method": "published-code"}, final),
        ({"rerank.shortlist": 2}, final),
        ({"rerank.temporal_weight": 1.0}, final),
        ({"select.passages": 2}, read),
        ({"select.max_per_document": 1}, read),
        ({"select.near_duplicate": 0.2}, read),
        ({"select.temporal_coverage": False}, read),
        ({"select.neighbours": 1, "select.passages": 2}, read),
        ({"select.max_words": 60}, read),
        ({"evidence.scorer": "order"}, evidence),
        ({"evidence.sentences_per_passage": 1}, evidence),
        ({"evidence.max_sentences": 2}, evidence),
        ({"answer.max_sentences": 1}, answer),
        ({"answer.max_words": 20}, answer),
        ({"answer.min_coverage": 0.9}, answer),
        ({"answer.min_coverage": 0.9, "answer.abstention": "No idea."}, answer),
    ],
)
def test_it_is_heard(client: OpenSearch, corpus: str, changes: dict[str, Any], view: View) -> None:
    assert view(answered(client, changes)) != view(answered(client, {}))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("code_coverage", QUESTION),
        ("code_title", QUESTION),
        ("code_phrase", QUESTION),
        ("code_temporal", QUESTION),
    ],
)
def test_each_term_of_the_published_code_is_heard(
    client: OpenSearch, corpus: str, key: str, text: str
) -> None:
    base = {"rerank.method": "published-code"}
    changed = answered(client, {**base, f"rerank.{key}": 5.0}, text)
    assert final(changed) != final(answered(client, base, text))


def test_the_same_settings_give_the_same_result(client: OpenSearch, corpus: str) -> None:
    first, second = answered(client, {}), answered(client, {})
    assert [view(first) for view in (variants, rankings, final, read, evidence, answer)] == [
        view(second) for view in (variants, rankings, final, read, evidence, answer)
    ]
