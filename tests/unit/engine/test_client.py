"""What is said of an address that is wrong, and of an engine that refuses or answers in part."""

import http.server
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ccrag.config import EngineSettings, Settings
from ccrag.engine.client import connect, engine_errors, open_client
from ccrag.errors import ConfigError, EngineDownError, EngineError, InputError

OPENSEARCH = {"version": {"number": "2.19.6", "distribution": "opensearch"}}


def settings(url: str, **more: Any) -> Settings:
    return Settings(engine=EngineSettings.model_validate({"url": url, **more}))


@contextmanager
def answering(
    body: Any, *, status: int = 200, certificate: Path | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Serve the same answer to everything; yield the address and the paths asked for."""
    asked: list[str] = []
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1 and its key, in one file."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("no openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    key, file = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *(tool, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(key), "-out", str(file), "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + file.read_bytes())
    return both


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:abc", "engine.url: Port could not be cast"),
        ("http://127.0.0.1:99999", "engine.url: Port out of range"),
        ("http://127.0.0.1:0", "no usable port"),
        ("http://[::1", "engine.url: Invalid IPv6 URL"),
        ("127.0.0.1:9200", "does not begin with http:// or https://"),
        ("localhost:9200", "does not begin with http:// or https://"),
        ("ftp://localhost", "does not begin with http:// or https://"),
        ("", "does not begin with http:// or https://"),
        ("http:localhost", "does not begin with http:// or https://"),
        ("http://", "names no host"),
        ("http:///x", "names no host"),
        ("http://local host:9200", "names no host"),
        ("http://localhost:9200?pretty", "goes on after the path"),
        ("http://localhost:9200/#x", "goes on after the path"),
    ],
)
def test_a_wrong_address_is_refused_before_it_is_asked(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        open_client(settings(url))
    assert "\n" not in str(caught.value)
    assert "expected http://HOST:PORT" in str(caught.value)


def test_a_password_in_the_address_is_not_repeated() -> None:
    with pytest.raises(ConfigError, match="set engine.user and engine.password") as caught:
        open_client(settings("http://me:hunter2@localhost:9200"))
    assert "hunter2" not in str(caught.value)


def test_nothing_there_names_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EngineDownError, match=rf"127\.0\.0\.1:{port}: Connection refused"):
        open_client(settings(f"http://127.0.0.1:{port}"))
    with pytest.raises(EngineDownError, match="the host 'nowhere.invalid' has no address"):
        open_client(settings("http://nowhere.invalid:9200"))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>hello</html>", 200),
        (b"<html>not here</html>", 404),
        ({"error": {"type": "index_not_found_exception", "reason": "no such index [foo]"}}, 404),
        ({"hello": "world"}, 200),
        ([1, 2], 200),
    ],
)
def test_a_server_that_is_no_opensearch_is_refused(body: Any, status: int) -> None:
    with (
        answering(body, status=status) as (url, _),
        pytest.raises(EngineError, match="is no OpenSearch|does not speak JSON") as caught,
    ):
        open_client(settings(f"{url}/foo"))
    assert "engine.url" in str(caught.value)


def test_an_engine_is_asked_once() -> None:
    with answering(OPENSEARCH) as (url, asked):
        open_client(settings(url)).close()
        open_client(settings(f"{url}/behind/a/proxy")).close()
    assert asked == ["/", "/behind/a/proxy/"]


@pytest.mark.parametrize(("status", "opens"), [(401, False), (403, True)])
def test_rights_decide_if_a_client_opens(status: int, opens: bool) -> None:
    reason = "no permissions for [cluster:monitor/main] and User [name=me]"
    body = {"error": {"type": "security_exception", "reason": reason}}
    with answering(body, status=status) as (url, _):
        if opens:
            client = open_client(settings(url))
            told = f"HTTP 403: {reason}; give engine.user the rights that the engine names"
            with pytest.raises(EngineError) as caught, engine_errors("look"):
                client.info()
            assert str(caught.value) == f"cannot look: {told}"
        else:
            with pytest.raises(EngineError, match=r"refused \(HTTP 401\); check engine.user and"):
                open_client(settings(url))


def test_tls_where_there_is_none_and_the_reverse(certificate: Path) -> None:
    with answering(OPENSEARCH) as (url, _):
        address = url.replace("http:", "https:")
        with pytest.raises(EngineError, match=r"no TLS at this port; engine.url has to begin with"):
            open_client(settings(address))
    with answering(OPENSEARCH, certificate=certificate) as (url, _):
        with pytest.raises(EngineError, match=r"closed without an answer: .* wants https://"):
            open_client(settings(url.replace("https:", "http:")))
        with pytest.raises(EngineError, match=r"is not trusted \(self-signed certificate\); name"):
            open_client(settings(url))
        local = url.replace("127.0.0.1", "localhost")
        with pytest.raises(EngineError, match=r"is not trusted \(Hostname mismatch.*host's name"):
            open_client(settings(local, ca_file=certificate))
        open_client(settings(url, ca_file=certificate)).close()


def test_a_file_of_authorities_is_looked_at_first(tmp_path: Path) -> None:
    absent, empty = tmp_path / "absent.pem", tmp_path / "empty.pem"
    empty.write_text("no certificate")
    with pytest.raises(ConfigError, match=r"absent\.pem: No such file"):
        connect("https://localhost", EngineSettings(ca_file=absent))
    with pytest.raises(ConfigError, match=r"empty\.pem holds no certificate in PEM form"):
        connect("https://localhost", EngineSettings(ca_file=empty))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"timed_out": True, "hits": {}}, "it timed out; its answer is incomplete"),
        (
            {"_shards": {"total": 5, "failed": 2, "failures": [{"reason": {"reason": "disk"}}]}},
            "2 of 5 shards failed: disk",
        ),
        ({"_shards": {"total": 1, "failed": 1}, "count": 3}, "1 of 1 shards failed"),
    ],
)
def test_part_of_an_answer_is_no_answer(body: Any, message: str) -> None:
    with answering(body) as (url, _):
        client = connect(url, EngineSettings())
        for ask in (client.count, client.search, client.indices.refresh):
            with pytest.raises(EngineError, match=f"cannot ask: {message}"), engine_errors("ask"):
                ask()


def test_what_is_no_text_is_the_users_mistake() -> None:
    client = connect("http://127.0.0.1:1", EngineSettings())
    with pytest.raises(InputError, match="half of a surrogate pair"):
        client.search(body={"query": {"match": {"text": "\ud83d"}}})
