"""The HTTP API on a real engine: what it answers, what it refuses, what it tells of itself."""

import json
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from opensearchpy import OpenSearch
from starlette.testclient import TestClient

from ccrag.errors import InvariantError
from ccrag.pipeline.stages import no_op
from ccrag.types import Document
from ccrag.web import schemas
from ccrag.web.service import QueryService
from ccrag.web.uploads import Uploads
from tests.integration.building import build_index
from tests.integration.commands import ccrag as command
from tests.integration.example import topic_text
from tests.serving import ask_body, assert_described, client_of, problem, server_state

pytestmark = pytest.mark.usefixtures("on_engine")

NAME = "test-web-api"
QUESTION = "When was the dam of reservoir number 2 finished?"
HOSTILE = Document(
    "<script>alert(1)</script>/../?a=b#c&d",
    "<img src=x onerror=alert(1)>",
    "</p><script>alert(2)</script> The dam of the hostile document stands, as the archive shows.",
    links=("javascript:alert(3)",),
)
DOCUMENTS = [
    Document(f"res{n}", f"Reservoir {n}", topic_text(n), f"{1990 + n}-05-01", (f"res{n + 1}",))
    for n in range(8)
]


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> Iterator[str]:
    build_index(client, NAME, [*DOCUMENTS, HOSTILE])
    yield NAME
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


@pytest.fixture
def http(index: str) -> Iterator[TestClient]:
    with client_of(server_state()) as opened:
        yield opened


def ask(http: TestClient, *doc_ids: str, **more: Any) -> httpx2.Response:
    return http.post("/api/ask", json=ask_body(NAME, QUESTION, *doc_ids, **more))


def test_ask_says_what_the_command_says(http: TestClient) -> None:
    response = ask(http, "res1", "res2", explain=True)
    assert response.status_code == 200
    ours = response.json()
    said = command("ask", QUESTION, "--index", NAME, "--docs", "res1,res2", "--json")
    theirs = orjson.loads(said.stdout)
    for name in ("answer", "references", "evidence", "read", "variants", "rankings"):
        assert ours[name] == theirs[name]
    assert_described(http, "AskResponse", ours)
    for evidence in ours["evidence"]:
        text = next(d.text for d in DOCUMENTS if d.doc_id == evidence["doc_id"])
        assert text[evidence["start"] : evidence["end"]] == evidence["text"]
    assert_described(http, "AskResponse", short := ask(http, "res1").json())
    assert "rankings" not in short


def test_search_ranks_passages_with_their_text(http: TestClient) -> None:
    body = ask_body(NAME, QUESTION, top=3, pipeline="single-query-bm25")
    told = http.post("/api/search", json=body).json()
    assert_described(http, "SearchResponse", told)
    assert [hit["rank"] for hit in told["hits"]] == [1, 2, 3]
    assert told["hits"][0]["doc_id"] == "res2"
    assert told["hits"][0]["text"] == topic_text(2)
    assert "variants" in http.post("/api/search", json={**body, "explain": True}).json()


def test_search_gives_texts_below_the_shortlist_too(index: str) -> None:
    with client_of(server_state("rerank.shortlist=2")) as http:
        told = http.post("/api/search", json=ask_body(NAME, QUESTION, top=6)).json()
    assert len(told["hits"]) == 6
    assert all(hit["text"] for hit in told["hits"])


