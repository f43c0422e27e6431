"""`ccrag indexes` and the options of `ccrag index` that change what serves."""

import json
from pathlib import Path

import pytest
from opensearchpy import OpenSearch
from typer.testing import CliRunner

from ccrag.cli import app
from tests.integration.example import write_documents

pytestmark = pytest.mark.usefixtures("on_engine")


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def test_an_index_grows_is_described_and_dropped(
    client: OpenSearch, index_name: str, tmp_path: Path
) -> None:
    run("index", write_documents(tmp_path, 3), "--index", index_name)
    refused = run("index", write_documents(tmp_path, 5), "--index", index_name, code=1)
    assert "serves other documents: 6 now, 10 in what is given; none of them would go" in refused
    assert refused.splitlines()[-1].startswith("error: ")  # one line
    grown = run("index", write_documents(tmp_path, 5), "--index", index_name, "--add")
    assert f"{index_name} ready: 10 documents, 4 added, 1 changed, 5 unchanged" in grown
    changed = tmp_path / "changed.jsonl"
    changed.write_text('{"doc_id": "new", "text": "old"}\n')
    run("index", changed, "--index", index_name, "--add")
    changed.write_text('{"doc_id": "new", "text": "other"}\n')
    told = CliRunner().invoke(app, ["index", str(changed), "--index", index_name, "--add"])
    assert "held before with another text or other fields: new\n" in told.stderr
    run("index", "--index", index_name, "--delete", "new")
    assert "unchanged" in run("index", write_documents(tmp_path, 5), "--index", index_name)
    one = json.loads(run("indexes", index_name, "--json"))
    assert (one["name"], one["documents"], one["passages"]) == (index_name, 10, 10)
    assert {"default", "caes-rag-rrf"} <= set(one["pipelines"])
    assert "hybrid" not in one["pipelines"]
    assert {part["kind"] for part in one["parts"]} == {"documents", "passages"}
    assert index_name in [each["name"] for each in json.loads(run("indexes", "--json"))]
    assert index_name[:12] in run("indexes")
    assert "pipelines: caes-rag-rrf" in run("indexes", index_name)
    left = f"ccrag-{index_name}-documents-0123456789ab"
    client.indices.create(index=left)
    assert f"unfinished: {left}" in run("indexes", index_name)
    assert f"deleted {one['parts'][0]['index']}" in run("indexes", index_name, "--drop", "--yes")
    assert not client.indices.get(index=f"ccrag-{index_name}-*")
    missing = run("indexes", index_name, code=1)
    assert f"no index {index_name!r}" in missing


def test_dropping_asks_first(client: OpenSearch, index_name: str, tmp_path: Path) -> None:
    run("index", write_documents(tmp_path, 2), "--index", index_name)
    done = CliRunner().invoke(app, ["indexes", index_name, "--drop"], input="n\n")
    assert done.exit_code == 1
    assert len(client.indices.get(index=f"ccrag-{index_name}-*")) == 2


@pytest.mark.parametrize(
    "options", [["--add", "--replace"], ["--add", "--delete", "a"], ["--replace", "--delete", "a"]]
)
def test_options_that_exclude_one_another(options: list[str], tmp_path: Path) -> None:
    paths = [] if "--delete" in options else [str(write_documents(tmp_path, 2))]
    done = CliRunner().invoke(app, ["index", *paths, "--index", "x", *options])
    assert done.exit_code == 2


def test_drop_needs_a_name() -> None:
    assert CliRunner().invoke(app, ["indexes", "--drop"]).exit_code == 2
    assert CliRunner().invoke(app, ["indexes", "x", "--yes"]).exit_code == 2
