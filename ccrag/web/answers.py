"""Responses: JSON by orjson, problems as JSON or as a page, whichever the address speaks."""

from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ccrag.web.logs import request_id
from ccrag.web.problems import MEDIA_TYPE, ProblemError

JSON_PATHS = ("/api/", "/mcp", "/health", "/ready", "/metrics")
"""Addresses for programs; at all others a person looks."""

ProblemPage = Callable[[Request, ProblemError], Response]


def json_response(value: Any, *, status: int = 200) -> Response:
    """Return `value` as JSON."""
    return Response(orjson.dumps(value), status_code=status, media_type="application/json")


def _state(request: Request) -> object:
    """Return what the app carries; nothing before a request has reached it."""
    return request.scope["app"].state if "app" in request.scope else None


def problem_response(request: Request, problem: ProblemError) -> Response:
    """Return a problem as JSON, or as the page that the app shows to people."""
    page: ProblemPage | None = getattr(_state(request), "problem_page", None)
    if page is not None and not request.url.path.startswith(JSON_PATHS):
        return page(request, problem)
    return Response(
        orjson.dumps(problem.body(request_id.get())),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=problem.headers,
    )
