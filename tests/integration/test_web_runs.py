"""Runs and experiments over HTTP, as `ccrag run` and `ccrag experiment` leave them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from starlette.testclient import TestClient

from ccrag.web import schemas
from tests.integration.commands import ccrag as command
from tests.integration.example import write_documents, write_queries
from tests.serving import assert_described, client_of, problem, server_state

NAME = "test-web-runs"
TOKEN = "token-of-a-restricted-caller"
ADDRESSES = (
    "/api/run?name=lab/runs/caes-rag-rrf",
    "/api/run/query?name=lab/runs/caes-rag-rrf&query_id=q1",
    "/api/compare?left=lab/runs/caes-rag-rrf&right=lab/runs/single-query-bm25",
)


@pytest.fixture(scope="module")
def folder(
    client: OpenSearch, engine_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRAG_ENGINE__URL", engine_url)
        command("index", write_documents(made, 10), "--index", NAME)
        queries = write_queries(made, 4)
        command(
            "experiment", queries, "--index", NAME, "--out", made / "lab",
            "--pipelines", "single-query-bm25,caes-rag-rrf",
        )  # fmt: skip
        yield made
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


@pytest.fixture
def http(folder: Path, on_engine: None) -> Iterator[TestClient]:
    with client_of(server_state(f"serve.runs={folder}")) as opened:
        yield opened


def test_what_has_been_run_is_listed(http: TestClient) -> None:
    told = http.get("/api/runs").json()
    schemas.RunList.model_validate(told)
    assert [run["name"] for run in told["runs"]] == [
        "lab/runs/caes-rag-rrf",
        "lab/runs/single-query-bm25",
    ]
    assert [(e["name"], e["has_report"]) for e in told["experiments"]] == [("lab", True)]


def test_a_run_and_its_queries_are_read(http: TestClient) -> None:
    run = http.get(ADDRESSES[0]).json()
    schemas.RunDetails.model_validate(run)
    assert (run["pipeline"], run["index"], len(run["queries"])) == ("caes-rag-rrf", NAME, 4)
    query = http.get(ADDRESSES[1]).json()
    assert_described(http, "QueryRecord", query)
    assert query["query_id"] == "q1"
    assert {ranking["stage"] for ranking in query["rankings"]} >= {"bm25:original", "rrf"}


def test_two_runs_are_compared(http: TestClient) -> None:
    told = http.get(ADDRESSES[2]).json()
    schemas.ComparedRuns.model_validate(told)
    assert len(told["queries"]) == 4
    assert told["measure"] == told["measures"][0]
    chosen = http.get(f"{ADDRESSES[2]}&measure=words").json()
    assert chosen["measure"] == "words"
    assert chosen["queries"][0]["left"]["figure"] is not None


def test_what_is_not_there_is_unknown(http: TestClient) -> None:
    for address in (
        "/api/run?name=nowhere",
        "/api/run?name=../runs",
        "/api/run/query?name=lab/runs/caes-rag-rrf&query_id=q99",
        "/api/compare?left=lab/runs/caes-rag-rrf&right=nowhere",
    ):
        assert problem(http.get(address)) == "unknown_run"


def test_a_report_runs_nothing(http: TestClient) -> None:
    shown = http.get("/report?name=lab")
    assert shown.status_code == 200
    assert "lab" in shown.text or "Experiment" in shown.text
    policy = shown.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script" not in policy


def test_without_a_folder_no_runs_are_shown(folder: Path, on_engine: None) -> None:
    with client_of(server_state()) as http:
        assert http.get("/api/runs").json() == {"runs": [], "experiments": []}
        assert problem(http.get(ADDRESSES[0])) == "unknown_run"


def test_runs_are_only_for_callers_who_may_read_everything(
    folder: Path, on_engine: None, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'[tokens.some]\ntoken = "{TOKEN}"\nindexes = ["{NAME}"]\n')
    head: dict[str, Any] = {"authorization": f"Bearer {TOKEN}"}
    with client_of(server_state(f"serve.runs={folder}", f"serve.tokens={tokens}")) as http:
        assert http.get("/api/runs", headers=head).json() == {"runs": [], "experiments": []}
        for address in ADDRESSES:
            assert problem(http.get(address, headers=head)) == "unknown_run"
            assert problem(http.get(address)) == "unauthorised"
        for page in (
            "/run?name=lab/runs/caes-rag-rrf",
            "/report?name=lab",
            ADDRESSES[2].removeprefix("/api"),
        ):
            assert http.get(page, headers=head).status_code == 404
        listed = http.get("/runs", headers=head)
        assert listed.status_code == 200
        assert "caes" not in listed.text
