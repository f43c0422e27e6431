"""
Counting words in any script. Pure: no I/O, no settings.

`\\w` alone would call a Chinese page one word and tear decomposed letters apart; both break
every cap that is stated in words.
"""

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

LONG_RUN = 30
"""Longer runs are not words of a spaced script: Thai, Lao, glued text, digests, sequences."""
RUN_WORD = 6
"""Characters that count as one word inside such a run."""

CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
)
"""Ideographs and kana, as the inside of a character class; Hangul is spaced and not here."""

_MARKS = "".join(
    chr(code) for code in range(0x0300, 0x3100) if unicodedata.category(chr(code))[0] == "M"
)
WIDE = CJK + "\u3000-\u3004\u3008-\u301f\u30fb\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6"
"""Ideographs, kana and full-width signs, for a character class; no blank stands between them."""
_LETTERS = rf"[^\W{CJK}]++"
_ASCII_TOKEN = re.compile(r"\w++(?:[-']\w++)*+", re.ASCII)
_PLAIN_TOKEN = re.compile(r"\w++(?:[-'’]\w++)*+")
_UNUSUAL = re.compile(rf"[{CJK}{_MARKS}\u200c\u200d]")
_BEYOND_PLAIN = re.compile(rf"[{CJK}{_MARKS}\u200c\u200d\U00010000-\U0010ffff]")
_TOKEN = re.compile(
    rf"[{CJK}]|{_LETTERS}(?:[{_MARKS}\u200c\u200d]*+[-'’]?+{_LETTERS})*+[{_MARKS}\u200c\u200d]*+"
)


def token_pattern(text: str) -> re.Pattern[str]:
    """
    Return the pattern whose matches in `text` are its words, long runs still whole.

    One pattern would do; where the two simpler ones are chosen they give the same, twice as fast.
    """
    if text.isascii():
        return _ASCII_TOKEN
    return _TOKEN if _UNUSUAL.search(text) else _PLAIN_TOKEN


def token_words(length: int) -> int:
    """Return how many words a match of `token_pattern` with this many characters counts as."""
    return 1 if length <= LONG_RUN else -(-length // RUN_WORD)


def count_tokens(tokens: list[str]) -> int:
    """Return how many words these matches of `token_pattern` count as together."""
    lengths = list(map(len, tokens))
    if not lengths or max(lengths) <= LONG_RUN:
        return len(lengths)
    return sum(map(token_words, lengths))


def passage_words(text: str) -> int:
    """
    Return how many words `text` counts against the cap of a passage.

    A hyphen or apostrophe inside a word does not split it; an ideograph or kana is a word;
    a run longer than `LONG_RUN` characters counts one word per `RUN_WORD`, rounded up.
    """
    return count_tokens(token_pattern(text).findall(text))


class WordSums:
    """
    Words before each position of one text, so that a span's count is one subtraction.

    For spans that begin and end between words; inside a word, use `passage_words`. `None` from `of`
    means that the text needs the full pattern (CJK, combining marks, beyond the basic plane).
    """

    def __init__(self, sums: NDArray[np.int64]) -> None:
        self._sums = sums

    @classmethod
    def of(cls, text: str) -> "WordSums | None":
        """Count a whole text, in a few array operations."""
        if not text.isascii() and _BEYOND_PLAIN.search(text):
            return None
        codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
        word, joiner = _classes()
        return cls(_sums(word[codes], joiner[codes]))

    def between(self, start: int, end: int) -> int:
        """Return how many words `text[start:end]` holds."""
        return int(self._sums[end] - self._sums[start])


def _sums(word: NDArray[np.bool_], joiner: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the running sums of word weights, each word's at its first character: (n + 1,)."""
    padded = np.zeros(len(word) + 2, dtype=np.bool_)
    padded[1:-1] = word
    before, after = padded[:-2], padded[2:]
    inside = word | (joiner & before & after)
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    weights = np.where(lengths <= LONG_RUN, 1, -(-lengths // RUN_WORD))
    sums = np.zeros(len(word) + 1, dtype=np.int64)
    sums[starts + 1] = weights
    return np.cumsum(sums)


@cache
def _classes() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, for each code point of the basic plane, if it is a word's, and if it joins words."""
    plane = [chr(code) for code in range(0x10000)]
    word = np.array([character.isalnum() or character == "_" for character in plane])
    return word, np.array([character in "-'’" for character in plane])
