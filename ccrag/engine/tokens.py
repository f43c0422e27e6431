"""
An upper bound on the tokens that the index's analyzer makes of a text. Pure.

The analyzer splits at Unicode's word boundaries (UAX 29) and makes pairs of CJK characters: a run
of letters is one token, but each ideograph, kana, Hangul syllable or emoji may be one. Here nothing
is asked of the engine: a character that is not known to join another counts by itself.
"""

from enum import Enum, auto
from functools import lru_cache
from unicodedata import category, ucd_3_2_0

LONGEST_TOKEN = 255
"""UTF-16 units; the tokenizer splits a longer run."""


class _Kind(Enum):
    LETTER = auto()
    """A letter of a script with blanks between words; digits and underscores join them."""
    UNSPACED = auto()
    """A letter of Thai, Lao, Myanmar or Khmer: joins others of these, but no other letters."""
    SINGLE = auto()
    """May be a token by itself: ideographs, kana, Hangul, emoji, and what is unknown here."""
    MARK = auto()
    """Belongs to the character before it; counts like that one."""
    UNSPACED_MARK = auto()
    """The same, of Thai, Lao, Myanmar or Khmer: a token where no such letter stands before it."""
    GAP = auto()
    """In no token."""


_RUNS = {_Kind.LETTER, _Kind.UNSPACED}
_CJK = (
    range(0x1100, 0x1200),
    range(0x2E80, 0xA4D0),
    range(0xAC00, 0xD800),
    range(0xF900, 0xFB00),
    range(0xFF65, 0xFFDD),
    range(0x20000, 0x40000),
)
_UNSPACED = (range(0x0E00, 0x0F00), range(0x1000, 0x10A0), range(0x1780, 0x1800))
_PUNCTUATION_IN_TOKENS = frozenset("\u055b\u055c\u055e\u05f3\u066b\u203c\u2049\u3030\u303d\u30a0")


def cut_tokens(text: str, *, at_most: int) -> tuple[str, int]:
    """
    Return the beginning of `text` that makes at most `at_most` tokens, and its number of tokens.

    The number is an upper bound. A run of letters is split only where it is longer than a token.
    """
    tokens, length = 0, 0
    before = _Kind.GAP
    for at, char in enumerate(text):
        kind = _kind(char)
        if kind is _Kind.MARK or (kind is _Kind.UNSPACED_MARK and before is _Kind.SINGLE):
            kind = before
        elif kind is _Kind.UNSPACED_MARK:
            kind = _Kind.UNSPACED
        length = length + _units(char) if kind is before else _units(char)
        is_longer = length > LONGEST_TOKEN
        if kind is _Kind.SINGLE or (kind in _RUNS and (kind is not before or is_longer)):
            if tokens == at_most:
                return text[:at], tokens
            tokens += 1
        length = _units(char) if is_longer else length
        before = kind
    return text, tokens


def _units(char: str) -> int:
    return 2 if char > "\uffff" else 1


@lru_cache(maxsize=4096)
def _kind(char: str) -> _Kind:
    """
    Return what `char` is to the tokenizer.

    Letters are those of Unicode 3.2 that are letters still: Python knows a newer Unicode than the
    engine, and a letter that one of them does not know joins nothing there.
    """
    general, code = category(char), ord(char)
    early = ucd_3_2_0.category(char)
    if early == "Cn" or char in _PUNCTUATION_IN_TOKENS:
        return _Kind.SINGLE
    if general == "Pc":
        return _Kind.LETTER
    if general[0] in "ZP" or general == "Cc" or (general[0] == "S" and char < "\x80"):
        return _Kind.GAP
    if general != early or any(code in block for block in _CJK):
        return _Kind.SINGLE
    if general[0] in "LM" and any(code in block for block in _UNSPACED):
        return _Kind.UNSPACED if general[0] == "L" else _Kind.UNSPACED_MARK
    if general[0] == "L" or general in ("Nd", "Nl"):
        return _Kind.LETTER
    return _Kind.MARK if general[0] == "M" or general == "Cf" else _Kind.SINGLE