def test_a_stream_tells_each_stage_then_the_answer(http: TestClient) -> None:
    body = ask_body(NAME, QUESTION, "res1", "res2")
    with http.stream("POST", "/api/ask/stream", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = events_of(response)
    names = [name for name, _ in events]
    assert names == ["stage"] * (len(names) - 1) + ["answer"]
    stages = [told["stage"] for name, told in events if name == "stage"]
    assert stages[:2] == ["candidates", "variants"]
    assert stages[-1] == "answer"
    whole = ask(http, "res1", "res2").json()
    assert events[-1][1] == whole


def test_a_stream_that_cannot_begin_is_a_problem(http: TestClient) -> None:
    response = http.post("/api/ask/stream", json=ask_body(NAME, QUESTION, "nowhere"))
    assert (response.status_code, problem(response)) == (404, "not_available")


def events_of(response: httpx2.Response) -> list[tuple[str, Any]]:
    blocks = "".join(response.iter_text()).strip().split("\n\n")
    lines = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
    return [(block["event"], json.loads(block["data"])) for block in lines]


def test_indexes_and_pipelines_are_listed(http: TestClient) -> None:
    listed = {c["name"]: c for c in http.get("/api/indexes").json()["indexes"]}
    assert listed[NAME]["documents"] == len(DOCUMENTS) + 1
    assert "rrf-no-rerank" in listed[NAME]["pipelines"]
    assert "hybrid" not in listed[NAME]["pipelines"]
    pipelines = http.get("/api/pipelines").json()["pipelines"]
    assert [p["name"] for p in pipelines if p["default"]] == ["default"]


def test_documents_are_found_by_title_and_by_the_beginning_of_their_id(http: TestClient) -> None:
    def found(title: str) -> list[str]:
        told = http.get("/api/documents", params={"index": NAME, "title": title}).json()
        schemas.DocumentList.model_validate(told)
        return [document["doc_id"] for document in told["documents"]]

    assert len(found("")) == len(DOCUMENTS) + 1
    assert set(found("reserv")) == {document.doc_id for document in DOCUMENTS}
    assert found("reservoir 3") == ["res3"]
    assert found("res5") == ["res5"]
    assert found("nothing like it") == []


def test_a_list_of_documents_goes_on_where_it_ended(http: TestClient) -> None:
    for title in ("", "reservoir"):
        seen: list[str] = []
        after = None
        for _ in range(10):
            params = {"index": NAME, "title": title, "limit": 3, "after": after}
            page = http.get("/api/documents", params={k: v for k, v in params.items() if v}).json()
            seen += [document["doc_id"] for document in page["documents"]]
            after = page["next"]
            if after is None:
                break
        assert len(seen) == len(set(seen)) == len(DOCUMENTS) + (title == "")


def test_a_document_comes_with_its_spans_highlighted(http: TestClient) -> None:
    params: dict[str, Any] = {"index": NAME, "doc_id": "res2", "span": ["4-13", "10-20"]}
    told = http.get("/api/document", params=params).json()
    schemas.DocumentView.model_validate(told)
    assert "".join(part["text"] for part in told["parts"]) == topic_text(2)
    assert [p["text"] for p in told["parts"] if p["highlighted"]] == [topic_text(2)[4:20]]
    assert (told["title"], told["date"], told["links"]) == ("Reservoir 2", "1992-05-01", ["res3"])
    window = http.get("/api/document", params={**params, "start": 10, "chars": 5}).json()
    assert (window["start"], window["end"], window["length"]) == (10, 15, len(topic_text(2)))
    beyond = http.get("/api/document", params={**params, "start": 10_000}).json()
    assert beyond["parts"] == []


def test_ids_of_any_kind_lead_to_their_document(http: TestClient) -> None:
    told = http.get("/api/document", params={"index": NAME, "doc_id": HOSTILE.doc_id}).json()
    assert "".join(part["text"] for part in told["parts"]) == HOSTILE.text
    answered = http.post("/api/ask", json=ask_body(NAME, "hostile archive", HOSTILE.doc_id)).json()
    assert answered["references"] == [HOSTILE.doc_id]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (ask_body(NAME, QUESTION, "res1", "nowhere"), 404, "not_available"),
        (ask_body("no-such", QUESTION), 404, "unknown_index"),
        (ask_body("No Name!", QUESTION), 404, "unknown_index"),
        (ask_body("upload-1-2", QUESTION), 404, "unknown_index"),
        (ask_body(NAME, QUESTION, pipeline="no-such"), 422, "invalid_request"),
        (ask_body(NAME, QUESTION, pipeline="../x.toml"), 422, "invalid_request"),
        (ask_body(NAME, QUESTION, pipeline="hybrid"), 409, "not_built"),
        (ask_body(NAME, "   "), 422, "invalid_request"),
        (ask_body(NAME, ""), 422, "invalid_request"),
        ({**ask_body(NAME, QUESTION), "candidates": []}, 422, "invalid_request"),
        ({**ask_body(NAME, QUESTION), "candidates": "some"}, 422, "invalid_request"),
        ({**ask_body(NAME, QUESTION), "candidates": [1]}, 422, "invalid_request"),
        ({**ask_body(NAME, QUESTION), "candidates": ["\ud800"]}, 422, "invalid_request"),
        ({"index": NAME, "text": QUESTION}, 422, "invalid_request"),
        ({**ask_body(NAME, QUESTION), "topp": 3}, 422, "invalid_request"),
    ],
)
def test_what_is_refused(http: TestClient, body: dict[str, Any], status: int, code: str) -> None:
    for address in ("/api/ask", "/api/search", "/api/ask/stream"):
        response = http.post(
            address, content=json.dumps(body), headers={"content-type": "application/json"}
        )
        assert (response.status_code, problem(response)) == (status, code), address


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("GET", "/api/nowhere", 404, "not_found"),
        ("GET", "/api/ask", 405, "method_not_allowed"),
        ("GET", f"/api/document?index={NAME}&doc_id=nowhere", 404, "not_available"),
        ("GET", f"/api/document?index={NAME}&doc_id=res1&span=x", 422, "invalid_request"),
        ("GET", f"/api/documents?index={NAME}&after=x", 422, "invalid_request"),
        ("GET", f"/api/documents?index={NAME}&limit=1000", 422, "invalid_request"),
        ("GET", "/api/documents", 422, "invalid_request"),
        ("GET", "/api/documents?index=no-such", 404, "unknown_index"),
        ("DELETE", "/api/uploads?index=upload-1", 404, "unknown_index"),
    ],
)
def test_other_addresses_refuse_in_the_same_form(
    http: TestClient, method: str, address: str, status: int, code: str
) -> None:
    response = http.request(method, address)
    assert (response.status_code, problem(response)) == (status, code)


