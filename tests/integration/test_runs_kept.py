"""Finished runs are kept, hints work when typed, an index with vectors serves specs without."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ccrag.pipeline.pipeline import Pipeline
from tests.integration.commands import ccrag, provenance
from tests.integration.example import write_documents, write_queries

pytestmark = pytest.mark.usefixtures("on_engine")
FILES = ("responses.jsonl", "run.trec", "ir-metadata.yml")


def test_a_finished_run_is_neither_asked_again_nor_written_over(
    tmp_path: Path, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    command = ("run", queries, "--index", indexed, "--out", out, "-p", "rrf-no-rerank")
    ccrag(*command)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "run", lambda *_, **__: pytest.fail("a query was asked"))
        assert "finished earlier, 3 queries; nothing was asked" in ccrag(*command).stdout
        assert "finished earlier" in ccrag(*command, "--resume").stdout
        other = ccrag(*command, "--set", "select.passages=3", code=1)
        assert "differs in: select.passages 20 (here 3); use another --out" in other.stderr
        team = ccrag(*command, "--set", "output.team_id=us", code=1)
        assert "differs in: output.team_id" in team.stderr
        fewer = ccrag("run", write_queries(tmp_path, 2), *command[2:], "--resume", code=1)
        assert "differs in: the queries or their candidates" in fewer.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    write_queries(tmp_path, 3)
    ccrag(*command, "--set", "select.passages=3", "--overwrite")
    assert provenance(out)["pipeline"]["select"]["passages"] == 3


def test_resume_asks_only_the_failed_queries_even_without_a_journal(
    tmp_path: Path, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, out = write_queries(tmp_path, 3), tmp_path / "run"
    with queries.open("ab") as file:
        file.write(b'{"query_id":"bad","query":"dam?","doc_ids":["nowhere"]}\n')
    command = ("run", queries, "--index", indexed, "--out", out, "-p", "rrf-no-rerank")
    ccrag(*command, code=1)
    (out / "journal.part").unlink()
    before = {name: (out / name).read_bytes() for name in FILES}
    asked: list[str] = []
    whole = Pipeline.run

    def listening(self: Pipeline, queries: Any, **options: Any) -> Any:
        asked.extend(query.query_id for query in queries)
        return whole(self, queries, **options)

    monkeypatch.setattr(Pipeline, "run", listening)
    ccrag(*command, "--resume", code=1)
    assert asked == ["bad"]
    assert {name: (out / name).read_bytes() for name in FILES} == before


def test_an_experiment_whose_queries_all_fail_says_so_by_cause(
    tmp_path: Path, indexed: str
) -> None:
    queries = tmp_path / "queries.jsonl"
    lines = (f'{{"query_id":"q{n}","query":"dam?","doc_ids":["no{n}"]}}\n' for n in range(200))
    queries.write_text("".join(lines))
    command = ("experiment", queries, "--index", indexed, "--out", tmp_path / "out")
    failed = ccrag(*command, "--pipelines", "rrf-no-rerank", code=1)
    [line] = [line for line in failed.stderr.splitlines() if line.startswith("error:")]
    assert "every query of every run failed" in line
    assert "200 queries (q0, q1, q2, …), the first: query 'q0': index" in line
    run = ("run", queries, "--index", indexed, "-p", "rrf-no-rerank", "--out", tmp_path / "run")
    told = ccrag(*run, code=1).stderr
    assert told.count("failed: ") == 1
    every = ccrag(*run, "--resume", "--verbose", code=1).stderr
    assert every.count("failed: ") == 200


@pytest.mark.usefixtures("fake_models")
def test_an_index_with_vectors_serves_the_same_passages_without(
    tmp_path: Path, index_name: str
) -> None:
    documents, queries = write_documents(tmp_path), write_queries(tmp_path)
    ccrag("index", documents, "--index", index_name, "-p", "hybrid")
    run = ("run", queries, "--index", index_name, "-p", "rrf-no-rerank", "--out")
    ccrag(*run, tmp_path / "served")
    assert "-exact-" in provenance(tmp_path / "served")["index"]["served_by"]
    ccrag("index", documents, "--index", index_name, "-p", "rrf-no-rerank")
    ccrag(*run, tmp_path / "plain")
    assert provenance(tmp_path / "plain")["index"]["served_by"] is None
    for name in FILES:
        assert (tmp_path / "served" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    assert "finished earlier" in ccrag(*run, tmp_path / "served").stdout


@pytest.mark.usefixtures("fake_models")
@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        ("-p", "hybrid"),
        ("-p", "{folder}/my own/mine.toml", "--set", "chunking.max_words=60"),
        ("-p", "rrf-no-rerank", "--set", "bm25.k1=0.9", "--set", "chunking.max_words=50"),
    ],
)
def test_a_hint_is_a_command_that_works(
    tmp_path: Path, index_name: str, options: tuple[str, ...], built: bool
) -> None:
    documents, queries = write_documents(tmp_path), write_queries(tmp_path, 2)
    (tmp_path / "my own").mkdir()
    (tmp_path / "my own" / "mine.toml").write_text("[fusion]\nrrf_k = 10\n")
    if built:
        ccrag("index", documents, "--index", index_name, "-p", "rrf-no-rerank")
    given = [option.format(folder=tmp_path) for option in options]
    run = ("run", queries, "--index", index_name, "--out", tmp_path / "run", *given)
    refused = ccrag(*run, code=1).stderr
    assert ("built: window-140w-1o; serves: " in refused) is built
    found = re.search(r"build it: ccrag (.*)$", refused)
    assert found
    hint = shlex.split(found[1])
    at = hint.index("PATH...")
    ccrag(*hint[:at], documents, *hint[at + 1 :])
    ccrag(*run)
