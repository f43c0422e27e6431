"""The server under requests made to stop it or to get past its tokens, over real sockets."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import orjson
import psutil
import pytest
from opensearchpy import OpenSearch

from ccrag.types import Document
from ccrag.web.uploads import FOLDER_PREFIX
from tests import hostile
from tests.integration.building import build_index
from tests.serving import ask_body, problem, running, server_state

pytestmark = [pytest.mark.usefixtures("on_engine"), pytest.mark.alone]

ONE, OTHER, ALL = "token-of-one-caller", "token-of-another-caller", "token-of-all-indexes"
NAME = "test-web-attacks"
QUESTION = "When was the dam finished?"
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> Iterator[str]:
    build_index(client, NAME, [Document("dam", "The dam", "The dam was finished in 1931.")])
    yield NAME
    for found in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=found)


@pytest.fixture
def tokens(tmp_path: Path, index: str) -> str:
    path = tmp_path / "tokens.toml"
    path.write_text(
        f'[tokens.one]\ntoken = "{ONE}"\nindexes = ["{index}"]\n'
        f'[tokens.other]\ntoken = "{OTHER}"\nindexes = ["{index}"]\n'
        f'[tokens.all]\ntoken = "{ALL}"\nindexes = ["*"]\n'
    )
    return f"serve.tokens={path}"


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def upload(url: str, token: str, name: str, content: bytes) -> httpx2.Response:
    files = {"file": (name, content)}
    return httpx2.post(f"{url}/api/uploads", files=files, headers=bearer(token), timeout=60)


@contextmanager
def connection(url: str) -> Iterator[socket.socket]:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as opened:
        yield opened


def head(url: str, length: int, path: str = "/api/ask", more: str = "") -> bytes:
    host = urlsplit(url).netloc
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"{more}Content-Length: {length}\r\n\r\n"
    ).encode()


def eventually(condition: Callable[[], bool], *, within_s: float = 10) -> bool:
    until = time.monotonic() + within_s
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def upload_folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"))


def readers() -> list[psutil.Process]:
    """Processes that read an upload now, of whatever server."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "ccrag.corpus.readers.isolated_child" in (process.info["cmdline"] or ())
    ]


def test_without_a_token_no_byte_of_a_body_is_read(tokens: str) -> None:
    with running(server_state(tokens)) as url:
        for path in ("/api/ask", "/api/uploads", "/upload", "/mcp", "/ask"):
            with connection(url) as sock:
                sock.sendall(head(url, 30 * MEGABYTE, path))  # and not one byte of it
                assert b" 401 " in sock.recv(200).split(b"\r\n")[0], path
        bad = httpx2.post(f"{url}/api/ask", content=b"{", headers={"content-type": "text/json"})
        assert problem(bad) == "unauthorised"


def test_a_head_that_never_ends_is_closed(index: str) -> None:
    with running(server_state("serve.slow_s=0.3")) as url, connection(url) as sock:
        sock.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        began = time.monotonic()
        for _ in range(3):
            time.sleep(0.1)
            sock.sendall(b"X-More: 1\r\n")  # which does not give it more time
        assert sock.recv(100) == b""
        assert time.monotonic() - began < 2
        with connection(url) as again:  # the second request of a connection, too
            again.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /he")
            answer = b""
            while piece := again.recv(4096):
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200")


def test_a_body_that_comes_too_slowly_is_refused(index: str) -> None:
    with running(server_state("serve.slow_s=0.3")) as url, connection(url) as sock:
        sock.sendall(head(url, 1_000) + b"{")
        assert b" 408 " in sock.recv(200).split(b"\r\n")[0]


def test_a_body_may_not_take_more_than_the_time_of_a_request(index: str) -> None:
    state = server_state("serve.slow_s=5", "serve.timeout_s=0.5")
    with running(state) as url, connection(url) as sock:
        sock.sendall(head(url, 1_000))
        began, answer = time.monotonic(), b""
        sock.settimeout(0.1)
        while not answer and time.monotonic() - began < 5:
            sock.sendall(b" ")
            with suppress(TimeoutError):
                answer = sock.recv(200)
        assert b" 408 " in answer.split(b"\r\n")[0]


def test_more_connections_than_allowed_are_closed(index: str) -> None:
    with running(server_state("serve.max_connections=3")) as url:
        with connection(url), connection(url), connection(url), connection(url) as last:
            last.settimeout(5)
            with suppress(ConnectionResetError):
                assert last.recv(10) == b""
        assert eventually(lambda: httpx2.get(f"{url}/health").is_success)


def test_one_token_does_not_take_the_places_of_another(tokens: str) -> None:
    text = b"The dam was finished in 1931."
    with running(server_state(tokens, "serve.uploads_per_caller=2")) as url:
        kept = [upload(url, ONE, f"{n}.txt", text) for n in range(3)]
        assert [response.status_code for response in kept] == [200, 200, 429]
        assert problem(kept[-1]) == "too_many_requests"
        assert upload(url, OTHER, "mine.txt", text).is_success