def test_a_body_that_is_no_json_is_refused(http: TestClient) -> None:
    head = {"content-type": "application/json"}
    for content in (b"{", b"\xff", b'"\\ud800"', b"[" * 50_000):
        assert problem(http.post("/api/ask", content=content, headers=head)) == "invalid_request"


@pytest.mark.parametrize(
    ("setting", "body"),
    [
        ("serve.max_query_chars=10", ask_body(NAME, QUESTION)),
        ("serve.max_candidates=1", ask_body(NAME, QUESTION, "res1", "res2")),
        ("serve.max_body_bytes=1024", ask_body(NAME, "long " * 1_000)),
    ],
)
def test_limits_on_size(index: str, setting: str, body: dict[str, Any]) -> None:
    with client_of(server_state()) as http:
        assert http.post("/api/ask", json=body).status_code == 200
    with client_of(server_state(setting)) as http:
        assert problem(http.post("/api/ask", json=body)) == "too_large"


def test_a_body_without_a_stated_length_is_limited_too(index: str) -> None:
    def chunks() -> Iterator[bytes]:
        yield from (b" " * 1024 for _ in range(4))

    with client_of(server_state("serve.max_body_bytes=2048")) as http:
        head = {"content-type": "application/json"}
        response = http.post("/api/ask", content=chunks(), headers=head)
        assert (response.status_code, problem(response)) == (413, "too_large")


@pytest.mark.parametrize("bug", [ValueError("a secret inside"), InvariantError("a secret inside")])
def test_a_bug_is_a_500_that_tells_nothing_but_its_request(
    http: TestClient, monkeypatch: pytest.MonkeyPatch, bug: Exception, caplog: Any
) -> None:
    def broken(*_: object) -> None:
        raise bug

    monkeypatch.setattr(QueryService, "answer", broken)
    for address in ("/api/ask", "/api/ask/stream"):
        response = http.post(address, json=ask_body(NAME, QUESTION))
        assert (response.status_code, problem(response)) == (500, "internal")
        assert "secret" not in response.text
        assert "default-src 'none'" in response.headers["content-security-policy"]
    page = http.post("/ask", data={"text": QUESTION, "index": NAME})
    assert page.status_code == 500
    assert page.headers["content-type"].startswith("text/html")
    assert "secret" not in page.text
    told = [record for record in caplog.records if record.getMessage() == "bug"]
    assert len(told) == 3
    assert all(record.exc_info for record in told)
    assert 'route="/api/ask",status="500"} 1.0' in http.get("/metrics").text


