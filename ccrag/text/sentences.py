"""
Sentence spans that tile a text. Pure: no I/O, no settings.

One linear scan finds where a sentence may end; clear cases are decided here and doubtful ones by
nupunkt, which sees the word before and the word after only. So no input makes it slow (its own
scan is quadratic in long unspaced runs), and offsets never pass through it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from ccrag.text.sections import Heading, find_headings, skip_space
from ccrag.text.words import CJK
from ccrag.types import Span

_CLOSERS = re.escape("\"')]}*_”’»›」』】）》〉〕］｝")
_QUOTES = "\"'*_“‘«‹„"
_WIDE = "。！？｡।॥؟۔։"
_STOP = re.compile(
    rf"[\n.!?…．{_WIDE}](?:"
    # a blank line, a table row or a list item
    r"(?<=\n)[^\S\n]*+(?:\n\s*+|(?=[|•]|[-*+][ \t]))"
    # white space after the mark: doubtful
    rf"|(?<=[.!?…])[{_CLOSERS}]*+\s++(?=\S)"
    # marks that end a sentence by themselves
    rf"|(?<=[{_WIDE}])[{_WIDE}!?…]*+[{_CLOSERS}]*+\s*+"
    rf"|(?<=[{CJK}][!?…．])[!?…．]*+[{_CLOSERS}]*+\s*+(?=[{CJK}])"
    r")"
)
_BY_ITSELF = frozenset("([{")
_CONTINUES = frozenset("、，；：,;:")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5})\)?")
_MARKS = ".!?…"
_ONLY_MARKS = re.compile(r"[.!?…]+")
_RUSSIAN_ABBREVIATIONS = frozenset(
    ("акад", "г", "гл", "гр", "им", "напр", "обл", "проф", "рис", "см", "ср", "стр", "табл", "ул")
)
_REACH = 48
"""Characters looked at on either side of a mark; a longer word is no abbreviation."""


@cache
def _abbreviations() -> frozenset[str]:
    """Return the abbreviations of nupunkt: lower case, without the last full stop."""
    import nupunkt  # here, because it takes a tenth of a second

    return nupunkt.load("default").abbreviations


@lru_cache(maxsize=1 << 15)
def _nupunkt_splits(before: str, after: str) -> bool:
    """Tell whether nupunkt ends a sentence between these two words."""
    import nupunkt

    head = f"x {before} " if len(before) < 9 else f"{before} "  # alone, "3." is a list number to it
    return any(start == len(head) for start, _ in nupunkt.sent_spans(head + after))


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Tell whether the sentence from `start` ends at `stop`, a mark followed by white space."""
    mark, position = stop.group(), stop.start()
    if len(mark) > 2 and mark.count("\n") > 1:
        return True
    after = text[stop.end() : stop.end() + _REACH].split(None, 1)[0]
    if after[0] in _MARKS and _ONLY_MARKS.fullmatch(after):
        return False  # "! ! !" and ". . ." end at their last mark
    words = text[max(start, position - _REACH) : position].rsplit(None, 1)
    word = words[-1] if words else ""
    if mark[0] == "…" or (mark[0] == "." and word.endswith(".")):
        first = after.lstrip(_QUOTES)[:1]  # an ellipsis ends a sentence before a capital
        return first.isalpha() and not first.islower()
    if not word or text[position - 1].isspace():
        return True
    begins = position - len(word)
    if (begins == start or text[begins - 1] == "\n") and _ENUMERATOR.fullmatch(word):
        return False
    if mark[0] == ".":
        clear = _full_stop_ends(word, after)
        if clear is not None:
            return clear
    elif mark[1].isspace() and after.lstrip(_QUOTES)[:1].isalpha():
        return True
    return _nupunkt_splits(word + mark.rstrip(), _as_follower(after))


def _as_follower(after: str) -> str:
    """Return the beginning of the following word that nupunkt looks at, as the key of a cache."""
    first = after[0]
    if first in _BY_ITSELF:
        return first
    return "1" if first.isdigit() else after


def _full_stop_ends(word: str, after: str) -> bool | None:
    """Tell whether a full stop between the two words ends a sentence; None if in doubt."""
    first = after.lstrip(_QUOTES)[:1]
    if not word.isascii() and word.lower() in _RUSSIAN_ABBREVIATIONS:
        return False
    if first.isupper():
        if len(word) == 1 and word.isupper():
            return False  # an initial
        if not word[-1].isalpha() and word[-1] not in ".&":
            return True  # a number, a bracket, a quote
    elif first.islower() and not first.isascii():
        return False
    elif first.isdigit() and word[-1].isdigit():
        return True
    if len(word) > 2 and word.isalpha() and word.lower() not in _abbreviations():
        return True
    return None


def _ends_between(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the sentences of `text[start:end]` end, last one included; no heading inside."""
    for stop in _STOP.finditer(text, start, end):
        position = stop.end()
        if position == end:
            break
        if text[stop.start()] == "\n" or (
            _ends_sentence(text, start, stop)
            if text[position - 1].isspace() and text[stop.start()] in _MARKS
            else text[position] not in _CONTINUES
        ):
            yield position
            start = position
    yield end


def split_sentences(text: str, *, headings: Sequence[Heading] | None = None) -> list[Span]:
    """
    Return the sentences of `text`, which they tile.

    White space belongs to the sentence before it, or to the first. A heading is a sentence; so
    is the end of a paragraph, a table row or a list item always the end of a sentence.

    Args:
        headings: those of `text`, if the caller has them already.
    """
    ends: list[int] = []
    start = skip_space(text, 0)
    for heading in find_headings(text) if headings is None else headings:
        if start < heading.start:
            ends.extend(_ends_between(text, start, heading.start))
        ends.append(heading.end)
        start = heading.end
    if start < len(text):
        ends.extend(_ends_between(text, start, len(text)))
    if not ends and text:
        ends.append(len(text))
    return list(map(Span, [0, *ends[:-1]], ends))
