"""A server for tests: in this process without sockets, or in a thread with a real port."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import uvicorn
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from ccrag.config.load import load_settings
from ccrag.web.app import create_app
from ccrag.web.serve import open_server, server_config
from ccrag.web.state import ServerState

LOOPBACK = "http://127.0.0.1"
START_S = 20.0


def server_state(*overrides: str, pipeline: str | None = None) -> ServerState:
    """What `ccrag serve --set …` would serve."""
    settings = load_settings(pipeline, overrides)
    return open_server(settings, pipeline=pipeline, overrides=overrides, notify=lambda _: None)


@contextmanager
def client_of(state: ServerState) -> Iterator[TestClient]:
    """A client of the app itself; closes the server's state at the end."""
    with TestClient(create_app(state), base_url=LOOPBACK) as client:
        yield client


@contextmanager
def running(state: ServerState) -> Iterator[str]:
    """The URL of a server with a real socket, for what only one shows: streams, lost callers."""
    config = server_config(state)
    config.port, config.timeout_graceful_shutdown = 0, 2
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + START_S
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise TimeoutError("the server did not start")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"{LOOPBACK}:{port}"
    finally:
        server.should_exit = True
        thread.join()


def ask_body(index: str, text: str, *doc_ids: str, **more: Any) -> dict[str, Any]:
    """The body of a question; with no ids, all documents are candidates."""
    candidates = list(doc_ids) or "all"
    return {"index": index, "text": text, "candidates": candidates, **more}


def problem(response: httpx2.Response) -> str:
    """The code of a problem, after a look at its form."""
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == response.status_code
    assert told["request_id"] == response.headers["x-request-id"]
    return str(told["code"])


def assert_described(http: TestClient, schema: str, value: object) -> None:
    """Hold a reply against OpenAPI's schema, where a key that it does not name is a fault."""
    document = http.get("/api/openapi.json").json()

    def close(node: Any) -> None:
        if isinstance(node, dict):
            if "properties" in node:
                node["additionalProperties"] = False
            for child in node.values():
                close(child)
        elif isinstance(node, list):
            for child in node:
                close(child)

    close(document["components"])
    reference = {"$ref": f"#/components/schemas/{schema}", "components": document["components"]}
    Draft202012Validator(reference).validate(value)
