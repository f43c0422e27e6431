"""
Read claims and evidence texts as words with their places, to compare them. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ccrag.text.analysis import CJK, STOP_WORDS, normalise, stem
from ccrag.text.sentences import split_sentences

_WORD = re.compile(rf"[{CJK}]+|\d+(?:[.,]\d+)*|[^\W\d_{CJK}]+(?:['’](?!s\b)[^\W\d_{CJK}]+)*|\w")
_IS_CJK = re.compile(rf"[{CJK}]")
_CITATION = re.compile(r"\s*\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")
_ABBREVIATED = re.compile(r"n['’]t$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place in the text it comes from."""

    text: str
    """As written."""
    key: str
    """Normalised: what is compared word by word."""
    stem: str
    start: int
    end: int
    is_content: bool
    """Neither a stop word nor a lone letter."""

    @property
    def is_number(self) -> bool:
        """Tell whether the word is written in figures."""
        return self.key[0].isdigit()

    @property
    def is_capital(self) -> bool:
        """Tell whether the word begins with a capital letter."""
        return self.text[0].isupper()


@dataclass(frozen=True)
class Clause:
    """One sentence of a text, as words."""

    text_index: int
    """Which of the evidence texts it belongs to, from 0."""
    start: int
    end: int
    words: tuple[Word, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of its content words."""
        return frozenset(word.stem for word in self.words if word.is_content)


def words_of(text: str, *, offset: int = 0) -> tuple[Word, ...]:
    """Return the words of `text` with their places, counted from `offset`; CJK as bigrams."""
    return tuple(_words(text, offset))


def _words(text: str, offset: int) -> Iterator[Word]:
    for match in _WORD.finditer(text):
        written, start = match[0], match.start() + offset
        if len(written) > 2 and _IS_CJK.match(written):
            for at in range(len(written) - 1):
                pair = written[at : at + 2]
                yield Word(pair, pair, pair, start + at, start + at + 2, True)
        else:
            key, root, is_content = _form(written)
            yield Word(written, key, root, start, start + len(written), is_content)


@lru_cache(maxsize=100_000)
def _form(written: str) -> tuple[str, str, bool]:
    """Return the normalised word, its stem, and whether it is a content word."""
    key = normalise(written) or written
    if key[0].isdigit():
        key = key.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", key) else key
        return key, key, True
    lone = len(key) == 1 and not _IS_CJK.match(key)
    return key, stem(key), key not in STOP_WORDS and not lone


def without_citations(claim: str) -> str:
    """Return `claim` with markers such as `[1]` replaced by spaces, so that offsets stay."""
    return _CITATION.sub(lambda marker: " " * len(marker[0]), claim)


@lru_cache(maxsize=2_048)
def clauses_of(text: str, text_index: int) -> tuple[Clause, ...]:
    """Return the sentences of an evidence text that hold words."""
    found = []
    for span in split_sentences(text):
        held = words_of(text[span.start : span.end], offset=span.start)
        if held:
            found.append(Clause(text_index, held[0].start, held[-1].end, held))
    return tuple(found)
