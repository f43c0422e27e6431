"""
Bound the requests that work at once, and their time, and end those that nobody waits for.

Work is plain Python in a thread and looks up between its stages only: one whose caller is gone, or
whose time is over, ends there, and keeps its place until it has ended, so that forgotten work
never adds up.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event
from typing import TypeVar

from ccrag.pipeline.stages import StageCallback, no_op
from ccrag.pipeline.state import QueryState
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError

T = TypeVar("T")
Gone = Callable[[], Awaitable[None]]
"""Returns when the caller does not wait any more."""


class AbandonedError(Exception):
    """Raised inside work that nobody waits for; never leaves the gate."""


async def never_gone() -> None:
    """A caller who always waits."""
    await asyncio.Event().wait()


class WorkerPool:
    """A bounded number of workers, and a bounded queue before them."""

    def __init__(
        self,
        *,
        concurrency: int,
        waiting: int,
        timeout_s: float,
        metrics: Metrics,
        shared: bool = False,
    ) -> None:
        """
        Args:
            concurrency: requests that work at once.
            waiting: requests that may wait for their turn.
            timeout_s: time of a request, waiting included.
            shared: whether one owner may take half of the places only, so that others find some.
        """
        self._places = concurrency + waiting
        self._share = max(1, self._places // 2) if shared else self._places
        self._owners: Counter[str] = Counter()
        self._timeout_s = timeout_s
        self._metrics = metrics
        self._taken = 0
        self._turns = asyncio.Semaphore(concurrency)
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="ccrag-work")

    async def run(
        self,
        work: Callable[[StageCallback], T],
        *,
        owner: str,
        gone: Gone = never_gone,
        on_stage: StageCallback = no_op,
    ) -> T:
        """
        Return what `work` returns; it is handed a watch to call between its stages.

        Args:
            owner: the name of the caller, whose places are counted together.
            watch: called between stages too, from the working thread.

        Raises:
            ProblemError: too many wait already, it took too long, or the caller is gone.
        """
        if self._taken >= self._places:
            raise ProblemError(
                "too_many_requests", "the server is busy; come back after the time in Retry-After"
            )
        if self._owners[owner] >= self._share:
            raise ProblemError(
                "too_many_requests", "too many of your requests are under way; wait for one to end"
            )
        self._taken += 1
        self._owners[owner] += 1
        self._metrics.waiting.inc()
        stop = Event()
        task = asyncio.ensure_future(self._in_turn(work, owner, _stoppable(on_stage, stop), stop))
        leaving = asyncio.ensure_future(gone())
        try:
            done, _ = await asyncio.wait(
                (task, leaving), timeout=self._timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if task in done:
                return task.result()
            if leaving in done:
                raise ProblemError("client_gone", "nobody waits for this answer any more")
            raise ProblemError("timeout", f"not done within {self._timeout_s:g} s")
        finally:
            stop.set()
            leaving.cancel()
            task.add_done_callback(_forgotten)

    async def _in_turn(
        self, work: Callable[[StageCallback], T], owner: str, on_stage: StageCallback, stop: Event
    ) -> T:
        """Wait for a worker, then work; the place is free again when the work has ended."""
        try:
            async with self._turns:
                self._metrics.waiting.dec()
                self._metrics.working.inc()
                try:
                    if stop.is_set():
                        raise AbandonedError
                    loop = asyncio.get_running_loop()
                    context = copy_context()  # so that logs of the thread name the request
                    return await loop.run_in_executor(self._pool, context.run, work, on_stage)
                finally:
                    self._metrics.working.dec()
        finally:
            self._taken -= 1
            self._owners[owner] -= 1
            if not self._owners[owner]:
                del self._owners[owner]

    async def close(self) -> None:
        """Let the work under way end."""
        await asyncio.to_thread(self._pool.shutdown)


def _stoppable(on_stage: StageCallback, stop: Event) -> StageCallback:
    def look(stage: str, states: Sequence[QueryState]) -> None:
        if stop.is_set():
            raise AbandonedError
        on_stage(stage, states)

    return look


def _forgotten(task: "asyncio.Task[T]") -> None:
    """Take the result of work that nobody waits for, so that nothing complains of it."""
    if not task.cancelled():
        task.exception()
