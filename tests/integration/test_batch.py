"""Provider batches by the commands, on a real engine and a provider on loopback."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_documents, write_queries
from tests.provider import Ending, Provider, serving
from tests.unit.batches import quote

pytestmark = pytest.mark.usefixtures("on_engine")
LLM = ("--set", "answer.generator=llm", "--set", "llm.model=quoter")
PATIENCE_S = 300.0


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serving(quote) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        yield provider


@pytest.mark.usefixtures("provider")
def test_four_steps_lead_to_the_same_files_as_a_run(
    tmp_path: Path, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, work = write_queries(tmp_path), tmp_path / "work"
    at_once, batch = tmp_path / "at-once", tmp_path / "batch"
    ccrag("run", queries, "--index", indexed, "--out", at_once, *LLM)
    done = ccrag("batch", "prepare", queries, "--index", indexed, "--out", work, *LLM)
    assert done.stdout == f"{work}: 12 of 12 queries prepared, 12 requests to submit\n"
    monkeypatch.setenv("CCRAG_ENGINE__URL", "http://127.0.0.1:1")  # no engine from here on
    assert ccrag("batch", "submit", work).stdout == "batch_1 created: 12 requests\n"
    assert "batch_1 is under way: 12 requests" in ccrag("batch", "submit", work).stdout
    stands = ccrag("batch", "status", work).stdout
    assert stands == (
        "batch_1 completed: 12 of 12 done, 0 failed\n"
        "12 queries, 0 of them failed to prepare; 0 requests to submit\n"
    )
    collected = ccrag("batch", "collect", work, "--out", batch)
    assert f"{batch}: 12 of 12 queries answered, 0 abstentions" in collected.stdout
    assert "language model: 12 calls" in collected.stdout
    assert "nothing to submit" in ccrag("batch", "submit", work).stdout
    for name in ("responses.jsonl", "run.trec", "ir-metadata.yml"):
        assert (at_once / name).read_bytes() == (batch / name).read_bytes()
    one, other = provenance(at_once), provenance(batch)
    for content in (one, other):
        for query in content["queries"]:
            del query["seconds"]
    assert one == other
    ccrag("validate", batch, "--format", "longeval", "--queries", queries)


@pytest.mark.usefixtures("provider")
def test_sentences_are_held_against_their_evidence_by_the_model_that_was_settled(
    tmp_path: Path, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.pipeline.factory.load_nli", lambda _: lambda evidence, sentence: 0.0)
    queries, work = write_queries(tmp_path, 2), tmp_path / "work"
    strict = ("--set", "answer.support_model=nli", "--set", "answer.unsupported=drop")
    ccrag("batch", "prepare", queries, "--index", indexed, "--out", work, *LLM, *strict)
    ccrag("batch", "submit", work)
    collected = ccrag("batch", "collect", work, "--out", tmp_path / "run")
    assert "2 of 2 queries answered, 2 abstentions" in collected.stdout


def test_what_is_missing_is_named_with_the_next_command(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, work, out = write_queries(tmp_path), tmp_path / "work", tmp_path / "run"
    ccrag("batch", "prepare", queries, "--index", indexed, "--out", work, *LLM)
    early = ccrag("batch", "collect", work, "--out", out, code=1)
    assert "missing: 12 queries (q0, q1, q2, …), the first: not submitted yet" in early.stderr
    provider.batches.endings.append(Ending("expired", done=11))
    ccrag("batch", "submit", work)
    short = ccrag("batch", "collect", work, "--out", out, code=1)
    assert "batch_1 expired: 11 of 12 replies" in short.stderr
    assert "missing: q11: no reply from batch_1 (expired): batch_expired" in short.stderr
    assert f"ccrag batch submit {work} sends 1 requests" in short.stderr
    assert f"{out}: 11 of 12 queries answered" in short.stdout
    ccrag("batch", "submit", work)
    assert "12 of 12 queries answered" in ccrag("batch", "collect", work, "--out", out).stdout


@pytest.mark.usefixtures("provider")
def test_settled_settings_and_wrong_folders_end_in_one_line(tmp_path: Path, indexed: str) -> None:
    queries, work = write_queries(tmp_path, 1), tmp_path / "work"
    prepare = ("batch", "prepare", queries, "--index", indexed, "--out", work)
    assert "pass --set answer.generator=llm" in ccrag(*prepare, code=1).stderr
    assert "run: ccrag batch prepare" in ccrag("batch", "submit", work, code=1).stderr
    ccrag(*prepare, *LLM)
    changed = ccrag("batch", "submit", work, "--set", "answer.max_words=9", code=1)
    assert changed.stderr.startswith("error: settings of answer were settled")
    assert changed.stderr.count("\n") == 1
    other = ccrag(*prepare, *LLM, "--set", "answer.max_words=9", code=1)
    assert "--overwrite to begin anew" in other.stderr
    ccrag(*prepare, *LLM, "--set", "answer.max_words=9", "--overwrite")


@pytest.mark.usefixtures("provider")
def test_a_killed_prepare_goes_on_where_it_was(
    tmp_path: Path, index_name: str, engine_url: str
) -> None:
    ccrag("index", write_documents(tmp_path, 300), "--index", index_name)
    queries, work = write_queries(tmp_path, 290), tmp_path / "work"
    arguments = ("batch", "prepare", queries, "--index", index_name, "--out", work, *LLM)
    process = subprocess.Popen(
        [sys.executable, "-m", "ccrag", *map(str, arguments)],
        env={**os.environ, "CCRAG_ENGINE__URL": engine_url},
    )
    journal = work / "prepared.journal"
    deadline = time.monotonic() + PATIENCE_S
    while not journal.exists() or journal.stat().st_size < 100_000:
        assert process.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline, "nothing was prepared"
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = ccrag(*arguments)
    assert "290 of 290 queries prepared, " in done.stdout
    assert "of them earlier, 290 requests to submit" in done.stdout
    ccrag("batch", "submit", work)
    collected = ccrag("batch", "collect", work, "--out", tmp_path / "run")
    assert "290 of 290 queries answered" in collected.stdout
