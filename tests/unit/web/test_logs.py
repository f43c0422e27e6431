"""Log lines are JSON, name their request, and nothing else writes between them."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from ccrag.web.logs import log_to_stderr, request_id


@pytest.fixture
def restored() -> Iterator[None]:
    root, ours, engine = (logging.getLogger(name) for name in ("", "ccrag", "opensearch"))
    before = list(root.handlers), root.level, ours.level, engine.level
    yield
    root.handlers[:] = before[0]
    for logger, level in zip((root, ours, engine), before[1:], strict=True):
        logger.setLevel(level)


@pytest.mark.usefixtures("restored")
def test_a_record_is_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    token = request_id.set("r1")
    logging.getLogger("ccrag.web").info("request", extra={"facts": {"status": 200}})
    request_id.reset(token)
    logging.getLogger("ccrag.web").info("started")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["level"], first["request_id"]) == ("request", "info", "r1")
    assert first["status"] == 200
    assert first["time"].endswith("+00:00")
    assert "request_id" not in second


@pytest.mark.usefixtures("restored")
def test_a_bug_comes_with_its_traceback_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    try:
        raise ValueError("broken\nin two lines")
    except ValueError:
        logging.getLogger("ccrag.web").exception("bug")
    [line] = capsys.readouterr().err.splitlines()
    told: dict[str, Any] = json.loads(line)
    assert "ValueError: broken" in told["traceback"]


@pytest.mark.usefixtures("restored")
def test_of_others_only_what_needs_attention(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    logging.getLogger("other").info("chatter")
    logging.getLogger("opensearch").warning("GET ... [status:404]")
    assert capsys.readouterr().err == ""
    logging.getLogger("other").warning("attention")
    assert json.loads(capsys.readouterr().err)["event"] == "attention"


def test_the_agents_server_leaves_the_logs_alone() -> None:
    from ccrag.web.mcp_server import McpTools, build_server

    root = logging.getLogger()
    before = list(root.handlers), root.level
    build_server(McpTools(None, None, None))  # type: ignore[arg-type]
    assert (list(root.handlers), root.level) == before