def test_only_the_pipelines_offered_can_be_chosen(index: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("[select]\npassages = 1\n")
    state = server_state(
        f'serve.pipelines=["{mine}","single-query-bm25"]', pipeline="rrf-no-rerank"
    )
    with client_of(state) as http:
        told = http.get("/api/pipelines").json()["pipelines"]
        assert [(p["name"], p["default"]) for p in told] == [
            ("rrf-no-rerank", True),
            ("mine", False),
            ("single-query-bm25", False),
        ]
        assert len(ask(http, pipeline="mine").json()["read"]) == 1
        assert ask(http).json()["pipeline"] == "rrf-no-rerank"
        assert problem(ask(http, pipeline="default")) == "invalid_request"


def test_a_request_has_an_id_and_safe_headers(http: TestClient) -> None:
    given = http.get("/health", headers={"x-request-id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    for bad in ("a b", "x" * 65, '"}{'):
        made = http.get("/health", headers={"x-request-id": bad}).headers["x-request-id"]
        assert len(made) == 16
    assert "default-src 'none'" in given.headers["content-security-policy"]
    assert "unsafe" not in given.headers["content-security-policy"]
    assert given.headers["x-content-type-options"] == "nosniff"
    assert given.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1"])
def test_another_name_for_this_server_is_refused(http: TestClient, host: str) -> None:
    assert problem(http.get("/api/indexes", headers={"host": host})) == "foreign_origin"
    for own in ("localhost:8765", "[::1]:8765", "127.0.0.1"):
        assert http.get("/health", headers={"host": own}).status_code == 200


def test_names_can_be_allowed(index: str) -> None:
    with client_of(server_state('serve.hosts=["ccrag.example"]')) as http:
        assert http.get("/health", headers={"host": "ccrag.example"}).status_code == 200
        assert http.get("/health", headers={"host": "other.example"}).status_code == 403


def test_a_page_of_another_site_changes_nothing(http: TestClient) -> None:
    body = ask_body(NAME, QUESTION)
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1234", "http://["):
        response = http.post("/api/ask", json=body, headers={"origin": origin})
        assert (response.status_code, problem(response)) == (403, "foreign_origin")
    own = {"origin": "http://127.0.0.1"}
    assert http.post("/api/ask", json=body, headers=own).status_code == 200


def test_metrics_count_requests_stages_answers_and_caches(http: TestClient) -> None:
    ask(http)
    ask(http)
    http.get("/api/nowhere")
    told = http.get("/metrics").text
    assert 'ccrag_requests_total{method="POST",route="/api/ask",status="200"} 2.0' in told
    assert 'ccrag_stage_seconds_count{pipeline="default",stage="lists"} 2.0' in told
    assert 'ccrag_answers_total{abstained="false",pipeline="default"} 2.0' in told
    assert 'ccrag_cache_total{cache="pipelines",found="true"} 1.0' in told
    assert 'ccrag_vectors_total{found="true"} 0.0' in told
    assert "nowhere" not in told
    assert NAME not in told


def test_health_and_readiness(http: TestClient) -> None:
    assert http.get("/health").json() == http.get("/ready").json() == {"status": "ok"}


def test_openapi_has_examples_that_work(http: TestClient) -> None:
    document = http.get("/api/openapi.json").json()
    examples = {
        name: schema["examples"][0]
        for name, schema in document["components"]["schemas"].items()
        if "examples" in schema
    }
    assert set(examples) == {"AskRequest", "SearchRequest", "SupportRequest", "ProblemDetails"}
    for name, address in (("AskRequest", "/api/ask"), ("SearchRequest", "/api/search")):
        body = {**examples[name], "index": NAME, "candidates": ["res1"]}
        assert http.post(address, json=body).status_code == 200
    judged = http.post("/api/support", json=examples["SupportRequest"]).json()
    assert_described(http, "SupportResponse", judged)
    assert judged["verdict"] == "supported"
    too_long = {"claim": "x" * 1_001, "evidence": []}
    assert http.post("/api/support", json=too_long).status_code == 422
    for path in document["paths"].values():
        for operation in path.values():
            assert operation["description"]


def test_a_collection_of_an_index_can_be_the_candidates(
    client: OpenSearch, index_name: str
) -> None:
    filed = [
        replace(d, collection="even" if at % 2 == 0 else "odd") for at, d in enumerate(DOCUMENTS)
    ]
    build_index(client, index_name, filed)
    with client_of(server_state()) as http:
        body = {**ask_body(index_name, QUESTION), "candidates": {"collection": "odd"}}
        read = http.post("/api/ask", json=body).json()["read"]
        assert {place["doc_id"] for place in read} == {"res1", "res3", "res5", "res7"}
        body["candidates"] = {"collection": "no such"}
        response = http.post("/api/ask", json=body)
        assert (response.status_code, problem(response)) == (422, "invalid_request")


def test_a_rebuilt_index_is_found_without_a_restart(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, DOCUMENTS[:2])
    with client_of(server_state()) as http:
        body = ask_body(index_name, QUESTION)
        assert http.post("/api/ask", json=body).status_code == 200
        build_index(client, index_name, DOCUMENTS, corpus="c1")
        told = http.post("/api/ask", json=body).json()
        assert "res2" in {place["doc_id"] for place in told["read"]}
        named = ask_body(index_name, QUESTION, "res5")
        assert http.post("/api/ask", json=named).status_code == 200


def test_an_uploaded_paper_can_be_asked_and_goes_away(index: str) -> None:
    paper = b"# On dams\n\nThe dam was finished in 1999, as the archive shows."
    state = server_state()
    with client_of(state) as http:
        files = {"file": ("../../etc/my paper.md", paper, "text/markdown")}
        made = http.post("/api/uploads", files=files).json()
        schemas.Uploaded.model_validate(made)
        told = http.post("/api/ask", json=ask_body(made["index"], "dam finished")).json()
        assert told["references"] == ["my paper.md"]
        listed = {c["name"] for c in http.get("/api/indexes").json()["indexes"]}
        assert made["index"] not in listed
        address = f"/api/uploads?index={made['index']}"
        assert http.delete(address).status_code == 204
        assert problem(http.delete(address)) == "unknown_index"
        gone = http.post("/api/ask", json=ask_body(made["index"], "dam finished"))
        assert problem(gone) == "unknown_index"
        assert made["index"] not in {c.name for c in state.registry.indexes()}


@pytest.mark.parametrize(
    ("setting", "code"),
    [("serve.uploads=0", "too_many_requests"), ("serve.max_upload_bytes=1024", "too_large")],
)
def test_limits_on_uploads(index: str, setting: str, code: str) -> None:
    files = {"file": ("paper.txt", b"word " * 1_000)}
    with client_of(server_state(setting)) as http:
        assert problem(http.post("/api/uploads", files=files)) == code


def test_an_upload_that_is_no_document_is_refused(http: TestClient) -> None:
    for name, content in (("paper.exe", b"MZ"), ("paper.jsonl", b"{"), ("paper.md", b"\xff\xfe")):
        response = http.post("/api/uploads", files={"file": (name, content)})
        assert (response.status_code, problem(response)) == (422, "invalid_request"), name
    assert not [c for c in http.get("/api/indexes").json()["indexes"] if "upload" in c]


def test_uploads_go_when_nobody_asks_and_when_the_server_ends(index: str) -> None:
    state, now = server_state("serve.upload_minutes=1"), 0.0
    dam = b"The dam was finished."
    uploads = Uploads(state.settings, state.registry, clock=lambda: now)

    def there() -> set[str]:
        return {info.name for info in state.registry.indexes()}

    first = uploads.add("local", "a.txt", BytesIO(dam), None, on_stage=no_op).index
    second = uploads.add("local", "b.txt", BytesIO(dam), None, on_stage=no_op).index
    now = 50.0
    assert uploads.is_owner("local", second)
    assert not uploads.is_owner("another", second)
    now = 70.0
    uploads.drop_old()
    assert first not in there()
    assert second in there()
    uploads.drop_all()
    assert second not in there()
    state.connection.close()
