import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ccrag.cli.validate import validate_command

RECORD = {
    "metadata": {
        "team_id": "t",
        "run_id": "r",
        "type": "automatic",
        "narrative_id": "q1",
        "narrative": "Why?",
    },
    "references": ["d1"],
    "answer": [{"text": "Because.", "citations": [0]}],
}
app = typer.Typer()
app.command()(validate_command)


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    query = {"query_id": "q1", "query": "Why?", "doc_ids": ["d1"]}
    path.write_text(json.dumps(query) + "\n", encoding="utf-8")
    return path


def run(queries: Path, text: str, format_: str = "longeval") -> tuple[Path, Result]:
    path = queries.with_name("responses.jsonl")
    path.write_text(text + "\n", encoding="utf-8")
    arguments = [str(path), "--format", format_, "--queries", str(queries)]
    return path, CliRunner().invoke(app, arguments)


def test_valid(queries: Path) -> None:
    path, result = run(queries, json.dumps(RECORD))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{path}: valid longeval\n"


def test_problems_go_to_stderr_one_a_line(queries: Path) -> None:
    path, result = run(queries, json.dumps(RECORD | {"references": ["d9"]}) + "\n{")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[0] == (
        f"{path}:1: query 'q1': references[0] 'd9' is not a candidate of the query"
    )
    assert result.stderr.splitlines()[1].startswith(f"{path}:2: is not a JSON object")
    assert result.stderr.splitlines()[2:] == ["2 problems"]


def test_a_fault_is_exit_code_1_where_the_official_checker_gives_0(queries: Path) -> None:
    task = {"task_id": "t", "Collection": "fiqa", "input": []}
    queries.write_text(json.dumps(task), encoding="utf-8")
    contexts = [{"document_id": "d", "score": 1, "text": "A."}] * 2
    path, result = run(queries, json.dumps(task | {"contexts": contexts}), "mtrag-a")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[0] == (
        f"{path}:1: query 't': contexts[1].document_id 'd' stands twice"
    )


def test_unreadable_queries_are_one_line(queries: Path) -> None:
    queries.write_text("no tab\n", encoding="utf-8")
    _, result = run(queries, json.dumps(RECORD), "mtrag-a")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {queries}:1: is not a JSON object")


def test_unknown_format_is_wrong_usage(queries: Path) -> None:
    assert run(queries, "", "trec")[1].exit_code == 2
