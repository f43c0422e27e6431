"""`longrag` and `linked` by the commands: citations inside units, exact to the character."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_documents, write_lines, write_queries
from tests.provider import Provider, serving
from tests.tiny_models import make_tiny_encoder

pytest.importorskip("sentence_transformers", reason="pip install 'ccrag[neural]'")
pytestmark = pytest.mark.usefixtures("on_engine")
LLM = ("--set", "answer.generator=llm", "--set", "llm.model=scripted")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny"), max_tokens=32)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A model that answers with one piece of each of the first two documents it is shown."""
    with serving(one_of_each) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        monkeypatch.setenv("CCRAG_PROVIDER__API_KEY", "k")
        yield provider


def shown(body: dict[str, Any]) -> list[tuple[dict[str, str], list[dict[str, str]]]]:
    """The documents of a request: header and evidence."""
    lines = body["messages"][1]["content"].split("\n")
    found: list[tuple[dict[str, str], list[dict[str, str]]]] = []
    for line in lines[1 : lines.index("</evidence>")]:
        item = json.loads(line)
        if "document" in item:
            found.append((item, []))
        else:
            found[-1][1].append(item)
    return found


def one_of_each(body: dict[str, Any]) -> str:
    picked = [pieces[-1] for _, pieces in shown(body)[:2]]
    sentences = [{"text": piece["text"], "evidence": [piece["id"]]} for piece in picked]
    return json.dumps({"answerable": True, "sentences": sentences})


def indexed(folder: Path, name: str, encoder: Path, pipeline: str) -> dict[str, str]:
    """Index the example; returns the texts."""
    documents = write_documents(folder, 12)
    records = [orjson.loads(line) for line in documents.read_bytes().splitlines()]
    for record in records:
        record |= {"version": "2"} if record["id"].startswith("res") else {}
    write_lines(documents, records)
    ccrag(
        "index", documents, "--index", name, "--pipeline", pipeline, "--set",
        f"encoder.model={encoder}",
    )  # fmt: skip
    return {record["id"]: record["text"] for record in records}


def check(query: dict[str, Any], texts: dict[str, str], allowed: set[str]) -> None:
    """Every citation is a span of a candidate that stands inside what was read."""
    assert query["answer"]
    assert not query["abstained"]
    assert {doc_id for unit in query["units"] for doc_id in unit["documents"]} <= allowed
    for evidence in query["evidence"]:
        assert evidence["doc_id"] in allowed
        assert texts[evidence["doc_id"]][evidence["start"] : evidence["end"]] == evidence["text"]
        assert any(
            place["doc_id"] == evidence["doc_id"]
            and place["start"] <= evidence["start"] <= evidence["end"] <= place["end"]
            for place in query["read"]
        )
    cited = {evidence["evidence_id"] for evidence in query["evidence"]}
    for sentence in query["answer"]:
        assert set(sentence["evidence"]) <= cited


@pytest.mark.parametrize("pipeline", ["longrag", "linked"])
def test_answers_are_extracted_across_units(
    tmp_path: Path, index_name: str, encoder: Path, pipeline: str
) -> None:
    texts = indexed(tmp_path, index_name, encoder, pipeline)
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    model = ("--set", f"encoder.model={encoder}")
    ccrag("run", queries, "--index", index_name, "--pipeline", pipeline, "--out", out, *model)
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    asked = {r["query_id"]: r for r in map(orjson.loads, queries.read_bytes().splitlines())}
    for query in provenance(out)["queries"]:
        allowed = set(asked[query["query_id"]]["doc_ids"])
        check(query, texts, allowed)
        if pipeline == "longrag":  # the unit of linked reservoirs is read whole
            assert {place["doc_id"] for place in query["read"]} == allowed


@pytest.mark.parametrize("pipeline", ["longrag", "linked"])
def test_a_model_answers_from_documents_under_headers(
    tmp_path: Path, index_name: str, encoder: Path, provider: Provider, pipeline: str
) -> None:
    texts = indexed(tmp_path, index_name, encoder, pipeline)
    queries, out = write_queries(tmp_path, 2), tmp_path / "run"
    model = ("--set", f"encoder.model={encoder}", *LLM)
    ccrag("run", queries, "--index", index_name, "--pipeline", pipeline, "--out", out, *model)
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    asked = {r["query_id"]: r for r in map(orjson.loads, queries.read_bytes().splitlines())}
    for query in provenance(out)["queries"]:
        check(query, texts, set(asked[query["query_id"]]["doc_ids"]))
        assert len(query["answer"]) == 2
        assert len(query["references"]) == 2
        assert query["calls"][0]["prompt"] == "answer-units@1"
    for body in provider.chats:
        documents = shown(body)
        assert len(documents) > 1
        for header, pieces in documents:
            number = header["document"].removeprefix("res")
            assert header["title"] == f"Reservoir {number}"
            assert header["date"] == f"{1990 + int(number)}-05-01"
            assert header["version"] == "2"
            assert pieces
        assert "decoy" not in body["messages"][1]["content"]
