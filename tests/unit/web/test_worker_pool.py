"""The gate: how many, how long, and for whom."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

from ccrag.pipeline.stages import StageCallback
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError
from ccrag.web.worker_pool import AbandonedError, WorkerPool, never_gone

T = TypeVar("T")
LONG_S = 20.0


class Slow:
    """Work that goes on stage by stage until it is let go, or told that nobody waits."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.let_go = threading.Event()
        self.abandoned = threading.Event()

    def __call__(self, on_stage: StageCallback) -> str:
        self.began.set()
        while not self.let_go.wait(0.005):
            try:
                on_stage("stage", [])
            except AbandonedError:
                self.abandoned.set()
                raise
        return "done"


def gate(*, concurrency: int = 1, waiting: int = 0, timeout_s: float = LONG_S) -> WorkerPool:
    return WorkerPool(
        concurrency=concurrency, waiting=waiting, timeout_s=timeout_s, metrics=Metrics()
    )


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    pytest.fail("did not happen")


def test_work_is_done_in_another_thread_with_what_is_seen_on_the_way() -> None:
    seen: list[str] = []

    def work(on_stage: StageCallback) -> str:
        on_stage("lists", [])
        return threading.current_thread().name

    async def scene() -> str:
        return await gate().run(work, on_stage=lambda stage, _: seen.append(stage), owner="anna")

    assert asyncio.run(scene()).startswith("ccrag-work")
    assert seen == ["lists"]


def test_what_work_raises_is_raised() -> None:
    def work(_: StageCallback) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(gate().run(work, owner="anna"))


def test_one_more_than_may_wait_is_refused_and_room_comes_back() -> None:
    async def scene() -> None:
        busy, door = Slow(), gate(concurrency=1, waiting=1)
        first = asyncio.create_task(door.run(busy, owner="anna"))
        await until(busy.began.is_set)
        second = asyncio.create_task(door.run(lambda _: "second", owner="anna"))
        await asyncio.sleep(0.02)
        assert not second.done()
        with pytest.raises(ProblemError, match="too_many_requests") as refused:
            await door.run(lambda _: "third", owner="anna")
        assert refused.value.status == 429
        assert refused.value.headers["Retry-After"] == "1"
        busy.let_go.set()
        assert await first == "done"
        assert await second == "second"
        assert await door.run(lambda _: "third", owner="anna") == "third"

    asyncio.run(scene())


def test_time_ends_work_at_its_next_stage() -> None:
    async def scene() -> None:
        slow, door = Slow(), gate(timeout_s=0.05)
        with pytest.raises(ProblemError, match=r"timeout: not done within 0.05 s"):
            await door.run(slow, owner="anna")
        await until(slow.abandoned.is_set)

    asyncio.run(scene())


def test_waiting_for_a_turn_takes_time_too_and_such_work_never_begins() -> None:
    async def scene() -> None:
        deaf, late, door = threading.Event(), Slow(), gate(waiting=1, timeout_s=0.1)
        first = asyncio.create_task(door.run(lambda _: deaf.wait(LONG_S), owner="anna"))
        await asyncio.sleep(0.02)
        with pytest.raises(ProblemError, match="timeout"):
            await door.run(late, owner="anna")
        with pytest.raises(ProblemError, match="timeout"):
            await first
        deaf.set()
        await asyncio.sleep(0.1)
        assert await door.run(lambda _: "next", owner="anna") == "next"
        assert not late.began.is_set()

    asyncio.run(scene())


def test_a_caller_who_goes_ends_the_work() -> None:
    async def scene() -> None:
        slow, door, leaving = Slow(), gate(), asyncio.Event()

        async def gone() -> None:
            await leaving.wait()

        running = asyncio.create_task(door.run(slow, gone=gone, owner="anna"))
        await until(slow.began.is_set)
        leaving.set()
        with pytest.raises(ProblemError, match="client_gone"):
            await running
        await until(slow.abandoned.is_set)

    asyncio.run(scene())


def test_a_cancelled_request_ends_the_work() -> None:
    async def scene() -> None:
        slow, door = Slow(), gate()
        running = asyncio.create_task(door.run(slow, owner="anna"))
        await until(slow.began.is_set)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(slow.abandoned.is_set)
        assert await door.run(lambda _: "next", owner="anna") == "next"

    asyncio.run(scene())


def test_abandoned_work_keeps_its_place_until_it_has_ended() -> None:
    async def scene() -> None:
        deaf, door = threading.Event(), gate(timeout_s=0.05)
        with pytest.raises(ProblemError, match="timeout"):
            await door.run(lambda _: deaf.wait(LONG_S), owner="anna")
        with pytest.raises(ProblemError, match="too_many_requests"):
            await door.run(lambda _: "next", owner="anna")
        deaf.set()
        await asyncio.sleep(0.1)
        assert await door.run(lambda _: "next", owner="anna") == "next"

    asyncio.run(scene())


def test_a_patient_caller_is_never_gone() -> None:
    async def scene() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(never_gone(), 0.01)

    asyncio.run(scene())


def test_one_owner_of_a_shared_gate_leaves_places_to_others() -> None:
    async def scene() -> None:
        door = WorkerPool(
            concurrency=2, waiting=2, timeout_s=LONG_S, metrics=Metrics(), shared=True
        )
        slow = [Slow(), Slow()]
        tasks = [asyncio.create_task(door.run(work, owner="anna")) for work in slow]
        await until(lambda: all(work.began.is_set() for work in slow))
        with pytest.raises(ProblemError, match="of your requests"):
            await door.run(lambda _: "third", owner="anna")
        other = asyncio.create_task(door.run(lambda _: "other", owner="ben"))
        for work in slow:
            work.let_go.set()
        assert await other == "other"
        await asyncio.gather(*tasks)
        assert await door.run(lambda _: "third", owner="anna") == "third"

    asyncio.run(scene())
