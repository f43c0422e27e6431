"""
Wrap every request, outermost first: an id, the log and the counts; then the checks of access.

Plain ASGI: nothing here holds back a stream or hides that a caller is gone.
"""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ccrag.web.access import Access
from ccrag.web.answers import problem_response
from ccrag.web.logs import request_id
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError, problem_of
from ccrag.web.state import CALLER, bearer_caller

log = logging.getLogger("ccrag.web")

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer that does not say otherwise: it is private, and runs nothing foreign."""


class Observed:
    """Gives each request an id and its answer safe headers; counts and logs it, bugs included."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("x-request-id", "")
        own = asked if _REQUEST_ID.fullmatch(asked) else secrets.token_hex(8)
        token = request_id.set(own)
        began = time.perf_counter()
        status, ended = 500, None

        async def sending(message: Message) -> None:
            nonlocal status, ended
            if message["type"] == "http.response.start":
                status, ended = message["status"], False
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = own
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            elif message["type"] == "http.response.body":
                ended = not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            log.exception("bug")
            if ended is None:
                problem = problem_of(error, detailed=False)
                await problem_response(Request(scope), problem)(scope, receive, sending)
            elif not ended:
                raise  # half an answer is out: the connection has to break
        finally:
            self._finish(scope, status, time.perf_counter() - began)
            request_id.reset(token)

    def _finish(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None) or scope.get("ccrag.route", "other")
        self._metrics.count_request(route, scope["method"], status, seconds)
        facts: dict[str, Any] = {
            "method": scope["method"],
            "route": route,
            "status": status,
            "seconds": round(seconds, 6),
            **scope.get("ccrag.facts", {}),
        }
        log.info("request", extra={"facts": facts})


class Guarded:
    """
    Refuses what a browser was tricked into: a name that only seems to be this server's (DNS
    rebinding), and changes that another site's page asks for. Refuses a body of two lengths, with
    which a request is hidden from a proxy.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] | None) -> None:
        """
        Args:
            hosts: names the Host header may hold; None: any.
        """
        self._app = app
        self._hosts = None if hosts is None else frozenset(map(str.lower, hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
            return
        await problem_response(Request(scope), problem)(scope, receive, send)

    def _problem(self, scope: Scope) -> ProblemError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return ProblemError(
                "foreign_origin", "this name is not the server's; see the setting serve.hosts"
            )
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy may believe the one and this server the other: two requests out of one.
            return ProblemError("invalid_request", "two lengths: Content-Length and chunks")
        origin = headers.get("origin")
        changes = scope["method"] not in _SAFE_METHODS
        if changes and origin is not None and not _same_site(origin, host):
            return ProblemError("foreign_origin", "a page of another site sent this request")
        return None


class Authorised:
    """Refuses a request without a known token before any of its body is read."""

    def __init__(
        self, app: ASGIApp, *, access: Access, public: tuple[str, ...], shown_by: ASGIApp
    ) -> None:
        """
        Args:
            public: addresses that need no token; one that ends in / stands for all below it.
            shown_by: the application whose state says how a problem looks to a person.
        """
        self._shown_by = shown_by
        self._app = app
        self._access = access
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_public(scope["path"]):
            # The application, which names itself here later, shows people a page to sign in.
            request = Request({**scope, "app": self._shown_by})
            try:
                scope[CALLER] = bearer_caller(request, self._access)
            except ProblemError as problem:
                await problem_response(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_public(self, path: str) -> bool:
        return path in self._public or any(
            path.startswith(public) for public in self._public if public.endswith("/")
        )


class Limited:
    """
    Lets no more of a body in than its address takes, and none that comes too slowly; the rest is
    never read.
    """

    def __init__(
        self, app: ASGIApp, *, limit_of: Callable[[str], int], slow_s: float, timeout_s: float
    ) -> None:
        """
        Args:
            limit_of: bytes, for a path.
            slow_s: seconds to wait for the next piece of a body.
            timeout_s: seconds for all of it.
        """
        self._app = app
        self._limit_of = limit_of
        self._slow_s = slow_s
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left = self._limit_of(scope["path"])
        stated = Headers(scope=scope).get("content-length", "0")
        if not stated.isdecimal() or int(stated) > left:
            problem = ProblemError("too_large", f"a body may have {left} bytes here")
            await problem_response(Request(scope), problem)(scope, receive, send)
            return

        until = time.monotonic() + self._timeout_s
        whole = False

        async def receiving() -> Message:
            nonlocal left, whole
            if whole:  # what comes now is only that the caller is gone
                return await receive()
            try:
                async with asyncio.timeout(max(min(self._slow_s, until - time.monotonic()), 0)):
                    message = await receive()
            except TimeoutError as error:
                raise HTTPException(408) from error
            whole = not message.get("more_body", False)
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)  # which the app takes for its own, also amid a form
            return message

        await self._app(scope, receiving, send)


def _same_site(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return the name in a Host header, without a port or brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
