"""
Limit a connection before there is a request: uvicorn itself waits for ever for its head.

A connection that has not sent the whole head of a request in time is closed, and so is one beyond
the number that the server keeps open.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedProtocol(H11Protocol):
    """HTTP with bounds that `limited_protocol` sets."""

    max_connections: int
    head_s: float

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.abort()
            return
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        super().connection_lost(exc)
        self._stop_timer()

    def _watch_head(self) -> None:
        """Run the timer while a head is awaited; bytes that come meanwhile do not start it anew."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s, self.transport.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def limited_protocol(*, max_connections: int, head_s: float) -> type[asyncio.Protocol]:
    """
    Return the HTTP protocol for `uvicorn.Config(http=…)`.

    Args:
        max_connections: open at once; one more is closed before it is read.
        head_s: seconds from the first moment that a head may come to its last byte.
    """
    bounds = {"max_connections": max_connections, "head_s": head_s}
    return type("BoundedProtocol", (LimitedProtocol,), bounds)
