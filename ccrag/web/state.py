"""The parts of one server, and the caller that asks it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param

from ccrag.config import ServeSettings
from ccrag.web.access import Access, Caller
from ccrag.web.connection import EngineConnection
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError
from ccrag.web.registry import IndexRegistry
from ccrag.web.run_store import RunStore
from ccrag.web.service import QueryService
from ccrag.web.uploads import Uploads
from ccrag.web.worker_pool import WorkerPool

CALLER = "ccrag.caller"
"""Names the entry of a request's scope that holds its caller."""
COOKIE = "ccrag_token"
"""Where the page keeps the token of whoever signed in."""
_bearer = HTTPBearer(auto_error=False, description="Needed when the server has a token file.")


@dataclass(frozen=True, slots=True)
class ServerState:
    """Everything that lives as long as the server."""

    settings: ServeSettings
    access: Access
    connection: EngineConnection
    registry: IndexRegistry
    uploads: Uploads
    records: RunStore
    service: QueryService
    workers: WorkerPool
    """For questions, and all that is quick."""
    upload_workers: WorkerPool
    """For reading and indexing uploads, so that they take no place of those who ask."""
    metrics: Metrics


def state_of(request: Request) -> ServerState:
    """Return the server that a request is for."""
    state: ServerState = request.app.state.ccrag
    return state


def bearer_caller(request: Request, access: Access) -> Caller:
    """
    Return the caller, by the token in the Authorization header, or the page's cookie.

    Raises:
        ProblemError: a token is needed, and there is none or one nobody knows.
    """
    scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
    given = token if scheme.lower() == "bearer" and token else request.cookies.get(COOKIE)
    caller = access.caller(given)
    if caller is None:
        raise ProblemError("unauthorised", "a bearer token of this server is needed")
    return caller


def caller_of(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
) -> Caller:
    """Return the caller that `middleware.Authorised` found; their name goes into the log."""
    caller: Caller = request.scope[CALLER]
    request.state.caller = caller
    request.scope.setdefault("ccrag.facts", {})["caller"] = caller.name
    return caller


State = Annotated[ServerState, Depends(state_of)]
Asking = Annotated[Caller, Depends(caller_of)]


def note(request: Request, **facts: object) -> None:
    """Let the request's log line say more."""
    request.scope.setdefault("ccrag.facts", {}).update(facts)


def is_trusted(request: Request) -> bool:
    """Tell whether errors may speak of the server's insides to this caller."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return caller is not None and caller.unrestricted
