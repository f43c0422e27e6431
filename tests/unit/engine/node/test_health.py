"""Questions to a node, against a small HTTP server."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from ccrag.engine.node.health import READY_PATHS, answers, get, is_ready, node_version

ROOT = json.dumps({"version": {"number": "2.19.6"}}).encode()


class Server(HTTPServer):
    """Answers what `pages` says; 404 otherwise."""

    pages: dict[str, tuple[int, bytes]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        status, body = self.server.pages.get(self.path, (404, b""))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.pages = {"/": (200, ROOT)} | dict.fromkeys(READY_PATHS, (200, b"{}"))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_node_that_answers(server: Server) -> None:
    assert is_ready(server.url)
    assert answers(server.url)
    assert node_version(server.url) == "2.19.6"


@pytest.mark.parametrize("path", READY_PATHS)
def test_ready_needs_open_indexes_and_knn(server: Server, path: str) -> None:
    server.pages[path] = (503, b"")
    assert not is_ready(server.url)


@pytest.mark.parametrize("page", [(503, ROOT), (200, b"<html>"), (200, b"[]"), (200, b"{}")])
def test_something_else_on_the_port_is_no_node(server: Server, page: tuple[int, bytes]) -> None:
    server.pages["/"] = page
    assert not answers(server.url)


def test_nothing_listens() -> None:
    with HTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    assert get(f"http://127.0.0.1:{port}", "/", timeout_s=1) is None
    assert not is_ready(f"http://127.0.0.1:{port}")


def test_proxies_are_bypassed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert answers(server.url)
