"""Logs as JSON lines on stderr, each with its request's id; texts of questions are not in them."""

import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

request_id: ContextVar[str] = ContextVar("ccrag_request_id", default="")
"""The request that this task works on."""


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, event, request id, and the record's `facts`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **({"request_id": request_id.get()} if request_id.get() else {}),
            **facts,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def log_to_stderr() -> None:
    """Let records go to stderr as JSON lines: ccrag's, and of others what needs attention."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("ccrag").setLevel(logging.INFO)
    # The client warns of every 404 and lost connection; both become errors of ours, which are told.
    logging.getLogger("opensearch").setLevel(logging.CRITICAL)
