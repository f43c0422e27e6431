"""Several long searches at once, page by page: one msearch for the first pages of all of them."""

from collections.abc import Callable, Iterable, Sequence

from ccrag.engine.search import Slot
from ccrag.errors import EngineError
from ccrag.types import JSON

PAGE = 5_000

PagesOrError = list[JSON] | EngineError
"""The responses of one search in order, or why there are none."""


def all_pages(
    numbers: Iterable[int],
    body_of: Callable[[int, str | None], JSON],
    send: Callable[[Sequence[JSON]], list[Slot]],
) -> dict[int, PagesOrError]:
    """
    Return every page of the searches that `numbers` stand for; one that fails ends alone.

    Args:
        body_of: the search of a number behind an `_id`, by which its hits must be sorted, in
            pages of `PAGE`; None: from the start.
        send: one response or error per body, in order.
    """
    pages: dict[int, PagesOrError] = {number: [] for number in numbers}
    waiting: dict[int, str | None] = dict.fromkeys(pages)
    while waiting:
        slots = send([body_of(number, after) for number, after in waiting.items()])
        answered, waiting = zip(waiting, slots, strict=True), {}
        for number, slot in answered:
            held = pages[number]
            if isinstance(slot, EngineError) or isinstance(held, EngineError):
                pages[number] = slot if isinstance(slot, EngineError) else held
                continue
            held.append(slot)
            found = slot["hits"]["hits"]
            if len(found) == PAGE:
                waiting[number] = found[-1]["_id"]
    return pages
