"""
JSON out of a model's text: whole where it is, found where prose, fences or a cut stand around it.

Pure. What was repaired is said, so that nobody takes a guess for what the model wrote.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class FoundJson:
    """A JSON value of a text, and how it was come by."""

    value: Any
    repairs: tuple[str, ...] = ()
    """Empty when the text was that value and nothing else."""
    values: int = 1
    """How many such values the text holds; of several the last is here."""


def is_object(value: object) -> bool:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def find_json(text: str, *, wanted: Callable[[Any], bool] = is_object) -> FoundJson | None:
    """
    The JSON value in `text` that is `wanted`; None when there is no whole one.

    A text that is one value is taken as it is. Otherwise what a model puts around it is passed
    over: thinking aloud, code fences, prose. Of several values the last counts, since models speak
    of what they read first and answer then.
    """
    whole = _whole(text)
    if whole is not None and wanted(whole):
        return FoundJson(whole)
    values = [value for value in json_values(text) if wanted(value)]
    if not values:
        return None
    repairs = ["text around the JSON was passed over"]
    if len(values) > 1:
        repairs.append(f"of {len(values)} JSON values the last was taken")
    return FoundJson(values[-1], tuple(repairs), len(values))


def json_values(text: str) -> list[Any]:
    """The whole JSON objects and lists in `text`, in order, none that stands inside another."""
    return list(_values(without_thinking(text)))


def without_thinking(text: str) -> str:
    """`text` without the thinking aloud that some models begin with."""
    return _THINKING.sub("", text)


def _whole(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> Iterator[object]:
    at = 0
    while (start := _next_opening(text, at)) is not None:
        try:
            value, at = _DECODER.raw_decode(text, start)
        except ValueError:
            at = start + 1
        except RecursionError:
            return  # brackets by the thousand: nothing that a reader would call an answer
        else:
            yield value


def _next_opening(text: str, at: int) -> int | None:
    return min((place for mark in "{[" if (place := text.find(mark, at)) >= 0), default=None)
