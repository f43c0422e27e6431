"""Answers from a language model, by the commands, against a provider on loopback."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_lines, write_queries
from tests.provider import Provider, refused, serving
from tests.unit.injections import GOOD, HONEST, INJECTIONS, OTHER, QUESTION

pytestmark = pytest.mark.usefixtures("on_engine")
KEY = "sk-very-secret-0123456789"
ROUTE = "POST /chat/completions"
LLM = ("--set", "answer.generator=llm", "--set", "llm.model=tiny")


def shown(body: dict[str, Any]) -> list[dict[str, str]]:
    """The evidence of a request."""
    lines = body["messages"][1]["content"].split("\n")
    return [json.loads(line) for line in lines[1 : lines.index("</evidence>")]]


def first_two(body: dict[str, Any]) -> str:
    """A model that repeats the first two pieces of evidence, and makes one mistake."""
    sentences: list[dict[str, Any]] = [
        {"text": item["text"], "evidence": [item["id"]]} for item in shown(body)[:2]
    ]
    sentences[0]["evidence"].append("e77")
    return json.dumps({"answerable": True, "sentences": sentences})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serving(first_two) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        monkeypatch.setenv("CCRAG_PROVIDER__API_KEY", KEY)
        monkeypatch.setenv("CCRAG_PROVIDER__RETRIES", "0")
        yield provider


def test_a_run_is_valid_traceable_and_says_how_it_was_made(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, out = write_queries(tmp_path), tmp_path / "run"
    prices = ("--set", "provider.prompt_price=1.0", "--set", "provider.completion_price=2.0")
    done = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, *prices)
    assert "12 of 12 queries answered, 0 abstentions" in done.stdout
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    said = provenance(out)
    for query, body in zip(
        said["queries"], sorted(provider.chats, key=lambda body: number(body)), strict=True
    ):
        assert [s["evidence"] for s in query["answer"]] == [["e1"], ["e2"]]
        assert [s["supported"] for s in query["answer"]] == [True, True]
        assert [e["text"] for e in query["evidence"]] == [item["text"] for item in shown(body)]
        notes = [note["message"] for note in query["notes"] if note["stage"] == "generation"]
        assert notes == ["sentence 1: 'e77' was not shown"]
        [call] = query["calls"]
        assert (call["prompt"], call["model"], call["cached"]) == ("answer@1", "tiny", False)
        assert call["parameters"] == {"temperature": 0.0, "seed": 7, "max_tokens": 1024}
    totals = said["calls"]
    assert (totals["calls"], totals["cached"], totals["uncounted"]) == (12, 0, 0)
    assert totals["cost"] == pytest.approx(
        (totals["prompt_tokens"] + 2 * totals["completion_tokens"]) / 1e6, abs=1e-6
    )
    assert "language model: 12 calls, 0 of them known before; " in done.stdout
    assert said["prompt"]["label"] == "answer@1"
    generation = yaml.safe_load((out / "ir-metadata.yml").read_text())["method"]["generation"]
    assert generation["llm"] == "tiny (temperature 0.0, seed 7)"
    assert generation["prompt"].startswith("answer@1\n\n--- system\nYou answer one question")
    assert "Generated" in generation["description"]


def number(body: dict[str, Any]) -> int:
    """The reservoir that a question is about, which is the query's number."""
    found = re.search(r"dam of reservoir (\d+) in", body["messages"][1]["content"])
    assert found
    return int(found[1])


def test_the_key_is_in_no_file_and_no_message(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    provider.fail(ROUTE, refused(401))
    cache = ("--set", "provider.cache=true", "--set", f"provider.cache_folder={tmp_path / 'kept'}")
    done = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, *cache, code=1)
    again = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, *cache, "--resume")
    assert "status 401" in done.stderr
    assert {headers["authorization"] for headers in provider.headers} == {f"Bearer {KEY}"}
    asked = ccrag("ask", "Which dam?", "--index", indexed, "--docs", "res1", "--json", *LLM)
    printed = ccrag("pipelines", "default")
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 3
    for text in (*files, done.output, again.output, asked.output, printed.output):
        assert KEY not in text


