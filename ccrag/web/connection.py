"""
The engine's client, and its way back.

While the engine is known to be down every use fails at once, and one thread looks for it: at a URL
it asks until there is an answer; the embedded node it starts again. Requests never start a node.
"""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock, Thread

from ccrag.config import Settings
from ccrag.engine.client import Client, Notify, open_client, silent
from ccrag.engine.indexes import await_service, check_writable, searchable
from ccrag.errors import EngineDownError, EngineError

log = logging.getLogger("ccrag.web")
PAUSE_S = 1.0
READY_S = 10.0
UPLOAD_PREFIX = "upload-"
"""Of the names of indexes that come and go."""
PROBE_S = 2.0
"""Of one look at the engine, and how long a server waits for it before it calls itself unready."""
FRESH_S = 1.0
"""A look is not repeated within this time: whoever asks whether we are ready needs no token."""


class EngineConnection:
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
        self._writes = settings.serve.uploads > 0
        self._prober = ThreadPoolExecutor(1, "ccrag-ready")
        self._probe: Future[str | None] | None = None
        self._probed = 0.0
        self._served: set[str] = set()

    def on_return(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time the engine is back."""
        self._listeners.append(listener)

    @property
    def down(self) -> bool:
        """Tell whether the engine is known to be out of reach."""
        return self._down is not None

    def client(self) -> Client:
        """
        Return the client.

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

    def probe(self) -> "Future[str | None]":
        """
        Return why requests cannot be answered now, None if they can; the look ends by itself.

        They can when the engine answers, an index can be searched (of those seen before, if any
        were), and, where uploads are kept, the engine takes a new one.
        """
        with self._lock:
            now = time.monotonic()
            probe = self._probe
            if probe is None or (probe.done() and now - self._probed > FRESH_S):
                self._probed = now
                probe = self._probe = self._prober.submit(self._look_once)
            return probe

    def _look_once(self) -> str | None:
        try:
            with self.watching():
                client = self.client()
                found, reason = searchable(client, timeout_s=PROBE_S)
                if self._writes:
                    check_writable(client, timeout_s=PROBE_S)
        except EngineError as error:
            return str(error)
        if not found and (reason is not None or self._served):
            return reason or f"index {min(self._served)!r} is gone, and there is no other"
        self._served |= {name for name in found if not name.startswith(UPLOAD_PREFIX)}
        return None

    def close(self) -> None:
        """End the search for the engine, if there is one."""
        self._closing.set()
        self._prober.shutdown(wait=False, cancel_futures=True)
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
