"""schemathesis against the OpenAPI: whatever comes in, no 500 comes out, and what is said holds."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opensearchpy import OpenSearch
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.integration.building import build_index
from tests.integration.test_web_api import DOCUMENTS
from tests.serving import running, server_state

NAME = "test-web-fuzz"
EXAMPLES = 30
"""Requests an operation; the whole takes some ten seconds."""
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def url(client: OpenSearch, engine_url: str) -> Iterator[str]:
    build_index(client, NAME, DOCUMENTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRAG_ENGINE__URL", engine_url)
        with running(server_state("serve.uploads=2")) as base:
            yield base
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


def test_no_request_breaks_the_server(url: str) -> None:
    schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json")
    tried = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation: Any = found.ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), real=st.integers(0, 3))
        def send(case: Any, real: int) -> None:
            nonlocal tried
            tried += 1
            if real:
                aim(case, within=real > 1)
            case.call_and_validate(checks=CHECKS, timeout=60)

        send()
    assert tried >= 10 * EXAMPLES


def aim(case: Any, *, within: bool) -> None:
    """Let a request be about the index that is there, and about documents that are in it."""
    if "index" in (case.query or {}):
        case.query["index"] = NAME
    if "doc_id" in (case.query or {}) and within:
        case.query["doc_id"] = "res1"
    if isinstance(case.body, dict) and "index" in case.body:
        case.body["index"] = NAME
        if within:
            case.body |= {"candidates": ["res1", "res2"], "pipeline": None}
