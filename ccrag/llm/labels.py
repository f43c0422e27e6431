"""
Read the labels by which a model names what it was shown: `p3`, `[P3]`, `"e1."`, `（1）`, `3`. Pure.

What is shown is numbered from 1 and labelled with a letter. A number is read in whatever digits and
brackets it stands.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from ccrag.llm.quote import visible

Letter = Literal["e", "p"]
"""Evidence or passages."""
WORDS: Mapping[Letter, str] = {
    "e": "evidences?|ev|sources?|ids?|refs?|references?|no|nr|e",
    "p": "passages?|documents?|docs?|ids?|p",
}
"""Words that a model may write before a number."""
ID_KEYS = ("id", "evidence_id", "passage_id", "evidence", "passage", "index", "number")
"""Keys that hold a label, where an object stands in its place."""
_NUMBER = r"([0-9]{1,6})(?!\w|\.[0-9])"
_APART = re.compile(r"[,;/&+|\s]+|\band\b|[)\]}>»”\"'`]{1,3}[(\[{<«“\"'`]")
_FRAME = "\"'`()[]{}<>«»“”‘’【】〔〕〈〉《》「」.:;,#*^_ \t\r\n"
"""Characters around a label that mean nothing."""


@lru_cache
def _labelled(letter: Letter) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.\-\u2212])(?:{WORDS[letter]})[\s_#:]{{0,3}}{_NUMBER}", re.IGNORECASE
    )


_BARE = re.compile(rf"(?<![\w.\-\u2212]){_NUMBER}")


@lru_cache
def _whole(letter: Letter) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{WORDS[letter]})[\s_#:.\-]{{0,3}})?([0-9]{{1,6}})", re.IGNORECASE)


def plain_digits(text: str) -> str:
    """Return the visible part of `text`, with full-width characters and all digits as ASCII."""
    folded = unicodedata.normalize("NFKC", visible(text))
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in folded
    )


def numbers_in(leaf: Any, letter: Letter) -> tuple[int, ...]:
    """
    Return the numbers that `leaf` names, in order, whatever else it says.

    Beside numbers with a label bare ones mean other things. No number: the empty tuple.
    """
    leaf = inner_id(leaf)
    if isinstance(leaf, str):
        text = plain_digits(leaf)
        return tuple(map(int, _labelled(letter).findall(text) or _BARE.findall(text)))
    number = _whole_number(leaf)
    return () if number is None else (number,)


def named_ids(leaf: Any, letter: Letter) -> tuple[int, ...] | None:
    """
    Return the numbers that `leaf` names and does nothing else; None when it says more than that.

    So `"e1-e3"` or `"about 3"` is nobody's label: what they mean would be a guess.
    """
    leaf = inner_id(leaf)
    if not isinstance(leaf, str):
        number = _whole_number(leaf)
        return None if number is None else (number,)
    numbers: list[int] = []
    text = _joined(plain_digits(leaf), letter)
    for name in _APART.split(text):
        bare = name.strip(_FRAME)
        if not bare:
            continue
        found = _whole(letter).fullmatch(bare)
        if found is None:
            return None
        numbers.append(int(found[1]))
    return tuple(numbers) or None


def leaves(items: list[Any]) -> tuple[list[Any], bool]:
    """Return what stands in a list and in lists within, in order; and whether any are within."""
    found: list[Any] = []
    waiting, nested = [*reversed(items)], False
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            nested = True
            waiting += reversed(item)
        else:
            found.append(item)
    return found, nested


def inner_id(leaf: Any) -> Any:
    """Return what an object holds under a key for labels; anything else as it is."""
    if isinstance(leaf, Mapping):
        return next((leaf[key] for key in ID_KEYS if key in leaf), None)
    return leaf


def _joined(text: str, letter: Letter) -> str:
    """Return `text` with nothing between a word and its number: `Evidence 1` as `Evidence1`."""
    return re.sub(rf"(?i)\b({WORDS[letter]})[\s#:.\-]{{1,3}}(?=[0-9])", r"\1", text)


def _whole_number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 else None  # NaN equals nothing
