"""
Gold quotes and where they stand in a document's text.

A quote matches word for word, except that any run of white space equals any other, and so do the
dashes and the quotation marks that extraction and typesetting exchange. Case and digits count.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ccrag.types import Span

DASHES = "‐‑‒–—―−﹣－"
DOUBLE_QUOTES = "“”„‟«»＂"
SINGLE_QUOTES = "‘’‚‛′`´＇"
FOLD = str.maketrans(
    dict.fromkeys(DASHES, "-")
    | dict.fromkeys(DOUBLE_QUOTES, '"')
    | dict.fromkeys(SINGLE_QUOTES, "'")
)
WORD = re.compile(r"\S+")
SPACE = re.compile(r"\s*")


def normalise_quote(text: str) -> str:
    """Return `text` with plain dashes and quotation marks, words parted by one space."""
    return " ".join(WORD.findall(text.translate(FOLD)))


class FoldedText(NamedTuple):
    """A normalised text that knows where its words came from."""

    text: str
    starts: Sequence[int]
    """Where each word starts in `text`."""
    origins: Sequence[int]
    """Where it started before."""

    @classmethod
    @lru_cache(maxsize=64)  # several measures ask for the same documents
    def of(cls, text: str) -> "FoldedText":
        """Normalise `text` as `normalise_quote` does; folding a character keeps its width."""
        words = list(WORD.finditer(text.translate(FOLD)))
        starts: list[int] = []
        length = 0
        for word in words:
            starts.append(length)
            length += len(word[0]) + 1
        return cls(" ".join(word[0] for word in words), starts, [word.start() for word in words])

    def spans(self, quote: str) -> Iterator[Span]:
        """
        Yield every occurrence of `quote`, as spans of the original text; a blank quote has none.
        """
        wanted = normalise_quote(quote)
        start = self.text.find(wanted) if wanted else -1
        while start >= 0:
            yield Span(self._origin(start), self._origin(start + len(wanted) - 1) + 1)
            start = self.text.find(wanted, start + 1)

    def _origin(self, position: int) -> int:
        word = bisect_right(self.starts, position) - 1
        return self.origins[word] + position - self.starts[word]


def quote_span(text: str, quote: str) -> Span | None:
    """Return where `quote` first stands in `text`; None when it does not."""
    return next(FoldedText.of(text).spans(quote), None)


def covered(span: Span, spans: Iterable[Span]) -> bool:
    """Tell whether the union of `spans`, in any order, holds all of `span`."""
    reached = span.start
    for start, end in sorted(spans):
        if start > reached:
            break
        reached = max(reached, end)
    return reached >= span.end


def widened(text: str, span: Span) -> Span:
    """Return `span` with the white space on both sides, so that neighbouring sentences touch."""
    start = span.start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    end = SPACE.match(text, span.end)
    return Span(start, end.end() if end else span.end)
