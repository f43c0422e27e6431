"""The embedded node's ports, from outside: web pages, other accounts, and who has the secret."""

import http.client
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import psutil
import pytest
from typer.testing import CliRunner

from ccrag.cli.node import app
from ccrag.config import EngineSettings, NodeSettings, Settings
from ccrag.engine.client import connect, connect_node, engine_errors, open_client
from ccrag.engine.node import NodeState, ensure_node, stop_node
from ccrag.errors import EngineDownError, EngineError, NodeError
from ccrag.web.connection import EngineConnection
from tests.integration.building import ENGINE, build_index
from tests.integration.commands import ccrag
from tests.integration.test_web_api import DOCUMENTS

NAME = "guarded"
KEY = "a-key-of-the-environment"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def settings(
    node_runtime: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NodeSettings]:
    settings = NodeSettings(data=tmp_path_factory.mktemp("guarded") / "node", heap_mb=256)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CCRAG_ENGINE__URL", raising=False)
        patch.setenv("CCRAG_NODE__DATA", str(settings.data))
        patch.setenv("OPENAI_API_KEY", KEY)
        build_index(connect_node(ensure_node(settings), ENGINE), NAME, DOCUMENTS)
        yield settings
    stop_node(settings)


@pytest.fixture
def node(settings: NodeSettings) -> NodeState:
    return ensure_node(settings)