def test_a_restricted_token_reads_its_own_upload_and_nobody_elses(tokens: str) -> None:
    with running(server_state(tokens)) as url:
        made = upload(url, ONE, "mine.txt", b"The dam was finished in 1931.").json()["index"]
        address = f"{url}/api/document?index={made}&doc_id=mine.txt"
        body = ask_body(made, QUESTION)
        answer = httpx2.post(f"{url}/api/ask", json=body, headers=bearer(ONE)).json()
        assert answer["references"] == ["mine.txt"]
        assert httpx2.get(address, headers=bearer(ONE)).is_success
        listed = httpx2.get(f"{url}/api/documents?index={made}", headers=bearer(ONE)).json()
        assert [found["doc_id"] for found in listed["documents"]] == ["mine.txt"]
        for token in (OTHER, ALL):
            assert problem(httpx2.get(address, headers=bearer(token))) == "unknown_index"
            asked = httpx2.post(f"{url}/api/ask", json=body, headers=bearer(token))
            assert problem(asked) == "unknown_index"


def test_errors_of_uploads_do_not_tell_where_they_lay(tokens: str) -> None:
    bad = [("a.pdf", b"%PDF-1.4"), ("a.jsonl", b"{"), ("a.exe", b"MZ"), ("../../a.csv", b"x\n1")]
    with running(server_state(tokens)) as url:
        for name, content in bad:
            response = upload(url, ONE, name, content)
            assert response.status_code == 422, name
            assert tempfile.gettempdir() not in response.text, response.text
            assert FOLDER_PREFIX not in response.text


def test_mcp_keeps_nothing_between_requests(tokens: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"accept": "application/json, text/event-stream"}
    state = server_state(tokens)
    with running(state) as url:
        address = f"{url}/mcp?index={NAME}"
        for _ in range(20):
            begun = httpx2.post(address, json=hello, headers={**bearer(ONE), **accept})
            assert begun.is_success
            assert "mcp-session-id" not in begun.headers
        for method in ("GET", "DELETE"):
            response = httpx2.request(method, address, headers={**bearer(OTHER), **accept})
            assert problem(response) == "method_not_allowed"


def test_a_body_of_two_lengths_is_refused(tokens: str) -> None:
    with running(server_state(tokens)) as url, connection(url) as opened:
        more = f"Authorization: Bearer {ONE}\r\nTransfer-Encoding: chunked\r\n"
        opened.sendall(head(url, 5, more=more) + b"0\r\n\r\n")
        assert b" 422 " in opened.recv(4096).split(b"\r\n")[0]


@pytest.mark.parametrize("title", ["", "dam"])
def test_forged_cursors_are_refused_or_find_nothing(tokens: str, title: str) -> None:
    values = [[], [None], [{}], ["x" * 2_900], [1e30, "x"], [1e308, "x"], [-5], [-5, "x"], [2**70]]
    with running(server_state(tokens)) as url:
        for value in values:
            cursor = base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
            query = {"index": NAME, "title": title, "after": cursor}
            found = httpx2.get(f"{url}/api/documents", params=query, headers=bearer(ONE))
            assert found.status_code in (200, 422), (value, found.text)


def test_an_upload_is_no_other_callers_by_any_address(tokens: str) -> None:
    with running(server_state(tokens)) as url:
        told = upload(url, ONE, "secret-plans.txt", b"The vault opens at nine.").json()
        index, doc_id = told["index"], "secret-plans.txt"
        named = {"index": index, "doc_id": doc_id, "title": "secret", "text": "When?"}
        for token in (OTHER, ALL):
            for path in ("api/documents", "api/document", "documents", "document", ""):
                got = httpx2.get(f"{url}/{path}", params=named, headers=bearer(token))
                assert "vault" not in got.text, path
                assert got.status_code == 404 or not path, (path, got.text)
            body = ask_body(index, "When does the vault open?")
            for path in ("api/ask", "api/ask/stream", "api/search", "ask", "ask/stream"):
                address, who = f"{url}/{path}", bearer(token)
                if path.startswith("api"):
                    got = httpx2.post(address, headers=who, json=body)
                else:
                    got = httpx2.post(address, headers=who, data=named)
                assert got.status_code == 404, (path, got.text)
                assert "vault" not in got.text, path
            listed = httpx2.get(f"{url}/api/indexes", headers=bearer(token)).text
            assert index not in listed
            gone = httpx2.delete(
                f"{url}/api/uploads", params={"index": index}, headers=bearer(token)
            )
            assert gone.status_code == 404
        assert httpx2.post(
            f"{url}/api/ask", json=ask_body(index, "When does the vault open?"), headers=bearer(ONE)
        ).is_success


