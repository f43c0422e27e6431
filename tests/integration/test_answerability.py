"""`ccrag calibrate`, and pipelines that abstain by what it wrote, on a real engine."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_lines
from tests.provider import serving
from tests.unit.batches import quote

pytestmark = pytest.mark.usefixtures("on_engine")
BM25 = ("--pipeline", "single-query-bm25")
ANSWERED = "When was the dam of reservoir {n} in the valley finished?"
NOT_ANSWERED = "Which orchestra premiered the {n} symphonies of the composer?"
WHOLE = ("--all",)


def questions(folder: Path) -> tuple[Path, Path]:
    """Thirty the documents answer and ten they do not, with one of neither kind."""
    asked = [(f"y{n}", ANSWERED.format(n=n), True) for n in range(30)]
    asked += [(f"n{n}", NOT_ANSWERED.format(n=n), False) for n in range(10)]
    candidates = [f"res{n}" for n in range(30)]
    records = [{"query_id": i, "query": text, "doc_ids": candidates} for i, text, _ in asked]
    records.append({"query_id": "odd", "query": "And the level?", "doc_ids": candidates})
    judged = [{"query_id": i, "answerable": known} for i, _, known in asked]
    return (
        write_lines(folder / "asked.jsonl", records),
        write_lines(folder / "answerable.jsonl", judged),
    )


@pytest.fixture
def calibrated(tmp_path: Path, indexed: str) -> Path:
    queries, answerable = questions(tmp_path)
    out = tmp_path / "mine.json"
    at = ("--index", indexed, *BM25)
    ccrag("calibrate", queries, *at, "--answerable", answerable, "--out", out)
    return out


def test_it_says_what_it_is_worth_and_does_the_same_twice(tmp_path: Path, indexed: str) -> None:
    queries, answerable = questions(tmp_path)
    arguments = ("calibrate", queries, "--index", indexed, *BM25, "--answerable", answerable)
    first = ccrag(*arguments, "--out", tmp_path / "1.json")
    again = ccrag(*arguments, "--out", tmp_path / "2.json")
    assert first.stdout == again.stdout
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    lines = [" ".join(line.split()) for line in first.stdout.splitlines()]
    assert lines[0] == (
        "40 judged queries, 10 of them unanswerable; each decided by what was learnt without its "
        "dialogue"
    )
    assert lines[2].startswith("never – 0.000 (0.00–0.00) 0.000 (0.00–0.00) 0.750 (")
    assert lines[5].startswith("from 0.5 1.000 (1.00–1.00) 1.000 (1.00–1.00)")
    assert "unanswerable: 10.0 abstained from, 0.0 answered; answerable: 0.0" in first.stdout
    assert "1 queries of neither kind: abstained from" in first.stdout
    assert "not reliably better" not in again.stderr
    assert f"use it with --set answer.answerability={tmp_path / '2.json'}" in again.stderr


def test_it_says_when_that_is_worth_nothing(tmp_path: Path, indexed: str) -> None:
    queries, _ = questions(tmp_path)
    judged = [{"query_id": f"y{n}", "answerable": n % 3 != 1} for n in range(30)]
    chance = write_lines(tmp_path / "chance.jsonl", judged)
    out = ("--answerable", chance, "--out", tmp_path / "c.json")
    done = ccrag("calibrate", queries, "--index", indexed, *BM25, *out)
    assert "not reliably better than never abstaining" in done.stderr


def ask(text: str, index: str, *options: object) -> str:
    return ccrag("ask", text, "--index", index, "--docs", "res1,res2,res3", *BM25, *options).stdout


def test_a_pipeline_abstains_by_it_and_explains(calibrated: Path, indexed: str) -> None:
    decides = ("--set", f"answer.answerability={calibrated}")
    abstention = "The given documents do not answer this question."
    vague = "Which level has the symphonies of the valley?"
    assert abstention not in ask(vague, indexed)
    told = ask(vague, indexed, *decides, "--explain")
    assert abstention in told
    assert "Do the candidates answer? abstains: probability" in told
    assert "abstention from 0.5 (mine@" in " ".join(told.split())
    assert "read-covers" in told
    kept = ask(vague, indexed, *decides, "--set", "answer.abstain_from=1", "--explain")
    assert abstention not in kept
    assert "Do the candidates answer? answers: probability" in kept
    assert abstention not in ask(ANSWERED.format(n=2), indexed, *decides)


def test_a_run_records_every_decision(tmp_path: Path, calibrated: Path, indexed: str) -> None:
    out = tmp_path / "run"
    decides = ("--set", f"answer.answerability={calibrated}")
    done = ccrag("run", tmp_path / "asked.jsonl", "--index", indexed, *BM25, *decides, "--out", out)
    found: dict[str, Any] = {q["query_id"]: q for q in provenance(out)["queries"]}
    assert all(found[f"n{n}"]["answerability"]["abstains"] for n in range(10))
    assert not any(found[f"y{n}"]["answerability"]["abstains"] for n in range(30))
    abstained = sum(query["abstained"] for query in found.values())
    assert f", {abstained} abstentions, " in done.stdout
    decision = found["n1"]["answerability"]
    assert decision["calibration"].startswith("mine@")
    assert decision["features"].keys() == decision["contributions"].keys()
    assert "answerability" in found["n1"]["seconds"]


def test_without_the_setting_nobody_decides(tmp_path: Path, indexed: str) -> None:
    queries, _ = questions(tmp_path)
    out = tmp_path / "run"
    ccrag("run", queries, "--index", indexed, *BM25, "--out", out)
    assert all("answerability" not in query for query in provenance(out)["queries"])


def test_an_unfinished_run_does_not_go_on_with_another_calibration(
    tmp_path: Path, calibrated: Path, indexed: str
) -> None:
    asked = tmp_path / "some.jsonl"
    good = {"query_id": "q", "query": ANSWERED.format(n=1), "doc_ids": ["res1"]}
    write_lines(asked, [good, {"query_id": "bad", "query": "x", "doc_ids": ["nowhere"]}])
    decides = ("--set", f"answer.answerability={calibrated}")
    run = ("run", asked, "--index", indexed, *BM25, *decides, "--out", tmp_path / "run")
    ccrag(*run, code=1)
    value = orjson.loads(calibrated.read_bytes())
    calibrated.write_bytes(orjson.dumps({**value, "intercept": 0.0}))
    refused = ccrag(*run, "--resume", code=1)
    assert "another run lies here, which differs in: the calibration" in refused.stderr


def test_another_pipeline_is_refused_in_a_line(calibrated: Path, indexed: str) -> None:
    decides = ("--set", f"answer.answerability={calibrated}")
    at = ("--index", indexed, "--docs", "res1")
    refused = ccrag("ask", "Why?", *at, "--pipeline", "rrf-no-rerank", *decides, code=1)
    assert "was made with pipeline single-query-bm25, whose feedback.enabled is" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_what_cannot_be_learnt_from_is_refused(tmp_path: Path, indexed: str) -> None:
    queries, answerable = questions(tmp_path)
    judged = [{"query_id": f"y{n}", "answerable": True} for n in range(30)]
    one_kind = write_lines(tmp_path / "one.jsonl", judged)
    none = write_lines(tmp_path / "none.jsonl", [{"query_id": "other", "answerable": True}])
    at = ("calibrate", queries, "--index", indexed, *BM25)
    out = ("--out", tmp_path / "c.json")
    refused = ccrag(*at, "--answerable", one_kind, *out, code=1).stderr
    assert "0 of the judged queries are unanswerable" in refused
    refused = ccrag(*at, "--answerable", none, *out, code=1).stderr
    assert "it is known of none of the queries whether its candidates answer it" in refused
    refused = ccrag(*at, "--answerable", answerable, "--out", tmp_path / "c.toml", code=1).stderr
    assert "the name of a calibration ends in .json" in refused
    assert not (tmp_path / "c.json").exists()


def test_contexts_that_are_given_are_not_decided_on(tmp_path: Path) -> None:
    task = {
        "task_id": "c<::>1",
        "Collection": "fiqa",
        "input": [{"speaker": "user", "text": "What is a bond?"}],
        "contexts": [{"document_id": "x", "text": "A bond is a promise.", "score": 1.0}],
    }
    asked = write_lines(tmp_path / "tasks.jsonl", [task])
    at = ("--pipeline", "mtrag", "--format", "mtrag-b", "--set", "answer.answerability=mtrag")
    refused = ccrag("run", asked, *at, "--out", tmp_path / "run", code=1)
    assert "answer.answerability reads the lists of a search" in refused.stderr


def test_a_batch_asks_nothing_about_what_is_abstained_from(
    tmp_path: Path, calibrated: Path, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decides = ("--set", f"answer.answerability={calibrated}", "--set", "answer.generator=llm")
    queries = write_lines(
        tmp_path / "two.jsonl",
        [
            {"query_id": "y", "query": ANSWERED.format(n=1), "doc_ids": ["res1"]},
            {"query_id": "n", "query": "Which level has the symphonies?", "doc_ids": ["res1"]},
        ],
    )
    work, out = tmp_path / "work", tmp_path / "run"
    with serving(quote) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        done = ccrag(
            "batch", "prepare", queries, "--index", indexed, *BM25, *decides, "--out", work
        )
        assert "2 of 2 queries prepared, 1 requests to submit" in done.stdout
        ccrag("batch", "submit", work)
        collected = ccrag("batch", "collect", work, "--out", out)
    assert "2 of 2 queries answered, 1 abstentions" in collected.stdout
    assert provenance(out)["queries"][1]["answerability"]["abstains"]
