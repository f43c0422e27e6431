"""What a token does not allow leaves no trace in any answer: no id, no title, no count, no text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opensearchpy import OpenSearch
from starlette.testclient import TestClient

from ccrag.types import Document
from tests.integration.building import build_index
from tests.serving import ask_body, client_of, problem, server_state

pytestmark = pytest.mark.usefixtures("on_engine")

OPEN, HIDDEN = "test-web-open", "test-web-hidden"
SOME, ALL = "token-of-a-restricted-caller", "token-of-an-unrestricted-caller"
QUESTION = "Which valve failed in the reactor?"
MAY = [
    Document(
        f"may{n}",
        f"Permitted report {n}",
        f"The valve number {n} of the reactor failed.",
        links=("veiled1", "may1"),
    )
    for n in range(3)
]
VEILED = [
    Document(
        f"veiled{n}",
        f"Zyxgoric memo {n}",
        f"The zyxgor valve {n} of the reactor failed, failed and failed.",
        links=("may1",),
    )
    for n in range(7)
]
TRACES = ("veiled", "zyxgor", "Zyxgoric", HIDDEN)
"""What no answer to the restricted caller may hold."""


@pytest.fixture(scope="module")
def indexes(client: OpenSearch) -> Iterator[None]:
    build_index(client, OPEN, [*MAY, *VEILED])
    build_index(client, HIDDEN, VEILED)
    yield
    for name in (OPEN, HIDDEN):
        for index in client.indices.get(index=f"ccrag-{name}-*"):
            client.indices.delete(index=index)


@pytest.fixture
def http(indexes: None, tmp_path: Path) -> Iterator[TestClient]:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        f'[tokens.some]\ntoken = "{SOME}"\nindexes = ["{OPEN}", "not-there"]\n'
        f'[tokens.some.documents]\n{OPEN} = ["may0", "may1", "may2", "removed"]\n'
        f'[tokens.all]\ntoken = "{ALL}"\nindexes = ["*"]\n'
    )
    with client_of(server_state(f"serve.tokens={tokens}", "candidates.unknown=warn")) as opened:
        yield opened


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def clean(response: httpx2.Response) -> httpx2.Response:
    told = response.text + str(response.headers)
    for trace in TRACES:
        assert trace not in told, trace
    return response


@pytest.mark.parametrize("head", [{}, bearer("nobody's token"), {"authorization": f"Basic {ALL}"}])
@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "/api/indexes"),
        ("GET", "/api/pipelines"),
        ("GET", f"/api/documents?index={OPEN}"),
        ("GET", f"/api/document?index={OPEN}&doc_id=may1"),
        ("POST", "/api/ask"),
        ("POST", "/api/search"),
        ("POST", "/api/ask/stream"),
        ("POST", "/api/uploads"),
        ("GET", "/api/runs"),
        ("GET", "/metrics"),
    ],
)
def test_without_a_token_nothing_is_told(
    http: TestClient, method: str, address: str, head: dict[str, str]
) -> None:
    response = clean(http.request(method, address, headers=head))
    assert (response.status_code, problem(response)) == (401, "unauthorised")
    assert response.headers["www-authenticate"].startswith("Bearer")


def test_health_needs_none_and_tells_nothing(http: TestClient) -> None:
    assert clean(http.get("/health")).status_code == 200
    assert clean(http.get("/ready")).status_code == 200


def test_everything_is_cut_to_what_may_be_read(http: TestClient) -> None:
    head = bearer(SOME)
    body = ask_body(OPEN, QUESTION, explain=True)
    answered = clean(http.post("/api/ask", json=body, headers=head)).json()
    assert set(answered["references"]) <= {"may0", "may1", "may2"}
    assert answered["references"]
    found = clean(http.post("/api/search", json={**body, "top": 50}, headers=head)).json()
    assert {hit["doc_id"] for hit in found["hits"]} == {"may0", "may1", "may2"}
    assert clean(http.post("/api/ask/stream", json=body, headers=head)).status_code == 200
    listed = clean(http.get("/api/indexes", headers=head)).json()["indexes"]
    assert [(c["name"], c["documents"]) for c in listed] == [(OPEN, 3)]
    address = f"/api/documents?index={OPEN}"
    page = clean(http.get(address + "&limit=2", headers=head)).json()
    rest = clean(http.get(f"{address}&limit=2&after={page['next']}", headers=head)).json()
    assert (len(page["documents"]), len(rest["documents"]), rest["next"]) == (2, 1, None)
    for words in ("zyx", "veiled1", "memo"):
        assert not clean(http.get(f"{address}&title={words}", headers=head)).json()["documents"]
    shown = clean(http.get(f"/api/document?index={OPEN}&doc_id=may0", headers=head)).json()
    assert shown["links"] == ["may1"]


def attempts(doc_id: str, index: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Every way to a document beyond what may be read."""
    body = ask_body(index, QUESTION, "may1", doc_id, explain=True)
    return [
        ("POST", "/api/ask", body),
        ("POST", "/api/search", body),
        ("POST", "/api/ask/stream", body),
        ("GET", f"/api/document?index={index}&doc_id={doc_id}", None),
    ]


