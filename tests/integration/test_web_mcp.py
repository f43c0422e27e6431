"""An agent's tools, by the official SDK's client, over HTTP and on stdio, closed over a session."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from opensearchpy import OpenSearch

from ccrag.types import Document
from tests.integration.building import build_index
from tests.serving import problem, running, server_state

NAME = "test-web-mcp"
TOKEN = "token-of-a-restricted-caller"
REPORT = Document(
    "report",
    "Expedition report",
    "# The expedition\n\nThe expedition of 1911 was led by Ada Norling across the glacier.\n\n"
    "# Supplies\n\nIts sledges were built by the workshop of Harrow, as the ledger tells.\n",
)
LEDGER = Document(
    "ledger",
    "Workshop ledger",
    "# Harrow\n\nThe workshop of Harrow used ash wood from the Valley of Senn for each sledge.\n",
)
FOREST = Document(
    "forest",
    "Forest survey",
    "# Senn\n\nThe Valley of Senn lost its ash trees in the storm of 1920, the survey says.\n",
)
SECRET = Document(
    "secret",
    "Veiled memo",
    "The zyxgor sledge of the expedition, Harrow, Senn and ash wood of 1911 are told here.",
)
DOCUMENTS = [REPORT, LEDGER, FOREST, SECRET]
DOCS = "&doc=report&doc=ledger&doc=forest"
TEXTS = {document.doc_id: document.text for document in DOCUMENTS}


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> Iterator[str]:
    build_index(client, NAME, DOCUMENTS)
    yield NAME
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


@pytest.fixture
def url(index: str, on_engine: None) -> Iterator[str]:
    with running(server_state()) as base:
        yield f"{base}/mcp?index={index}"


Talk = Callable[[Client], Awaitable[None]]


def talk(server: str | StdioServerParameters, scene: Talk) -> None:
    async def whole() -> None:
        async with Client(server) as client:
            await scene(client)

    asyncio.run(whole())


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    for trace in ("zyxgor", "Veiled", "secret"):
        assert trace not in str(result)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content)


async def hunt(client: Client) -> None:
    """From the expedition to its sledges, their wood, its forest: each step names the next."""
    first = await call(client, "search_candidates", query="Who built the expedition's sledges?")
    passage = first["passages"][0]
    assert passage["doc_id"] == "report"
    read = await call(
        client, "read_span", doc_id="report", start=passage["start"], end=passage["end"]
    )
    assert "workshop of Harrow" in read["text"]
    second = await call(
        client, "get_evidence", question="What wood did the workshop of Harrow use?"
    )
    assert any("Valley of Senn" in evidence["text"] for evidence in second["evidence"])
    third = await call(
        client, "ask", question="What became of the ash trees of the Valley of Senn?"
    )
    sources = [source for sentence in third["sentences"] for source in sentence["sources"]]
    assert any("storm of 1920" in source["quote"] for source in sources)
    for span in (*second["evidence"], *({**s, "text": s["quote"]} for s in sources), read):
        assert TEXTS[span["doc_id"]][span["start"] : span["end"]] == span["text"]


def test_an_evidence_hunt_over_http(url: str) -> None:
    talk(url + DOCS, hunt)


def test_an_evidence_hunt_on_stdio(index: str, engine_url: str) -> None:
    arguments = ["mcp", "--index", index, "--docs", "report,ledger,forest"]
    environment = {**os.environ, "CCRAG_ENGINE__URL": engine_url}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ccrag", *arguments],
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    talk(server, hunt)


def test_tools_say_what_they_are_for_and_when_to_ask_again(url: str) -> None:
    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {
            "search_candidates",
            "get_evidence",
            "read_span",
            "list_documents",
            "ask",
            "check_support",
        }
        for tool in tools.values():
            assert "sk again" in (tool.description or "")
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert "context" not in tool.input_schema["properties"]
        assert "ask again" in (client.instructions or "")

    talk(url, scene)


def test_a_sentence_is_checked_against_its_evidence(url: str) -> None:
    async def scene(client: Client) -> None:
        evidence = ["The dam is 61 metres high."]
        told = await call(
            client, "check_support", claim="The dam is 85 metres high.", evidence=evidence
        )
        assert told["verdict"] == "unsupported"
        assert told["reason"] == "the number differs: '85' in the claim, '61' in the evidence"
        assert told["spans"][0] == {"text_index": 0, "start": 0, "end": 25}

    talk(url, scene)


def test_nothing_outside_the_session_exists(url: str) -> None:
    async def scene(client: Client) -> None:
        listed = await call(client, "list_documents")
        assert [d["doc_id"] for d in listed["documents"]] == ["forest", "ledger", "report"]
        assert not (await call(client, "list_documents", title="veil"))["documents"]
        found = await call(client, "search_candidates", query="zyxgor sledge", limit=20)
        assert "secret" not in {p["doc_id"] for p in found["passages"]}
        span = {"start": 0, "end": 9}
        beyond = await refused(client, "read_span", doc_id="secret", **span)
        nowhere = await refused(client, "read_span", doc_id="nowhere", **span)
        assert "not_available" in beyond
        assert beyond == nowhere

    talk(url + DOCS, scene)


def test_outputs_are_small_and_go_on_by_cursor(url: str) -> None:
    async def scene(client: Client) -> None:
        for tool, named, key in (
            ("search_candidates", {"query": "sledge ash Harrow Senn expedition"}, "passages"),
            ("get_evidence", {"question": "sledge ash Harrow Senn expedition?"}, "evidence"),
            ("list_documents", {}, "documents"),
        ):
            seen: list[str] = []
            cursor = None
            for _ in range(10):
                page = await call(client, tool, limit=1, cursor=cursor, **named)
                assert len(page[key]) <= 1
                seen += [f"{item['doc_id']}{item.get('start')}" for item in page[key]]
                cursor = page["next_cursor"]
                if cursor is None:
                    break
            whole = await call(client, tool, limit=20, **named)
            assert seen == [f"{item['doc_id']}{item.get('start')}" for item in whole[key]]
            assert len(seen) >= 3, tool
            assert "no such cursor" in await refused(client, tool, cursor="x", **named)

    talk(url + DOCS, scene)


def test_a_span_comes_with_its_neighbours(url: str) -> None:
    async def scene(client: Client) -> None:
        text = TEXTS["report"]
        start = text.index("Its sledges")
        span = {"doc_id": "report", "start": start, "end": start + 5}
        alone = await call(client, "read_span", neighbours=0, **span)
        both = await call(client, "read_span", neighbours=1, **span)
        assert "Ada Norling" not in alone["text"]
        assert "Ada Norling" in both["text"]
        assert both["document_chars"] == len(text)
        assert both["next_start"] is None
        assert "is no span of this document" in await refused(
            client, "read_span", doc_id="report", start=9_000, end=9_001
        )

    talk(url, scene)


def test_nothing_found_says_what_to_do(url: str) -> None:
    async def scene(client: Client) -> None:
        for tool, named in (
            ("search_candidates", {"query": "quasar"}),
            ("get_evidence", {"question": "quasar?"}),
            ("ask", {"question": "quasar?"}),
        ):
            told = await call(client, tool, **named)
            assert "Ask again in the words the documents use" in told["hint"]

    talk(url + DOCS, scene)


def test_bad_questions_are_refused_with_a_reason(url: str) -> None:
    async def scene(client: Client) -> None:
        assert "the question is empty" in await refused(client, "ask", question=" ")
        assert "too_large" in await refused(client, "ask", question="x" * 10_001)

    talk(url, scene)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 422, "invalid_request"),
        ("?index=Not%20A%20Name", 404, "unknown_index"),
        (f"?index={NAME}&pipeline=no-such", 422, "invalid_request"),
        (f"?index={NAME}&doc=", 404, "not_available"),
    ],
)
def test_a_connection_that_names_nothing_is_refused(
    url: str, query: str, status: int, code: str
) -> None:
    address = url.partition("?")[0] + query
    response = httpx2.post(address, json={})
    assert (response.status_code, problem(response)) == (status, code)


def test_a_token_cuts_the_session_too(index: str, on_engine: None, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        f'[tokens.some]\ntoken = "{TOKEN}"\nindexes = ["{NAME}"]\n'
        f'[tokens.some.documents]\n{NAME} = ["ledger", "forest"]\n'
    )
    head = {"authorization": f"Bearer {TOKEN}"}
    with running(server_state(f"serve.tokens={tokens}")) as base:
        address = f"{base}/mcp?index={NAME}"
        assert problem(httpx2.post(address, json={})) == "unauthorised"
        beyond = httpx2.post(f"{address}&doc=report", json={}, headers=head)
        nowhere = httpx2.post(f"{address}&doc=nowhere", json={}, headers=head)
        assert problem(beyond) == problem(nowhere) == "not_available"
        other = httpx2.post(f"{base}/mcp?index=other", json={}, headers=head)
        assert problem(other) == "unknown_index"

        async def scene() -> None:
            from mcp.client.streamable_http import streamable_http_client

            async with (
                httpx2.AsyncClient(headers=head) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                listed = await call(client, "list_documents")
                assert [d["doc_id"] for d in listed["documents"]] == ["forest", "ledger"]

        asyncio.run(scene())