def send(
    node: NodeState, method: str, path: str, body: str = "", **headers: str
) -> tuple[int, bytes]:
    """Send exactly these headers, with underscores for hyphens; None of the library's but Host."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in named, skip_accept_encoding=True)
    for name, value in {"Content-Length": str(len(body)), **named}.items():
        connection.putheader(name, value)
    connection.endheaders(body.encode() or None)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def bearer(node: NodeState) -> str:
    return f"Bearer {node.secret()}"


REQUESTS = [
    ("GET", "/"),
    ("HEAD", "/"),
    ("GET", "/_cat/indices"),
    ("GET", "/_cluster/settings"),
    ("GET", "/_nodes"),
    ("GET", "/no/such/path/at/all"),
    ("GET", "/favicon.ico"),
    ("OPTIONS", "/"),
    ("OPTIONS", "/_search"),
    ("PUT", "/mine"),
    ("DELETE", "/ccrag-guarded-documents"),
    ("POST", "/ccrag-guarded-documents/_delete_by_query?q=*"),
    ("POST", "/ccrag-guarded-documents/_close"),
    ("POST", "/_bulk"),
    ("POST", "/_msearch"),
    ("PATCH", "/"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_no_path_opens_without_the_secret(node: NodeState, method: str, path: str) -> None:
    assert send(node, method, path)[0] == 401
    assert send(node, method, path, Authorization=f"Bearer {'x' * 43}")[0] == 401
    assert send(node, method, path, Authorization=bearer(node)[:-1])[0] == 401
    assert send(node, method, path, Authorization=bearer(node).lower())[0] == 401
    assert send(node, method, path, Authorization=f"Basic {node.secret()}")[0] == 401
    assert send(node, method, f"{path}?authorization={node.secret()}")[0] == 401


@pytest.mark.parametrize(
    "path",
    ["/ccrag-guarded-*/_delete_by_query?q=*", "/ccrag-guarded-documents/_close", "/_all/_close"],
)
def test_a_web_pages_form_does_nothing(node: NodeState, path: str) -> None:
    client = connect_node(node, ENGINE)
    before = client.count(index="ccrag-guarded-documents")["count"]
    page = {"Origin": "http://evil.example", **FORM}
    assert send(node, "POST", path, **page)[0] == 403
    assert send(node, "POST", path, **{"Origin": "null", **FORM})[0] == 403
    local = {"Origin": f"http://127.0.0.1:{node.port}", "Authorization": bearer(node)}
    assert send(node, "POST", path, **local)[0] == 403
    client.indices.refresh(index="ccrag-guarded-documents")
    assert client.count(index="ccrag-guarded-documents")["count"] == before == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("127.0.0.1:{port}.evil.example", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("", 403),
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("[::1]:{port}", 200),
    ],
)
def test_a_name_that_was_pointed_here_is_refused(node: NodeState, host: str, status: int) -> None:
    given = {"Host": host.format(port=node.port), "Authorization": bearer(node)}
    assert send(node, "GET", "/_cat/indices", **given)[0] == status


def test_who_has_the_secret_gets_in_but_may_not_delete_by_wildcard(node: NodeState) -> None:
    assert send(node, "GET", "/", Authorization=bearer(node))[0] == 200
    status, body = send(node, "DELETE", "/ccrag-*", Authorization=bearer(node))
    assert (status, b"Wildcard expressions or all indices are not allowed" in body) == (400, True)


def test_what_is_no_request_is_answered_without_a_word_of_it(node: NodeState) -> None:
    for raw in (b"GET /%zz HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", node.port), timeout=10) as plain:
            plain.sendall(raw)
            answer = plain.recv(65536)
        assert answer.split(b" ", 2)[1] in (b"400", b"401", b"403"), answer
        assert b"ccrag-guarded" not in answer
        assert b"2.19" not in answer


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET / HTTP/1.0\r\n{secret}\r\n", 403),
        ("GET http://evil.example/ HTTP/1.1\r\n{host}\r\n", 401),
        ("GET / HTTP/1.1\r\n{host}Host: evil.example\r\n{secret}\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n{host}{secret}\r\n", 403),
        ("get / HTTP/1.1\r\n{host}\r\n", 401),
        ("OPTIONS / HTTP/1.1\r\n{host}\r\n", 401),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\n{host}Authorization: Bearer x\r\n{secret}\r\n", 401),
        ("GET / HTTP/1.1\r\n{host}{secret}Origin:\r\n\r\n", 403),
    ],
)
def test_heads_that_no_client_sends_do_not_get_in(node: NodeState, head: str, status: int) -> None:
    host = f"Host: 127.0.0.1:{node.port}\r\n"
    told = head.format(host=host, secret=f"Authorization: {bearer(node)}\r\n")
    with socket.create_connection(("127.0.0.1", node.port), timeout=10) as opened:
        opened.sendall(told.encode())
        assert opened.recv(100).startswith(b"HTTP/1.1 %d " % status)


def test_nothing_of_a_strangers_body_is_kept(node: NodeState) -> None:
    size = 95_000_000  # just below what the engine takes
    head = f"POST /_bulk HTTP/1.1\r\nHost: 127.0.0.1:{node.port}\r\nContent-Length: {size}\r\n\r\n"
    before = psutil.Process(node.pid).memory_info().rss
    with ExitStack() as open_ones:
        for _ in range(2):
            plain = socket.create_connection(("127.0.0.1", node.port), timeout=30)
            open_ones.enter_context(plain).sendall(head.encode())
            for _ in range(size // 1_000_000 - 1):
                plain.sendall(b"x" * 1_000_000)
        grown = psutil.Process(node.pid).memory_info().rss - before
    assert grown < 60_000_000
    waiting = {"Expect": "100-continue", "Content-Length": "1000000"}
    assert send(node, "POST", "/_bulk", **waiting)[0] == 401
    assert send(node, "POST", "/_bulk", "x" * 20_000_000)[0] == 401


def _transport_request(action: str) -> bytes:
    """Return a request as nodes send it to each other: an action without arguments."""
    variable = b"\0\0\0" + bytes([len(action)]) + action.encode()
    version = 2190699 ^ 0x08000000
    content = struct.pack(">qbii", 7, 0, version, len(variable)) + variable + b"\0"
    return b"ES" + struct.pack(">i", len(content)) + content


def test_the_port_between_nodes_answers_nobody(node: NodeState) -> None:
    listening = {
        connection.laddr.port
        for connection in psutil.Process(node.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    [port] = listening - {node.port}
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(_transport_request("cluster:monitor/main"))
        answer = plain.recv(65536)
    assert b"this node has no other nodes" in answer
    assert b"2.19.6" not in answer


def test_only_its_owner_reads_the_secret(node: NodeState) -> None:
    assert stat.S_IMODE(node.secret_file.stat().st_mode) == 0o600
    for name in ("", "config", "data", "logs", "tmp"):
        assert stat.S_IMODE((node.data / name).stat().st_mode) == 0o700
    if os.geteuid() == 0:
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            os._exit(0 if os.access(node.secret_file, os.R_OK) else 7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_it_is_in_no_log_argument_variable_or_message(node: NodeState) -> None:
    process = psutil.Process(node.pid)
    secret = node.secret()
    assert secret not in " ".join(process.cmdline())
    assert secret not in str(process.environ())
    assert KEY not in str(process.environ())
    status, body = send(node, "GET", "/_nodes?flat_settings", Authorization=bearer(node))
    assert (status, secret.encode() in body) == (200, False)
    for log in (node.data / "logs").iterdir():
        assert secret not in log.read_text("utf-8", errors="replace")
    told = CliRunner().invoke(app, ["status", "--json", "--data", str(node.data)])
    assert orjson.loads(told.stdout)["secret"] == str(node.secret_file)
    shown = ccrag("search", "water", "--all", "--index", NAME, "--json")
    assert secret not in told.output + shown.output


def test_its_url_opens_with_the_token_only(node: NodeState) -> None:
    def opened(**more: str) -> Settings:
        return Settings(engine=EngineSettings.model_validate({"url": node.url, **more}))

    open_client(opened(token=node.secret())).close()
    for wrong in ({}, {"token": "wrong"}, {"user": "me", "password": "wrong"}):
        with pytest.raises(EngineError, match="wants the secret of its present start") as caught:
            open_client(opened(**wrong))
        assert node.secret() not in str(caught.value)


def test_each_start_has_another_and_old_clients_are_told(settings: NodeSettings) -> None:
    fixed = NodeSettings(data=settings.data, port=ensure_node(settings).port, heap_mb=256)
    first = ensure_node(fixed)
    before, client = first.secret(), connect_node(first, ENGINE)
    link = EngineConnection(Settings(node=fixed))
    stop_node(fixed)
    assert not first.secret_file.exists()
    second = ensure_node(fixed)
    assert second.url == first.url
    assert second.secret() != before
    with pytest.raises(EngineDownError, match="run the command again"), engine_errors("look"):
        client.info()
    assert send(second, "GET", "/", Authorization=f"Bearer {before}")[0] == 401
    with pytest.raises(EngineDownError), link.watching(), engine_errors("look"):
        link.client().info()
    deadline = time.monotonic() + 30
    while link.down and time.monotonic() < deadline:
        time.sleep(0.05)
    assert link.client().info()["version"]["number"] == "2.19.6"
    link.close()


def test_a_node_without_a_secret_is_named(node: NodeState, settings: NodeSettings) -> None:
    kept = node.secret()
    node.secret_file.unlink()
    try:
        with pytest.raises(NodeError, match=r"by an older ccrag, without a secret: run `ccrag nod"):
            ensure_node(settings)
        told = CliRunner().invoke(app, ["status", "--data", str(node.data)])
        assert told.exit_code == 1
        assert "Traceback" not in told.output
    finally:
        node.secret_file.write_text(kept)
        node.secret_file.chmod(0o600)
    assert connect(node.url, EngineSettings.model_validate({"token": kept})).ping()
