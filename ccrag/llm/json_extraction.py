"""
Read the JSON in a model's text, whatever prose, fences or thinking surround it.

Pure, and linear in the length of the text, whatever it holds. What was repaired is said, so that
nobody takes a guess for what the model wrote.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ccrag.llm.lenient_json import JsonReader
from ccrag.llm.thinking import ThinkingTag, find_tag

AROUND = "text around the JSON was passed over"
_OPENING = re.compile(r"[\[{]")
_BLANK = " \t\r\n\ufeff"
_LOOK_BACK = 40
_INSIDE = re.compile(r"""(?:["'”]\s{0,9}:|[\w}\]"'”]\s{0,9},|[\[{])\s{0,20}\Z""")
"""Ends what stands before a value that is a part of a larger one."""


@dataclass(frozen=True, slots=True)
class FoundJson:
    """A JSON value of a text, and how it was found."""

    value: Any
    repairs: tuple[str, ...] = ()
    """Empty when the text was that value and nothing else."""
    values: int = 1
    """The number of such values in the text; of several the last is here."""


@dataclass(slots=True)
class Spoken:
    """A text without the model's thinking."""

    values: list[FoundJson] = field(default_factory=list)
    """The whole JSON objects and lists in order, none that is a part of another."""
    pieces: list[str] = field(default_factory=list)
    thought: bool = False
    """True where there was any thinking."""

    @property
    def text(self) -> str:
        """Return the text without thinking."""
        return "".join(self.pieces)


def is_object(value: object) -> bool:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def find_json(text: str, *, wanted: Callable[[Any], bool] = is_object) -> FoundJson | None:
    """
    Return the JSON value in `text` that is `wanted`; None when there is no whole one.

    What a model puts around it is passed over: thinking aloud, code fences, prose. Of several
    values the last counts, since models speak of what they read first and answer then. A value
    that is a part of a larger, broken one does not count: what is missing could change its sense.
    """
    values = [found for found in spoken(text).values if wanted(found.value)]
    if not values:
        return None
    last = values[-1]
    several = (f"of {len(values)} JSON values the last was taken",) if len(values) > 1 else ()
    told = sorted((*several, *last.repairs), key=lambda repair: repair != AROUND)
    return FoundJson(last.value, tuple(told), len(values))


def json_values(text: str) -> list[Any]:
    """Return the whole JSON objects and lists in `text`, in order, outside thinking."""
    return [found.value for found in spoken(text).values]


def without_thinking(text: str) -> str:
    """Return `text` without the thinking aloud in it."""
    return spoken(text).text


def spoken(text: str) -> Spoken:
    """
    Read `text` once: its JSON values, and what is no thinking.

    What looks like a tag of thinking within a whole JSON value is what that value says.
    """
    scan = _Scan(text)
    tag, opening = find_tag(text), _OPENING.search(text)
    while tag or opening:
        if tag and (opening is None or tag.start <= opening.start()):
            if not scan.think(tag):
                return scan.said
        elif opening:
            scan.read(opening.start())
        if tag and tag.start < scan.at:
            tag = find_tag(text, scan.at)
        if opening and opening.start() < scan.at:
            opening = _OPENING.search(text, scan.at)
    scan.said.pieces.append(text[scan.shown :])
    return scan.said


class _Scan:
    """The part of a text that was read, and the values found in it."""

    def __init__(self, text: str) -> None:
        self.said = Spoken()
        self.at = 0
        self.shown = 0
        """From here on nothing is among the pieces yet."""
        self._text = text
        self._reader = JsonReader(text)
        self._broken = False
        stripped = text.lstrip(_BLANK)
        self._first = len(text) - len(stripped)
        self._last = self._first + len(stripped.rstrip(_BLANK))

    def think(self, tag: ThinkingTag) -> bool:
        """Pass over the thinking that `tag` begins or ends; return whether a text follows."""
        said = self.said
        said.thought = True
        end: int | None = tag.end
        if tag.opens:
            said.pieces.append(self._text[self.shown : tag.start])
            end = tag.end_in(self._text)
        else:
            said.values.clear()
            said.pieces.clear()
        if end is None:
            return False
        self.at = self.shown = end
        return True

    def read(self, start: int) -> None:
        """Take the JSON value that begins at `start`, or pass over its bracket."""
        found = self._reader.read(start)
        if found is None:
            self._broken = True
            self.at = start + 1
            return
        self.at = found.end
        before = self._text[max(0, start - _LOOK_BACK) : start]
        if not (self._broken and _INSIDE.search(before)):
            whole = (start, found.end) == (self._first, self._last)
            around = () if whole else (AROUND,)
            self.said.values.append(FoundJson(found.value, (*around, *found.repairs)))
