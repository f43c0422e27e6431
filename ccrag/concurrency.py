"""Work in threads: ahead of its reader, in order, or one at a time."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Full, Queue
from threading import Event, Lock, Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
POLL_S = 0.1


StillWanted = Callable[[], None]
"""Raises when nobody wants the work any more; called often while it goes on."""


class _End:
    """Marks the end of the items, with the error that ended them, if any."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def prefetched(items: Iterable[T], *, depth: int) -> Generator[T, None, None]:
    """
    Yield `items` in order while a thread makes up to `depth` of them ahead.

    An error in `items` is raised here, after the items before it. When the reader stops early, the
    thread ends before `close` returns: close it (`contextlib.closing`) before what it reads from.
    """
    queue: Queue[T | _End] = Queue(maxsize=depth)
    stopped = Event()
    thread = Thread(target=_fill, args=(items, queue, stopped), daemon=True)
    thread.start()
    try:
        while not isinstance(item := queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        thread.join()


def _fill(items: Iterable[T], queue: "Queue[T | _End]", stopped: Event) -> None:
    error: BaseException | None = None
    try:
        for item in items:
            if not _put(queue, item, stopped):
                return
    except BaseException as caught:  # noqa: BLE001  # handed to the reader, who raises it
        error = caught
    _put(queue, _End(error), stopped)


def _put(queue: "Queue[T | _End]", item: "T | _End", stopped: Event) -> bool:
    """Tell whether `item` went in before the reader stopped."""
    while not stopped.is_set():
        try:
            queue.put(item, timeout=POLL_S)
        except Full:
            continue
        return True
    return False


def in_order(work: Callable[[T], R], items: Iterable[T], *, workers: int) -> Iterator[R]:
    """
    Yield `work(item)` for each item, in order, with up to `workers` under way at once.

    An error is raised where its result would have come. Work not begun when the reader stops is
    not done.
    """
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def all_at_once(work: Callable[[T], object], items: Sequence[T]) -> None:
    """
    Do `work` on each item, all under way at once: for work that waits for somebody who sets limits.

    An error is raised when the work on the items before it is done. One item alone is worked on in
    the caller's thread, where an interrupt ends it at once.
    """
    if len(items) == 1:
        work(items[0])
    elif items:
        for _ in in_order(work, items, workers=len(items)):
            pass


def one_at_a_time(work: Callable[P, R]) -> Callable[P, R]:
    """Return `work` for several threads, though it can be used by one at a time only."""
    lock = Lock()

    def locked(*args: P.args, **kwargs: P.kwargs) -> R:
        with lock:
            return work(*args, **kwargs)

    return locked
