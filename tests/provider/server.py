"""The provider itself: calls to answers, and a port to make them at."""

import json
import re
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, urlsplit

from tests.provider.batches import Batches
from tests.provider.faults import JSON, Answer, Fault, error, ok
from tests.provider.files import Files, Query, page_of

Reply = Callable[[JSON], "str | JSON"]
"""Body of a chat request to the reply's text, or to the whole body of the answer."""
HANG_S = 60.0
_ID = re.compile(r"/(batch_|file-)\d+")


class Provider:
    """What it was told, what it made, and what it was asked. `serving` puts it on a port."""

    def __init__(self, reply: Reply) -> None:
        self.url = ""
        """Base URL with `/v1`, once it serves."""
        self.reply = reply
        self.files = Files()
        self.batches = Batches(self.files, self._completion)
        self.calls: list[str] = []
        """`METHOD /route` of every call, ids as `*`, e.g. `GET /batches/*`."""
        self.chats: list[JSON] = []
        """Bodies of chat completions that were answered at once."""
        self.headers: list[dict[str, str]] = []
        """Of every call, names in lower case."""
        self.mistakes: list[BaseException] = []
        """What went wrong in here, `reply` included; `serving` raises it at the end."""
        self._faults: dict[str, deque[Fault]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def fail(self, route: str, *faults: Fault) -> None:
        """Let the next calls of `route`, e.g. `POST /batches`, go wrong, in this order."""
        self._faults[route].extend(faults)

    def close(self) -> None:
        """Let hanging answers go."""
        self._closing.set()

    def answer(
        self, method: str, target: str, headers: dict[str, str], content: bytes
    ) -> Answer | None:
        """Carry out one call; None: the client gets no answer."""
        url = urlsplit(target)
        path = url.path.removeprefix("/v1").rstrip("/")
        route = f"{method} {_ID.sub('/*', path)}"
        result = error(500, "not carried out")
        with self._lock:
            self.calls.append(route)
            self.headers.append(headers)
            fault = self._faults[route].popleft() if self._faults[route] else None
            if fault is None or fault.acted:
                content_type = headers.get("content-type", "")
                result = self._act(route, path, parse_qs(url.query), content_type, content)
        if fault is None:
            return result
        if fault.answer == "status":
            return error(fault.status, f"told to answer {fault.status}", fault.headers)
        if fault.answer == "cut":
            return Answer(result.status, result.content[: len(result.content) // 2])
        if fault.answer == "hang":
            self._closing.wait(HANG_S)
        return None

    def _act(
        self, route: str, path: str, query: Query, content_type: str, content: bytes
    ) -> Answer:
        """Carry out one call of `route`, whose id, if it has one, stands in `path`."""
        name = path.split("/")[2] if "*" in route else ""
        if name and name not in self.files.objects | self.batches.objects:
            return error(404, f"no {name}")
        routes: dict[str, Callable[[], Answer]] = {
            "POST /chat/completions": lambda: self._chat(json.loads(content)),
            "POST /files": lambda: ok(self.files.upload(content_type, content)),
            "GET /files": lambda: ok(page_of(self.files.objects, query)),
            "GET /files/*": lambda: ok(self.files.objects[name]),
            "GET /files/*/content": lambda: Answer(200, self.files.contents[name]),
            "POST /batches": lambda: self.batches.create(json.loads(content)),
            "GET /batches": lambda: ok(page_of(self.batches.objects, query)),
            "GET /batches/*": lambda: ok(self.batches.look(name)),
            "POST /batches/*/cancel": lambda: ok(self.batches.cancel(name)),
        }
        act = routes.get(route)
        return error(404, f"unknown route {route}") if act is None else act()

    def _chat(self, body: JSON) -> Answer:
        self.chats.append(body)
        return ok(self._completion(body))

    def _completion(self, body: JSON) -> JSON:
        """The answer to one chat request, sent alone or in a batch."""
        said = self.reply(body)
        if not isinstance(said, str):
            return said
        read = sum(len(message["content"].split()) for message in body["messages"])
        written = len(said.split())
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": said},
        }
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            },
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: Provider) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = provider

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up or are killed are what tests want; a test's own mistake is not."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.provider.mistakes.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        provider = cast(_Server, self.server).provider
        answer = provider.answer(self.command, self.path, headers, content)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = _serve  # noqa: N815  # the names http.server asks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def serving(reply: Reply) -> Iterator[Provider]:
    """A provider on a free loopback port, answering chats with `reply`."""
    provider = Provider(reply)
    server = _Server(provider)
    provider.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.close()
        server.shutdown()
        server.server_close()
        thread.join()
    if provider.mistakes:
        raise provider.mistakes[0]