def test_a_collection_is_no_way_around(http: TestClient) -> None:
    for name in ("veiled", "no such"):
        body = {**ask_body(OPEN, QUESTION), "candidates": {"collection": name}}
        response = clean(http.post("/api/ask", json=body, headers=bearer(SOME)))
        assert problem(response) == "not_available"


def test_an_attempt_beyond_looks_like_one_at_what_is_not_there(http: TestClient) -> None:
    def answers(doc_id: str) -> list[tuple[int, Any]]:
        told = []
        for method, address, body in attempts(doc_id, OPEN):
            response = clean(http.request(method, address, json=body, headers=bearer(SOME)))
            assert problem(response) == "not_available"
            told.append((response.status_code, {**response.json(), "request_id": ""}))
        return told

    assert answers("veiled1") == answers("nowhere") == answers("removed")


def test_a_forbidden_index_looks_like_one_that_is_not_there(http: TestClient) -> None:
    def answers(index: str) -> list[tuple[int, Any]]:
        told = []
        addresses = [
            *attempts("veiled1", index),
            ("GET", f"/api/documents?index={index}", None),
        ]
        for method, address, body in addresses:
            response = clean(http.request(method, address, json=body, headers=bearer(SOME)))
            assert problem(response) == "unknown_index"
            told.append((response.status_code, {**response.json(), "request_id": ""}))
        return told

    assert answers(HIDDEN) == answers("no-such-one") == answers("not-there")


def test_refusals_of_requests_do_not_repeat_what_was_in_them(http: TestClient) -> None:
    bad = {**ask_body(OPEN, QUESTION), "candidates": ["veiled1", 7], "zyxgor": 1}
    clean(http.post("/api/ask", json=bad, headers=bearer(SOME)))
    clean(http.get("/api/documents?index=veiled!", headers=bearer(SOME)))


def test_the_unrestricted_see_all(http: TestClient) -> None:
    head = bearer(ALL)
    listed = {c["name"]: c for c in http.get("/api/indexes", headers=head).json()["indexes"]}
    assert listed[OPEN]["documents"] == 10
    assert listed[HIDDEN]["documents"] == 7
    found = http.post("/api/search", json=ask_body(OPEN, QUESTION, top=50), headers=head).json()
    assert len({hit["doc_id"] for hit in found["hits"]}) == 10


def test_metrics_tell_the_restricted_no_more(http: TestClient) -> None:
    http.post("/api/ask", json=ask_body(HIDDEN, QUESTION), headers=bearer(ALL))
    http.get(f"/api/document?index={HIDDEN}&doc_id=veiled1", headers=bearer(ALL))
    assert problem(clean(http.get("/metrics", headers=bearer(SOME)))) == "not_found"
    assert http.get("/metrics", headers=bearer(ALL)).is_success


def test_an_upload_is_its_owners(http: TestClient) -> None:
    files = {"file": ("zyxgor.txt", b"The zyxgor valve failed.")}
    made = http.post("/api/uploads", files=files, headers=bearer(ALL)).json()
    name = made["index"]
    assert http.post("/api/ask", json=ask_body(name, QUESTION), headers=bearer(ALL)).is_success
    for method, address, body in attempts("zyxgor.txt", name):
        response = clean(http.request(method, address, json=body, headers=bearer(SOME)))
        assert problem(response) == "unknown_index"
    dropped = http.delete(f"/api/uploads?index={name}", headers=bearer(SOME))
    assert problem(dropped) == "unknown_index"
    assert http.delete(f"/api/uploads?index={name}", headers=bearer(ALL)).status_code == 204
