"""Work under way at once."""

import threading

import pytest

from ccrag.concurrency import all_at_once


def test_all_items_are_under_way_together() -> None:
    everybody = threading.Barrier(5, timeout=20)
    all_at_once(lambda _: everybody.wait(), range(5))


def test_nothing_is_no_work() -> None:
    all_at_once(lambda _: pytest.fail("called"), ())


def test_one_item_is_worked_on_by_the_caller_whom_an_interrupt_reaches() -> None:
    threads: list[threading.Thread] = []
    all_at_once(lambda _: threads.append(threading.current_thread()), "a")
    assert threads == [threading.current_thread()]


def test_what_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        all_at_once(lambda item: 1 / item, (1, 0, 2))
