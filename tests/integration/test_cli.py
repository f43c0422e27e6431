"""The commands as a user runs them, on a real engine."""

from pathlib import Path

import orjson
import pytest
from opensearchpy import OpenSearch

from ccrag.config.load import pipeline_names
from tests.integration.commands import ccrag, provenance
from tests.integration.example import topic_text, write_documents, write_lines, write_queries

pytestmark = pytest.mark.usefixtures("on_engine")


def test_index_says_what_it_did_and_does_nothing_twice(tmp_path: Path, index_name: str) -> None:
    documents = write_documents(tmp_path)
    first = ccrag("index", documents, "--index", index_name)
    assert f"{index_name} ready (window-140w-1o): 80 documents, 80 passages" in first.stdout
    assert "80 documents from 1 file (text: 80 full_text)" in first.stderr
    assert "unchanged" in ccrag("index", documents, "--index", index_name).stdout


@pytest.mark.usefixtures("fake_models")
@pytest.mark.parametrize("name", pipeline_names())
def test_every_pipeline_writes_a_valid_traceable_run(
    tmp_path: Path, indexed: str, name: str
) -> None:
    queries, out = write_queries(tmp_path), tmp_path / "run"
    ccrag("index", tmp_path / "documents.jsonl", "--index", indexed, "--pipeline", name)
    done = ccrag("run", queries, "--index", indexed, "--pipeline", name, "--out", out)
    assert "12 of 12 queries answered" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "ir-metadata.yml",
        "provenance.json",
        "responses.jsonl",
        "run.trec",
    ]
    ccrag("validate", out, "--format", "longeval", "--queries", queries)
    lines = write_documents(tmp_path).read_bytes().splitlines()
    texts = {record["id"]: record["text"] for record in map(orjson.loads, lines)}
    for query in provenance(out)["queries"]:
        assert query["answer"]
        for evidence in query["evidence"]:
            span = texts[evidence["doc_id"]][evidence["start"] : evidence["end"]]
            assert span == evidence["text"]


@pytest.mark.usefixtures("fake_models")
def test_one_command_builds_what_several_pipelines_need(tmp_path: Path, index_name: str) -> None:
    documents = write_documents(tmp_path, 3)
    names = "default,rrf-no-rerank,hybrid,dense,semantic-current"
    built = ccrag("index", documents, "--index", index_name, "--pipeline", names)
    specs = [line.split("(")[1].split(")")[0] for line in built.stdout.splitlines()]
    model = "all-minilm-l6-v2"
    assert specs == [
        "window-140w-1o",
        f"window-140w-1o-exact-{model}",
        f"semantic-140w-0.72-{model}",
    ]
    assert "6 texts encoded, 0 of them known before, 0 longer than" in built.stderr


def test_the_same_run_twice_and_after_a_rebuild_gives_the_same_bytes(
    tmp_path: Path, indexed: str, client: OpenSearch
) -> None:
    queries = write_queries(tmp_path)
    outs = [tmp_path / name for name in ("first", "second", "rebuilt")]
    ccrag("run", queries, "--index", indexed, "--out", outs[0])
    ccrag("run", queries, "--index", indexed, "--out", outs[1])
    for index in client.indices.get(index=f"ccrag-{indexed}-*"):
        client.indices.delete(index=index)
    ccrag("index", tmp_path / "documents.jsonl", "--index", indexed)
    ccrag("run", queries, "--index", indexed, "--out", outs[2])
    for name in ("responses.jsonl", "run.trec", "ir-metadata.yml"):
        assert len({(out / name).read_bytes() for out in outs}) == 1


def test_an_abstention_says_that_nothing_was_found(indexed: str) -> None:
    said = ccrag("ask", "zyzzyva", "--index", indexed, "--all", "-p", "single-query-bm25").stdout
    assert said.startswith("no passage of the candidates was found for this question\n")


def test_a_failing_query_loses_no_other_and_is_tried_again(tmp_path: Path, indexed: str) -> None:
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    with queries.open("ab") as file:
        file.write(b'{"query_id":"bad","query":"dam?","doc_ids":["nowhere"]}\n')
    failed = ccrag("run", queries, "--index", indexed, "--out", out, code=1)
    assert "3 of 4 queries answered" in failed.stdout
    assert "query 'bad': index" in failed.stderr
    assert len((out / "responses.jsonl").read_bytes().splitlines()) == 3
    assert provenance(out)["failures"][0]["query_id"] == "bad"
    again = ccrag("run", queries, "--index", indexed, "--out", out, "--resume", code=1)
    assert "3 of them earlier" in again.stdout
    refused = ccrag("run", queries, "--index", indexed, "--out", out, code=1)
    assert "an unfinished run" in refused.stderr
    other = ccrag(
        *("run", queries, "--index", indexed, "--out", out, "--resume"),
        *("--set", "fusion.rrf_k=10"),
        code=1,
    )
    assert "differs in: fusion.rrf_k 60 (here 10)" in other.stderr