def test_streams_that_nobody_reads_and_tiny_pieces_hold_up_no_others(tokens: str) -> None:
    body = orjson.dumps(ask_body(NAME, QUESTION))
    more = f"Authorization: Bearer {ONE}\r\n"
    with ExitStack() as stack, serving(tokens) as (server, url):
        before = memory_of(server)
        for _ in range(40):
            unread = stack.enter_context(connection(url))
            unread.sendall(head(url, len(body), "/api/ask/stream", more) + body)
        pieces = stack.enter_context(connection(url))
        start = head(url, 0, more=more).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        pieces.sendall(start + b"1\r\n \r\n" * 200_000)
        began = time.monotonic()
        asked = httpx2.post(
            f"{url}/api/ask",
            json=ask_body(NAME, QUESTION),
            headers=bearer(OTHER),
            timeout=30,
        )
        assert asked.is_success, asked.text
        assert time.monotonic() - began < 2
        assert memory_of(server) - before < 200 * MEGABYTE


def test_hostile_uploads_stop_nobody_and_leave_nothing(tokens: str) -> None:
    """Ten at once: memory stays below 1 GB, others are answered, and no folder or child stays."""
    before = upload_folders()
    files = [(name, make()) for name, make in hostile.FILES.items()] * 2
    peak = [0]
    with serving(tokens, "serve.uploads_per_caller=16") as (server, url):
        done = threading.Event()

        def on_stage() -> None:
            while not done.is_set():
                peak[0] = max(peak[0], memory_of(server))
                done.wait(0.02)

        watching = threading.Thread(target=on_stage)
        watching.start()
        with ThreadPoolExecutor(10) as pool:
            sent = [pool.submit(upload, url, ONE, name, content) for name, content in files]
            waits = []
            while not all(future.done() for future in sent):
                began = time.monotonic()
                body = ask_body(NAME, QUESTION)
                asked = httpx2.post(f"{url}/api/ask", json=body, headers=bearer(OTHER), timeout=30)
                assert asked.is_success, asked.text
                waits.append(time.monotonic() - began)
                time.sleep(0.1)
        done.set()
        watching.join()
        told = [future.result() for future in sent]
        assert {response.status_code for response in told} <= {200, 422, 429, 504}, told
        assert peak[0] < 1024 * MEGABYTE
        assert max(waits) < 2
        assert eventually(lambda: not readers())
    assert upload_folders() == before


@contextmanager
def serving(*overrides: str) -> Iterator[tuple[psutil.Process, str]]:
    """A server in a process of its own, and its URL."""
    sets = [word for override in overrides for word in ("--set", override)]
    command = [sys.executable, "-m", "ccrag", "serve", "--port", "0", *sets]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        try:
            yield psutil.Process(started.pid), url_of(started)
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(30)


def url_of(started: "subprocess.Popen[bytes]") -> str:
    """The server's address, as it says it; what it says later is read and thrown away."""
    if started.stderr is None or started.stdout is None:
        raise TypeError("both streams have to be pipes")
    for line in started.stdout:
        for word in line.decode().split():
            if word.startswith("http://"):
                threading.Thread(target=started.stderr.read, daemon=True).start()
                return word.rstrip("/")
    raise TimeoutError(started.stderr.read().decode())


def memory_of(server: psutil.Process) -> int:
    """Resident bytes of a server and all its children."""
    total = 0
    for process in [server, *server.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_server_left_is_gone(tokens: str, sent: signal.Signals) -> None:
    before = upload_folders()
    with serving(tokens) as (server, url):
        thread = threading.Thread(target=_upload_into_the_void, args=(url,))
        thread.start()
        assert eventually(lambda: bool(readers()))
        began = time.monotonic()
        os.kill(server.pid, sent)
        assert eventually(lambda: not readers(), within_s=15)
        server.wait(15)
        assert time.monotonic() - began < 15
        thread.join()
    if sent is signal.SIGTERM:
        assert upload_folders() == before
    server_state(tokens).uploads.drop_all()  # the next start
    assert upload_folders() == before


def _upload_into_the_void(url: str) -> None:
    try:
        upload(url, ONE, "pages.pdf", hostile.pages_pdf())
    except httpx2.TransportError:
        return


@pytest.mark.parametrize(
    ("setting", "content", "told"),
    [
        ("documents", b'{"id": "%d", "text": "a"}\n', "more than 50 documents"),
        ("chars", b'{"id": "%d", "text": "one two"}\n', "more than 50 characters"),
        ("chars", b'{"id": "%d", "text": "a", "references": ["d%d"]}\n', "more than 50 characters"),
    ],
)
def test_a_file_of_many_small_records_is_refused(
    index: str, setting: str, content: bytes, told: str
) -> None:
    many = b"".join(content.replace(b"%d", b"%d" % number) for number in range(51))
    with running(server_state(f"serve.max_upload_{setting}=50")) as url:
        refused = upload(url, ONE, "many.jsonl", many)
        assert problem(refused) == "invalid_request"
        assert told in refused.json()["detail"]
