"""
Every error of the server as one typed answer: RFC 9457 problem details with a `code` of ours.

    unauthorised          401  no token, or one nobody knows
    foreign_origin        403  a page of another site sent this
    not_available         404  a document that is not there or not for this caller: no telling
    unknown_index    404  the same of an index
    unknown_run           404  the same of a run
    not_found             404  no such address
    too_slow              408  the body did not come in time
    not_built             409  the index was not built for this pipeline
    too_large             413  the body, the question, the candidates or an upload
    invalid_request       422  something of it cannot be used; the detail says what
    too_many_requests     429  the server is busy; Retry-After says when to come back
    client_gone           499  nobody waits for this any more (only in the log)
    internal              500  a bug of ours
    engine_unavailable    503  OpenSearch is out of reach; the same request will work later
    engine_failed         503  OpenSearch refused or failed
    model_unavailable     503  a model cannot be had
    timeout               504  it took longer than the server allows
"""

from typing import Any, Literal, get_args

from ccrag.errors import (
    CcragError,
    ConfigError,
    EngineDownError,
    EngineError,
    IndexMismatchError,
    IndexMissingError,
    InputError,
    InvariantError,
    ModelError,
)

ProblemCode = Literal[
    "unauthorised",
    "foreign_origin",
    "not_available",
    "unknown_index",
    "unknown_run",
    "not_found",
    "method_not_allowed",
    "too_slow",
    "not_built",
    "too_large",
    "invalid_request",
    "too_many_requests",
    "client_gone",
    "internal",
    "engine_unavailable",
    "engine_failed",
    "model_unavailable",
    "timeout",
]
CODES: tuple[ProblemCode, ...] = get_args(ProblemCode)
MEDIA_TYPE = "application/problem+json"
RETRY_S = {429: 1, 503: 2}
"""Seconds of Retry-After."""

_STATUS: dict[ProblemCode, int] = {
    "unauthorised": 401,
    "foreign_origin": 403,
    "not_available": 404,
    "unknown_index": 404,
    "unknown_run": 404,
    "not_found": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "not_built": 409,
    "too_large": 413,
    "invalid_request": 422,
    "too_many_requests": 429,
    "client_gone": 499,
    "internal": 500,
    "engine_unavailable": 503,
    "engine_failed": 503,
    "model_unavailable": 503,
    "timeout": 504,
}
_VAGUE: dict[ProblemCode, str] = {
    "not_built": "this index was not built for this pipeline",
    "engine_failed": "the search engine failed; try again",
    "engine_unavailable": "the search engine is out of reach; try again in a moment",
    "model_unavailable": "a model this pipeline needs cannot be used now",
    "internal": "a bug of the server's; its log has the details under this request id",
}
"""Messages for callers whom the details are not meant for."""


class ProblemError(Exception):
    """A request that ends in a problem; `detail` is shown to the caller as it is."""

    def __init__(self, code: ProblemCode, detail: str) -> None:
        self.code: ProblemCode = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return _STATUS[self.code]

    @property
    def headers(self) -> dict[str, str]:
        """Return what the answer's head says besides."""
        headers = {}
        if self.status in RETRY_S:
            headers["Retry-After"] = str(RETRY_S[self.status])
        if self.status == 401:
            headers["WWW-Authenticate"] = 'Bearer realm="ccrag"'
        return headers

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the problem as JSON."""
        return {
            "type": f"urn:ccrag:problem:{self.code}",
            "title": self.code.replace("_", " "),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "request_id": request_id,
        }


def not_available() -> ProblemError:
    """Return a document that is not there or not for this caller; the same words for both."""
    return ProblemError(
        "not_available", "a document that was asked for is not available; correct the ids"
    )


def unknown_index() -> ProblemError:
    """Return an index that is not there or not for this caller."""
    return ProblemError("unknown_index", "no such index is available")


def problem_of(error: Exception, *, detailed: bool) -> ProblemError:
    """
    Return what the caller is told of `error`.

    Args:
        detailed: tell the error's own message, also where it speaks of indices and models.
    """
    if isinstance(error, ProblemError):
        return error
    code = _code_of(error)
    if code == "invalid_request":
        return ProblemError(code, str(error))
    if code != "internal" and detailed:
        return ProblemError(code, str(error))
    return ProblemError(code, _VAGUE[code])


def _code_of(error: Exception) -> ProblemCode:
    match error:
        case InvariantError():
            return "internal"
        case InputError() | ConfigError():
            return "invalid_request"
        case IndexMissingError() | IndexMismatchError():
            return "not_built"
        case EngineDownError():
            return "engine_unavailable"
        case EngineError():
            return "engine_failed"
        case ModelError():
            return "model_unavailable"
        case CcragError() | _:
            return "internal"