def test_ids_that_a_trec_run_cannot_hold_are_refused_before_any_work(
    tmp_path: Path, indexed: str
) -> None:
    queries = write_lines(
        tmp_path / "q.jsonl", [{"query_id": "q", "query": "dam?", "doc_ids": ["a b"]}]
    )
    refused = ccrag("run", queries, "--index", indexed, "--out", tmp_path / "run", code=1)
    assert "'a b' holds white space" in refused.stderr
    assert not (tmp_path / "run").exists()


def test_ask_shows_numbered_sentences_and_quoted_references(indexed: str) -> None:
    question = "When was the dam of reservoir 3 finished?"
    shown = ccrag("ask", question, "--index", indexed, "--docs", "res3,res4").stdout
    assert "Its dam was finished in 1903, as the archive shows. [1]" in shown
    assert "[1] Reservoir 3  1993-05-01  res3" in shown
    start = topic_text(3).index("Its dam")
    assert f"characters {start}–{topic_text(3).index(' Fig.')}" in shown
    as_json = ccrag("ask", question, "--index", indexed, "--docs", "res3,res4", "--json").stdout
    assert orjson.loads(as_json)["references"][0] == "res3"
    explained = ccrag("ask", question, "--index", indexed, "--docs", "res3", "--explain").stdout
    assert "Rank of each passage read, by stage" in explained


def test_search_lists_passages_and_can_show_its_requests(indexed: str) -> None:
    question = "dam of reservoir 3"
    found = ccrag("search", question, "--index", indexed, "--docs", "res3,res4").stdout
    assert found.lstrip().startswith("1.")
    assert "res3 Reservoir 3" in found
    as_json = ccrag("search", question, "--index", indexed, "--all", "--json", "--top", 2).stdout
    assert len(orjson.loads(as_json)["ranking"]["hits"]) == 2


def test_show_body_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_ENGINE__URL", "http://127.0.0.1:1")
    shown = ccrag("search", "dam", "--index", "nowhere", "--docs", "b,a", "--show-body").stdout
    body = orjson.loads(shown)[0]
    assert body["query"]["bool"]["filter"] == [{"terms": {"doc_id": ["a", "b"]}}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "one of --docs, --docs-file, --collection, --all"),
        (["--docs", "a", "--all"], "one of --docs, --docs-file, --collection, --all"),
        (["--docs", ","], "error: the question has no candidate documents"),
        (["--docs", "nope"], "does not hold 'nope'"),
        (["--docs", "res1", "--set", "rerank.nope=1"], "unknown setting rerank.nope"),
        (["--docs", "res1", "--pipeline", "nope"], "no pipeline 'nope'"),
        (["--all", "--pipeline", "concat-baseline"], "needs a candidate list"),
    ],
)
def test_wrong_asks_end_in_one_line(indexed: str, options: list[str], message: str) -> None:
    result = ccrag("ask", "dam?", "--index", indexed, *options, code=1)
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_an_engine_out_of_reach_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_ENGINE__URL", "http://127.0.0.1:1")
    result = ccrag("ask", "dam?", "--index", "x", "--docs", "a", code=1)
    assert "the engine is out of reach (127.0.0.1:1: Connection refused)" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_broken_line_is_named_or_skipped_and_counted(tmp_path: Path, index_name: str) -> None:
    documents = write_documents(tmp_path, 2)
    with documents.open("ab") as file:
        file.write(b'{"id": "broken", \n{"id":"res0","text":"again"}\n')
    stopped = ccrag("index", documents, "--index", index_name, code=1)
    assert "documents.jsonl:5:" in stopped.stderr
    assert "or --on-error skip" in stopped.stderr
    skipped = ccrag("index", documents, "--index", index_name, "--on-error", "skip")
    assert "4 documents" in skipped.stdout
    assert "documents.jsonl:6:" in skipped.stderr


def test_citations_from_a_table_reach_the_prior(tmp_path: Path, index_name: str) -> None:
    table = tmp_path / "citations.csv"
    table.write_text("citing_doc_id,cited_doc_id\nres0,res2\nres1,res2\nres3,res2\n")
    plain = [{"id": f"res{n}", "text": "The same dam in the same valley."} for n in range(4)]
    documents = write_lines(tmp_path / "plain.jsonl", plain)
    ccrag("index", documents, "--index", index_name, "--citations", table)
    found = ccrag(
        *("search", "dam valley", "--index", index_name, "--all", "--json"),
        *("--set", "rerank.citation_weight=0.05"),
    )
    assert orjson.loads(found.stdout)["ranking"]["hits"][0][0].startswith("res2#")


def test_hostile_text_cannot_steer_the_terminal(tmp_path: Path, index_name: str) -> None:
    hostile = [
        {"id": "h", "title": "T\x1b[2J", "text": "The dam\x1b]0;owned\x07 was finished here."}
    ]
    documents = write_lines(tmp_path / "h.jsonl", hostile)
    ccrag("index", documents, "--index", index_name)
    shown = ccrag("search", "dam finished", "--index", index_name, "--docs", "h").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
