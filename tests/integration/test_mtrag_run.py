"""`ccrag run` writes MTRAGEval's three files, and they are valid."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_lines

pytestmark = pytest.mark.usefixtures("on_engine", "fake_models")
TOPICS = ("bond", "stock", "fund", "loan")


def text(n: int) -> str:
    return f"A {TOPICS[n % 4]} of kind {n} is a promise to pay interest every year, says note {n}."


@pytest.fixture
def at(tmp_path: Path, index_name: str) -> Sequence[object]:
    passages = [{"_id": f"f-{n}", "text": text(n)} for n in range(12)]
    fiqa = write_lines(tmp_path / "fiqa.jsonl", passages)
    at = ("--index", index_name, "--pipeline", "mtrag")
    ccrag("index", f"fiqa={fiqa}", *at)
    return at


def tasks(folder: Path, **more: object) -> Path:
    records: list[Mapping[str, object]] = [
        {
            "conversation_id": f"c{n}",
            "task_id": f"c{n}<::>2",
            "Collection": "fiqa",
            "input": [
                {"speaker": "user", "text": f"What is a {topic}?"},
                {"speaker": "agent", "text": "A promise."},
                {"speaker": "user", "text": "Does it pay interest?"},
            ],
            **more,
        }
        for n, topic in enumerate(TOPICS)
    ]
    return write_lines(folder / "tasks.jsonl", records)


def predictions(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (out / "predictions.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("name", ["mtrag-a", "mtrag-c"])
def test_retrieval_and_rag(tmp_path: Path, at: Sequence[object], name: str) -> None:
    asked, out = tasks(tmp_path), tmp_path / "run"
    done = ccrag("run", asked, *at, "--format", name, "--out", out)
    assert "4 of 4 queries answered" in done.stdout
    assert ccrag("validate", out, "--format", name, "--queries", asked).stdout.endswith(
        f"valid {name}\n"
    )
    assert sorted(path.name for path in out.iterdir()) == [
        "ir-metadata.yml",
        "predictions.jsonl",
        "provenance.json",
        "run.trec",
    ]
    for record in predictions(out):
        assert len(record["contexts"]) == (10 if name == "mtrag-a" else 5)
        for context in record["contexts"] if name == "mtrag-c" else ():
            assert context["text"] == text(int(context["document_id"].removeprefix("f-")))


def test_generation_from_given_contexts_needs_no_index(tmp_path: Path) -> None:
    contexts = [{"document_id": f"x{n}", "text": text(n), "score": 1.5} for n in (2, 1)]
    asked, out = tasks(tmp_path, contexts=contexts), tmp_path / "run"
    at = ("--pipeline", "mtrag", "--format", "mtrag-b")
    ccrag("run", asked, *at, "--out", out)
    ccrag("validate", out, "--format", "mtrag-b", "--queries", asked)
    first = predictions(out)[0]
    assert all(query["seconds"]["evidence"] > 0 for query in provenance(out)["queries"])
    assert first["contexts"] == contexts
    assert any(context["text"] in first["predictions"][0]["text"] for context in contexts)


def test_another_format_does_not_go_on_with_an_unfinished_run(
    tmp_path: Path, at: Sequence[object]
) -> None:
    asked, out = tasks(tmp_path), tmp_path / "run"
    with asked.open("ab") as file:
        file.write(
            orjson.dumps(
                {
                    "task_id": "bad",
                    "Collection": "fica",
                    "input": [{"speaker": "user", "text": "x"}],
                }
            )
        )
    failed = ccrag("run", asked, *at, "--format", "mtrag-a", "--out", out, code=1)
    assert "does not hold collection 'fica'" in failed.stderr
    other = ccrag("run", asked, *at, "--format", "mtrag-c", "--resume", "--out", out, code=1)
    assert "differs in: the format" in other.stderr


def test_what_is_asked_of_no_index_or_of_no_tasks(tmp_path: Path, at: Sequence[object]) -> None:
    asked = tasks(tmp_path)
    nowhere = ccrag("run", asked, "--pipeline", "mtrag", "--out", tmp_path / "r", code=1)
    assert "say which index is asked: --index NAME" in nowhere.stderr
    given = ccrag("run", asked, "--format", "mtrag-b", "--out", tmp_path / "r", code=1)
    assert "contexts must be a list of passages to answer from, got nothing" in given.stderr
    lone = write_lines(tmp_path / "q.jsonl", [{"id": "q", "text": "bond?", "doc_ids": ["f-1"]}])
    refused = ccrag("run", lone, *at, "--format", "mtrag-a", "--out", tmp_path / "r", code=1)
    assert "query 'q' names no collection" in refused.stderr
