"""
The engine's client, and its way back.

While the engine is known to be down every use fails at once, and one thread looks for it: at a URL
it asks until there is an answer; the embedded node it starts again. Requests never start a node.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from ccrag.config import Settings
from ccrag.engine.client import Client, Notify, open_client, silent
from ccrag.engine.indexes import await_service
from ccrag.errors import EngineDownError, EngineError

log = logging.getLogger("ccrag.web")
PAUSE_S = 1.0
READY_S = 10.0


class EngineLink:
    """A client for whoever asks, as long as the engine is there; safe for threads."""

    def __init__(self, settings: Settings, *, notify: Notify = silent) -> None:
        """
        Open the client; the embedded node is started when it does not run.

        Raises:
            EngineError: there is no engine to begin with.
        """
        self._settings = settings
        self._client = open_client(settings, notify=notify)
        self._lock = Lock()
        self._down: str | None = None
        self._closing = Event()
        self._seeker: Thread | None = None
        self._listeners: list[Callable[[], None]] = []

    def on_return(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time the engine is back."""
        self._listeners.append(listener)

    @property
    def down(self) -> bool:
        """Whether the engine is known to be out of reach."""
        return self._down is not None

    def client(self) -> Client:
        """
        The client.

        Raises:
            EngineDownError: the engine is being looked for.
        """
        if self._down is not None:
            raise EngineDownError(self._down)
        return self._client

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Let errors through, and begin to look for the engine when one says that it is down."""
        try:
            yield
        except EngineDownError as error:
            self._seek(str(error))
            raise

    def close(self) -> None:
        """End the search for the engine, if there is one."""
        self._closing.set()
        if self._seeker is not None:
            self._seeker.join()

    def _seek(self, reason: str) -> None:
        with self._lock:
            if self._down is not None or self._closing.is_set():
                return
            self._down = reason
            self._seeker = Thread(target=self._look, name="ccrag-engine", daemon=True)
            self._seeker.start()
        log.error("engine lost", extra={"facts": {"reason": reason}})

    def _look(self) -> None:
        while not self._closing.is_set():
            try:
                client = open_client(self._settings)
                await_service(client, timeout_s=READY_S)
            except EngineError as error:
                log.warning("engine still away", extra={"facts": {"reason": str(error)}})
                self._closing.wait(PAUSE_S)
                continue
            with self._lock:
                self._client, self._down = client, None
            for listener in self._listeners:
                listener()
            log.info("engine found again")
            return
