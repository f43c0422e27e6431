"""Every error has its code, its status and words fit for whoever reads them."""

import pytest

from ccrag.errors import (
    BulkWriteError,
    CandidateLeakError,
    CcragError,
    ConfigError,
    EmptyCandidatesError,
    EngineDownError,
    EngineError,
    IndexMismatchError,
    IndexMissingError,
    InputError,
    ModelError,
)
from ccrag.web.problems import CODES, ProblemError, not_available, problem_of

SECRET = "index ccrag-hidden-passages"


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (InputError("bad"), "invalid_request", 422),
        (EmptyCandidatesError("q"), "invalid_request", 422),
        (ConfigError("bad"), "invalid_request", 422),
        (IndexMissingError(SECRET), "not_built", 409),
        (IndexMismatchError(SECRET), "not_built", 409),
        (EngineDownError(SECRET), "engine_unavailable", 503),
        (EngineError(SECRET), "engine_failed", 503),
        (BulkWriteError(SECRET, {"a": "b"}), "engine_failed", 503),
        (ModelError(SECRET), "model_unavailable", 503),
        (CandidateLeakError("q", [SECRET]), "internal", 500),
        (CcragError(SECRET), "internal", 500),
        (ValueError(SECRET), "internal", 500),
    ],
)
def test_errors_become_problems(error: Exception, code: str, status: int) -> None:
    vague, detailed = problem_of(error, detailed=False), problem_of(error, detailed=True)
    assert (vague.code, vague.status) == (detailed.code, detailed.status) == (code, status)
    assert SECRET not in vague.detail
    assert (detailed.detail == str(error)) == (code != "internal")


def test_a_problem_stays_itself() -> None:
    given = not_available()
    assert problem_of(given, detailed=False) is given
    assert given.body("r1") == {
        "type": "urn:ccrag:problem:not_available",
        "title": "not available",
        "status": 404,
        "code": "not_available",
        "detail": given.detail,
        "request_id": "r1",
    }


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_status_and_says_when_to_come_back(code: str) -> None:
    problem = ProblemError(code, "x")  # type: ignore[arg-type]
    assert 400 <= problem.status < 600
    assert ("Retry-After" in problem.headers) == (problem.status in (429, 503))
    assert ("WWW-Authenticate" in problem.headers) == (problem.status == 401)
