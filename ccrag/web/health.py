"""For whoever looks after the server: is it alive, can it answer, what does it do."""

import asyncio
import logging

from fastapi import APIRouter, Response

from ccrag.web import metrics, schemas
from ccrag.web.answers import json_response
from ccrag.web.api import problems
from ccrag.web.connection import PROBE_S
from ccrag.web.problems import ProblemError
from ccrag.web.state import Asking, State

log = logging.getLogger("ccrag.web")
router = APIRouter(tags=["operation"])


@router.get("/health", responses={200: {"model": schemas.Health}})
async def health() -> Response:
    """Say that the server runs; asks nobody else."""
    return json_response({"status": "ok"})


@router.get(
    "/ready",
    responses={200: {"model": schemas.Health}, 503: {"model": schemas.Health}},
)
async def ready(state: State) -> Response:
    """
    Tell whether requests can be answered now: the engine is asked, for two seconds at most.

    The log says why not.
    """
    reason: str | None = "the search engine is out of reach"
    if not state.connection.down:
        probe = asyncio.wrap_future(state.connection.probe())
        try:
            reason = await asyncio.wait_for(asyncio.shield(probe), PROBE_S)
        except TimeoutError:
            reason = f"the search engine did not answer within {PROBE_S:g} s"
    if reason is None:
        return json_response({"status": "ok"})
    log.warning("not ready", extra={"facts": {"reason": reason}})
    return json_response({"status": "unavailable"}, status=503)


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
