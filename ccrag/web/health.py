"""For whoever looks after the server: is it alive, can it answer, what does it do."""

from fastapi import APIRouter, Response

from ccrag.web import metrics, schemas
from ccrag.web.answers import json_response
from ccrag.web.api import problems
from ccrag.web.problems import ProblemError
from ccrag.web.state import Asking, State

router = APIRouter(tags=["operation"])


@router.get("/health", responses={200: {"model": schemas.Health}})
async def health() -> Response:
    """Whether the server runs; asks nobody else."""
    return json_response({"status": "ok"})


@router.get(
    "/ready",
    responses={200: {"model": schemas.Health}, 503: {"model": schemas.Health}},
)
async def ready(state: State) -> Response:
    """Whether requests can be answered now."""
    if state.link.down:
        return json_response({"status": "unavailable"}, status=503)
    return json_response({"status": "ok"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        401: problems()[401],
        404: problems(404)[404],
    },
)
async def prometheus(state: State, caller: Asking) -> Response:
    """
    Counts and seconds in Prometheus' text format, for callers who may read everything: they are of
    all callers together.
    """
    if not caller.unrestricted:
        raise ProblemError("not_found", "no such address; see /api/openapi.json")
    return Response(state.metrics.text(), media_type=metrics.CONTENT_TYPE)
