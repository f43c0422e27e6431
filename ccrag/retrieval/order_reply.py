"""
A listwise reranker's reply, read to an order of the passages it was shown. Pure.

Whatever a reply says, every passage stands in the order exactly once: none is lost, none is added.
What was repaired on the way is said.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ccrag.llm.json_extraction import find_json, json_values, without_thinking
from ccrag.llm.labels import leaves, numbers_in
from ccrag.text.truncate import short_repr

ORDER_KEYS = (
    "order",
    "ranking",
    "ranked",
    "reranked",
    "sorted",
    "results",
    "result",
    "ids",
    "passages",
)
"""Keys under which models put the order; the first is the one asked for."""
MAX_TOLD = 5

_CHAIN = re.compile(r"\[?p?[0-9]{1,6}\]?(?:\s*>\s*\[?p?[0-9]{1,6}\]?)+", re.IGNORECASE)
"""`[3] > [1] > [2]`, which models trained as listwise rerankers (RankGPT's kind) reply."""
_BROKEN = re.compile(r"""\border["']?\s*[:=]\s*\[(?P<ids>[^\]]*)(?P<end>\]?)""", re.IGNORECASE)
"""An order in JSON that is cut off, or in what only looks like JSON."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of `n` passages."""

    places: tuple[int, ...]
    """Places of the passages as shown, from 0, best first; each of `range(n)` once."""
    repairs: tuple[str, ...] = ()
    """Empty when the reply was as asked for."""
    readable: bool = True
    """False: the reply named no passage, and the order is the one they were shown in."""


class _FoundOrder(NamedTuple):
    """The text that should hold the order, and how it was found."""

    items: list[Any]
    repairs: tuple[str, ...] = ()


def label(place: int) -> str:
    """Return what the passage at `place`, from 0, is called in a prompt: `p1`, `p2`, …"""
    return f"p{place + 1}"


def read_order(text: str, count: int) -> Order:
    """
    Return the order that a reply gives to `count` passages, which were shown as `label` names them.

    Never raises. Read are `{"order": […]}`, also with prose around it, under another key, cut off
    or not quite JSON; a bare list; and `[3] > [1]`. Ids count as labels or as numbers from 1.
    Unknown and repeated ones are left out; passages that are not named follow in the order shown.
    """
    shown = tuple(range(count))
    found = _found(text)
    if found is None:
        return Order(shown, (f"no order in {short_repr(text)}",), readable=False)
    named, nested = leaves(found.items)
    names = [(leaf, number) for leaf in named for number in _numbers(leaf) or (0,)]
    known = dict.fromkeys(n - 1 for _, n in names if 1 <= n <= count)
    if not known:
        return Order(shown, (f"no passage is named in {short_repr(text)}",), readable=False)
    missing = [place for place in shown if place not in known]
    repairs = [
        *found.repairs,
        *(["lists within the list were taken as one"] if nested else []),
        *_told("ids written in another way than shown", _reworded(names, count)),
        *_told("unknown ids left out", _unknown(names, count)),
        *_told("repeated ids left out", _repeated(names, count)),
        *_told("ids not named, put last as they stood", map(label, missing)),
    ]
    return Order((*known, *missing), tuple(repairs))


def _found(text: str) -> _FoundOrder | None:
    """Return where the order stands: what was asked for before what only resembles it."""
    found = _in_object(text)
    if found is not None:
        return found
    spoken = without_thinking(text)
    return _in_broken(spoken) or _in_chain(spoken) or _in_list(spoken)


def _in_object(text: str) -> _FoundOrder | None:
    found = find_json(text, wanted=lambda value: _under_key(value) is not None)
    under = None if found is None else _under_key(found.value)
    if found is None or under is None:
        return None
    key, value = under
    renamed = () if key == ORDER_KEYS[0] else (f"the order stands under {short_repr(key)}",)
    items = value if isinstance(value, list) else [value]
    return _FoundOrder(items, (*found.repairs, *renamed))


def _under_key(value: Any) -> tuple[str, Any] | None:
    """Return the first known key of an object and what it holds, through objects within."""
    under: tuple[str, Any] | None = None
    while isinstance(value, Mapping):
        held = {str(key).strip().casefold(): inner for key, inner in value.items()}
        key = next((key for key in ORDER_KEYS if key in held), None)
        if key is None:
            break
        value = held[key]
        under = key, value
    return under


def _in_broken(text: str) -> _FoundOrder | None:
    orders = list(_BROKEN.finditer(text))
    if not orders:
        return None
    last = orders[-1]
    whole = last["ids"] if last["end"] else last["ids"].rpartition(",")[0]
    cut = "not whole JSON" if last["end"] else "cut off"
    return _FoundOrder(_labels_in(whole), (f"the order is {cut}: the ids in it were read",))


def _in_chain(text: str) -> _FoundOrder | None:
    chains = _CHAIN.findall(text)
    told = ("`>` between ids was read as their order",)
    return _FoundOrder(_labels_in(chains[-1]), told) if chains else None


def _labels_in(text: str) -> list[Any]:
    return [label(number - 1) for number in _numbers(text)]


def _in_list(text: str) -> _FoundOrder | None:
    """Return the JSON list that names most, of equal ones the last."""
    lists = [value for value in json_values(text) if isinstance(value, list)]
    if not lists:
        return None
    best = max(reversed(lists), key=lambda value: sum(map(bool, map(_numbers, leaves(value)[0]))))
    several = (f"of {len(lists)} lists the longest was taken",) if len(lists) > 1 else ()
    return _FoundOrder(best, ("a list without its object", *several))


def _numbers(leaf: Any) -> tuple[int, ...]:
    return numbers_in(leaf, "p")


def _reworded(names: Sequence[tuple[Any, int]], count: int) -> Iterator[str]:
    return (short_repr(leaf) for leaf, n in names if 1 <= n <= count and leaf != label(n - 1))


def _unknown(names: Sequence[tuple[Any, int]], count: int) -> Iterator[str]:
    return (short_repr(leaf) for leaf, number in names if not 1 <= number <= count)


def _repeated(names: Sequence[tuple[Any, int]], count: int) -> Iterator[str]:
    counts = Counter(number for _, number in names if 1 <= number <= count)
    return (label(number - 1) for number, times in counts.items() if times > 1)


def _told(what: str, of: Iterator[str]) -> Iterator[str]:
    """Yield one line on `what`, with the first of them; none when there are none."""
    told = list(dict.fromkeys(of))
    if told:
        more = f" and {len(told) - MAX_TOLD} more" if len(told) > MAX_TOLD else ""
        yield f"{what}: {', '.join(told[:MAX_TOLD])}{more}"
