"""The invariants over real collections, where they are at hand beside the project."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag

DATA = Path(__file__).parents[3] / "shared" / "data"
LEXICAL = ("concat-baseline", "single-query-bm25", "rrf-no-rerank", "caes-rag-rrf", "default")

pytestmark = [
    pytest.mark.usefixtures("on_engine"),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real collections at {DATA}"),
]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(orjson.loads, path.read_bytes().splitlines())


def text_of(record: dict[str, Any]) -> str:
    names = ("fullText", "text", "abstract", "title")
    return next((record[name] for name in names if record.get(name)), "")


def run(collection: str, index: str, out: Path, pipeline: str) -> dict[str, Any]:
    queries = DATA / collection / "queries.jsonl"
    ccrag("run", queries, "--index", index, "--pipeline", pipeline, "--out", out)
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    content: dict[str, Any] = orjson.loads((out / "provenance.json").read_bytes())
    return content


def check(collection: str, provenance: dict[str, Any], out: Path) -> None:
    """Nothing but candidates anywhere in the outputs; every span is the document's text."""
    texts = {r["id"]: text_of(r) for r in lines(DATA / collection / "documents.jsonl")}
    candidates = {
        r["query_id"]: set(r["doc_ids"]) for r in lines(DATA / collection / "queries.jsonl")
    }
    for query in provenance["queries"]:
        allowed = candidates[query["query_id"]]
        seen = {pid.rpartition("#")[0] for r in query["rankings"] for pid, _ in r["hits"]}
        seen |= {span["doc_id"] for span in query["evidence"] + query["read"]}
        seen |= set(query["references"])
        assert seen <= allowed
        for span in query["evidence"]:
            assert texts[span["doc_id"]][span["start"] : span["end"]] == span["text"]
    for record in lines(out / "responses.jsonl"):
        assert set(record["references"]) <= candidates[record["metadata"]["narrative_id"]]
    for line in (out / "run.trec").read_text().splitlines():
        query_id, _, doc_id, *_ = line.split()
        assert doc_id in candidates[query_id]


@pytest.mark.parametrize("collection", ["longeval-rag", "cranfield"])
def test_runs_are_closed_exact_and_repeatable(
    tmp_path: Path, index_name: str, collection: str
) -> None:
    ccrag("index", DATA / collection / "documents.jsonl", "--index", index_name)
    pipelines = LEXICAL if collection == "longeval-rag" else ("caes-rag-rrf",)
    for pipeline in pipelines:
        first, second = tmp_path / f"{pipeline}-1", tmp_path / f"{pipeline}-2"
        check(collection, run(collection, index_name, first, pipeline), first)
        run(collection, index_name, second, pipeline)
        for name in ("responses.jsonl", "run.trec"):
            assert (first / name).read_bytes() == (second / name).read_bytes()


def test_plain_bm25_puts_a_relevant_document_first(tmp_path: Path, index_name: str) -> None:
    ccrag("index", DATA / "longeval-rag" / "documents.jsonl", "--index", index_name)
    run("longeval-rag", index_name, tmp_path / "run", "single-query-bm25")
    judged = [
        line.split() for line in (DATA / "longeval-rag" / "qrels.txt").read_text().splitlines()
    ]
    relevant = {(query_id, doc_id) for query_id, _, doc_id, grade in judged if int(grade) > 0}
    ranked = [line.split() for line in (tmp_path / "run" / "run.trec").read_text().splitlines()]
    first = [(query_id, doc_id) for query_id, _, doc_id, rank, *_ in ranked if rank == "1"]
    assert len(first) == 7
    assert set(first) <= relevant
