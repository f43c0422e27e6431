"""The application: routes, errors and what every request meets, put together."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from ccrag.config import ServeSettings
from ccrag.errors import CcragError
from ccrag.version import __version__
from ccrag.web import api, api_runs, health, schemas, upload_routes
from ccrag.web.answers import problem_response
from ccrag.web.mcp_server import McpEndpoint
from ccrag.web.middleware import LOOPBACK_HOSTS, Authorised, Guarded, Limited, Observed
from ccrag.web.page import routes_ask, routes_runs, routes_session
from ccrag.web.page.render import problem_page
from ccrag.web.problems import ProblemCode, ProblemError, problem_of
from ccrag.web.state import ServerState, is_trusted

log = logging.getLogger("ccrag.web")
CLEAN_UP_S = 30.0
UPLOAD_PATHS = ("/api/uploads", "/upload")
PUBLIC = ("/health", "/ready", "/api/openapi.json", "/sign-in", "/sign-out", "/static/")
"""Addresses that need no token; elsewhere a request without one ends before its body is read."""
FORM_BYTES = 64 * 1024
"""Bytes of a form around its file."""
_CODES: dict[int, ProblemCode] = {
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
}
_DETAILS: dict[ProblemCode, str] = {
    "not_found": "no such address; see /api/openapi.json",
    "method_not_allowed": "this address does not take that method",
    "too_slow": "the request's body came too slowly; send it again",
    "too_large": "the request's body is larger than the server takes",
}


def create_app(state: ServerState) -> ASGIApp:
    """Return the ASGI application of a server; `serve` makes the state and runs it."""
    app = FastAPI(
        title="ccrag",
        version=__version__,
        description="Question answering inside a given set of documents, with citations that can "
        "be checked.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        separate_input_output_schemas=False,
    )
    app.state.ccrag = state
    app.include_router(api.router)
    app.include_router(upload_routes.router)
    app.include_router(api_runs.router)
    app.include_router(health.router)
    for router in (routes_ask.router, routes_runs.router, routes_session.router):
        app.include_router(router)
    app.state.problem_page = problem_page
    app.state.mcp = McpEndpoint(state)
    app.router.routes.append(Route("/mcp", app.state.mcp))
    _handle_errors(app)
    _describe_problems(app)
    limited = Limited(
        app,
        limit_of=partial(_body_limit, state.settings),
        slow_s=state.settings.slow_s,
        timeout_s=state.settings.timeout_s,
    )
    known = Authorised(limited, access=state.access, public=PUBLIC, shown_by=app)
    return Observed(Guarded(known, hosts=_hosts(state)), metrics=state.metrics)


def _body_limit(settings: ServeSettings, path: str) -> int:
    """Return how many bytes a request to `path` may have."""
    if path in UPLOAD_PATHS:
        return settings.max_upload_bytes + FORM_BYTES
    if path in ("/sign-in", "/sign-out"):
        return FORM_BYTES
    return settings.max_body_bytes


def _hosts(state: ServerState) -> list[str] | None:
    """
    Return names a request may use: loopback ones and those set; with tokens and none set, any.
    """
    if state.access.needs_token and not state.settings.hosts:
        return None
    return [*LOOPBACK_HOSTS, state.settings.host, *state.settings.hosts]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: ServerState = app.state.ccrag
    cleaning = asyncio.create_task(_clean_up(state))
    try:
        async with app.state.mcp.manager.run():
            yield
    finally:
        cleaning.cancel()
        await state.upload_workers.close()
        await state.workers.close()
        await asyncio.to_thread(state.uploads.drop_all)
        await asyncio.to_thread(state.connection.close)


async def _clean_up(state: ServerState) -> None:
    while True:
        await asyncio.sleep(CLEAN_UP_S)
        await asyncio.to_thread(state.uploads.drop_old)


def _handle_errors(app: FastAPI) -> None:
    """Let every error end as a problem."""

    async def ours(request: Request, error: Exception) -> Response:
        problem = problem_of(error, detailed=is_trusted(request))
        if problem.code == "internal":
            raise error
        if problem.status >= 503:
            log.error("failed", extra={"facts": {"code": problem.code, "reason": str(error)}})
        return problem_response(request, problem)

    async def invalid(request: Request, error: Exception) -> Response:
        return problem_response(request, ProblemError("invalid_request", _first_fault(error)))

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 400
        code = _CODES.get(status, "invalid_request")
        detail = _DETAILS.get(code, str(getattr(error, "detail", "")))
        return problem_response(request, ProblemError(code, detail))

    async def bug(request: Request, error: Exception) -> Response:
        return problem_response(request, problem_of(error, detailed=False))

    app.add_exception_handler(ProblemError, ours)
    app.add_exception_handler(CcragError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, bug)


def _first_fault(error: Exception) -> str:
    """Return where and what is wrong with a request, without its value."""
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    if not faults:
        return "the request cannot be read"
    where = ".".join(str(part) for part in faults[0]["loc"])
    return f"{where}: {faults[0]['msg']}"


def _describe_problems(app: FastAPI) -> None:
    """Put the problem's schema into OpenAPI, where every address refers to it."""
    original = app.openapi

    def described() -> dict[str, object]:
        document = original()
        components = document.setdefault("components", {}).setdefault("schemas", {})
        for unused in ("HTTPValidationError", "ValidationError"):
            components.pop(unused, None)
        components["ProblemDetails"] = schemas.ProblemDetails.model_json_schema()
        return document

    app.openapi = described  # type: ignore[method-assign]