def test_a_model_that_fails_loses_one_query_and_resuming_gives_the_same_bytes(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, out, whole = write_queries(tmp_path, 4), tmp_path / "run", tmp_path / "whole"
    ccrag("run", queries, "--index", indexed, "--out", whole, *LLM)
    provider.fail(ROUTE, refused(500))
    failed = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, code=1)
    assert "3 of 4 queries answered" in failed.stdout
    assert ": 127.0.0.1: status 500, tried 1 times: told to answer 500" in failed.stderr
    calls = len(provider.chats)
    done = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, "--resume")
    assert "4 of 4 queries answered, 3 of them earlier" in done.stdout
    assert len(provider.chats) == calls + 1
    for name in ("responses.jsonl", "run.trec", "ir-metadata.yml"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_another_prompt_is_another_run(tmp_path: Path, indexed: str, provider: Provider) -> None:
    queries, out, prompt = write_queries(tmp_path, 2), tmp_path / "run", tmp_path / "mine.md"
    text = "version: 1\n--- system\nx\n--- user\n<evidence>\n{{ evidence | join('\n') }}\n"
    prompt.write_text(text + "</evidence>\n{{ question }}\n", encoding="utf-8")
    mine = (*LLM, "--set", f"answer.prompt={prompt}")
    provider.fail(ROUTE, refused(500))
    ccrag("run", queries, "--index", indexed, "--out", out, *mine, code=1)
    prompt.write_text(text + "</evidence>\nAgain: {{ question }}\n", encoding="utf-8")
    refused_ = ccrag("run", queries, "--index", indexed, "--out", out, *mine, "--resume", code=1)
    assert "another run lies here, which differs in: the prompt" in refused_.stderr


def test_kept_replies_make_a_second_run_free_and_exact(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, outs = write_queries(tmp_path, 3), [tmp_path / "first", tmp_path / "second"]
    cache = ("--set", "provider.cache=true", "--set", f"provider.cache_folder={tmp_path / 'kept'}")
    for out in outs:
        done = ccrag("run", queries, "--index", indexed, "--out", out, *LLM, *cache)
    assert len(provider.chats) == 3
    assert "3 calls, 3 of them known before; 0 prompt and 0 completion tokens" in done.stdout
    assert len({(out / "responses.jsonl").read_bytes() for out in outs}) == 1


def test_a_listwise_rerank_is_traced_and_a_failed_one_is_flagged(
    tmp_path: Path, indexed: str, provider: Provider
) -> None:
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    provider.reply = lambda body: json.dumps({"order": [*range(passages(body), 0, -1)]})
    provider.fail(ROUTE, refused(500))
    listwise = ("--set", "rerank.method=listwise", "--set", "rerank.shortlist=5")
    done = ccrag("run", queries, "--index", indexed, "--out", out, *listwise)
    assert "3 of 3 queries answered" in done.stdout
    assert "language model: 2 calls" in done.stdout
    assert "1 queries keep the order they had" in done.stderr
    said = provenance(out)
    assert said["stage_prompts"]["rerank"]["label"] == "listwise@1"
    reversed_, kept = 0, 0
    for query in said["queries"]:
        rankings = {r["stage"]: [hit[0] for hit in r["hits"]] for r in query["rankings"]}
        told = [note["message"] for note in query["notes"] if note["stage"] == "rerank"]
        if "rerank" in rankings:
            assert rankings["rerank"][:5] == rankings["rrf"][:5][::-1]
            assert [call["prompt"] for call in query["calls"]] == ["listwise@1"]
            reversed_ += told[0].startswith("reply 1: ids written in another way than shown: 5, 4")
        else:
            assert query["calls"] == []
            [message] = told
            kept += message.endswith("tried 1 times: told to answer 500; the order stays as it was")
    assert (reversed_, kept) == (2, 1)
    retrieval = yaml.safe_load((out / "ir-metadata.yml").read_text())["method"]["retrieval"]
    assert "Listwise rerank by gpt-4.1-mini" in retrieval[0]["name"]


def passages(body: dict[str, Any]) -> int:
    """How many passages a request shows."""
    return sum(line.startswith('{"id"') for line in body["messages"][1]["content"].split("\n"))


def test_ask_shows_the_model_and_what_it_could_not_support(
    indexed: str, provider: Provider
) -> None:
    provider.reply = lambda _: json.dumps(
        {"sentences": [{"text": "Tourists adore it.", "evidence": ["e1"]}]}
    )
    question = ("ask", "When was the dam finished?", "--index", indexed, "--docs", "res1,res2")
    done = ccrag(*question, *LLM, "--explain")
    assert "Tourists adore it. (its evidence does not hold this) [1]" in done.stdout
    assert "tiny (answer@1): " in done.stdout
    as_json = orjson.loads(ccrag(*question, *LLM, "--json").stdout)
    assert as_json["answer"][0]["supported"] is False


@pytest.mark.parametrize(("probability", "supported"), [(0.2, False), (0.8, True)])
def test_an_entailment_model_may_hold_sentences_against_their_evidence(
    indexed: str,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    probability: float,
    supported: bool,
) -> None:
    loaded: list[str] = []

    def load(model: str) -> Any:
        loaded.append(model)
        return lambda premise, hypothesis: probability

    monkeypatch.setattr("ccrag.pipeline.factory.load_nli", load)
    question = ("ask", "When was the dam finished?", "--index", indexed, "--docs", "res1", "--json")
    asked = ccrag(*question, *LLM, "--set", "answer.support_model=nli")
    assert [s["supported"] for s in orjson.loads(asked.stdout)["answer"]] == [supported]
    ccrag(*question, "--set", "answer.support_model=nli")
    assert loaded == ["nli"]


def test_no_server_is_one_line(indexed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_PROVIDER__RETRIES", "0")
    monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", "http://127.0.0.1:9/v1")
    failed = ccrag("ask", "Dam?", "--index", indexed, "--docs", "res1", *LLM, code=1)
    assert failed.stderr == (
        "error: 127.0.0.1: cannot be reached, tried 1 times; is provider.base_url right?\n"
    )
    monkeypatch.delenv("CCRAG_PROVIDER__BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    failed = ccrag("ask", "Dam?", "--index", indexed, "--docs", "res1", *LLM, code=1)
    assert "needs a key: set CCRAG_PROVIDER__API_KEY" in failed.stderr


def test_hostile_documents_through_the_whole_way(
    tmp_path: Path, index_name: str, provider: Provider
) -> None:
    provider.reply = obey
    documents, queries = write_hostile(tmp_path)
    out = tmp_path / "run"
    setting = ("--set", "answer.unsupported=drop", "--pipeline", "concat-baseline")
    ccrag("index", documents, "--index", index_name, "--pipeline", "concat-baseline")
    failed = ccrag("run", queries, "--index", index_name, "--out", out, *LLM, *setting, code=1)
    unusable = [f"q{n}" for n, i in enumerate(INJECTIONS) if i.name in ("no JSON at all", "no end")]
    assert f"failed: 2 queries ({', '.join(unusable)})" in failed.stderr
    honest = {GOOD[0]["text"]: ["dam"], GOOD[1]["text"]: ["lake"]}
    records = [orjson.loads(line) for line in (out / "responses.jsonl").read_bytes().splitlines()]
    assert len(records) == len(INJECTIONS) - len(unusable)
    for record in records:
        n = int(record["metadata"]["narrative_id"].removeprefix("q"))
        injection = INJECTIONS[n]
        cited = {
            s["text"]: [record["references"][c] for c in s["citations"]] for s in record["answer"]
        }
        further = {text: ids for text, ids in cited.items() if text not in honest}
        assert {**honest, **further} == {**honest, **cited}
        assert all(ids == [f"hostile{n}"] for ids in further.values() if record["references"])
        assert injection.quotes or not further or not record["references"]
        assert set(record) == {"metadata", "references", "answer"}
        assert record["metadata"]["run_id"] == "concat-baseline"
    asked = [message["content"] for body in provider.chats for message in body["messages"][:2]]
    assert all("harbour bank" not in text for text in asked)


def obey(body: dict[str, Any]) -> str:
    """What the hostile passage wants, by the number in the question."""
    asked = re.search(r"How high is the dam\? \((\d+)\)", body["messages"][1]["content"])
    assert asked
    return INJECTIONS[int(asked[1])].reply


def write_hostile(folder: Path) -> tuple[Path, Path]:
    """Honest documents, a hostile one for each question, and one that is no candidate."""
    records: list[dict[str, object]] = [
        {"id": doc_id, "text": text} for doc_id, text in (HONEST | OTHER).items()
    ]
    questions: list[dict[str, object]] = []
    for n, injection in enumerate(INJECTIONS):
        hostile, text = f"hostile{n}", injection.passage
        records.append({"id": hostile, "text": text, "title": text[:100]})
        candidates = [*HONEST, hostile]
        asked = f"{QUESTION} ({n})"
        questions.append({"query_id": f"q{n}", "query": asked, "doc_ids": candidates})
    return (
        write_lines(folder / "hostile.jsonl", records),
        write_lines(folder / "questions.jsonl", questions),
    )
