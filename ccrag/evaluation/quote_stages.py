"""
Find the stage at which each gold quote was lost, or that it was read. Pure.

A quote may span passages: it is found where the union of their spans covers it, white space between
them no gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ccrag.evaluation.quotes import FoldedText, covered, widened
from ccrag.evaluation.rundata import PassageSpan
from ccrag.types import DocId, Span


class QuoteEnd(StrEnum):
    """Where a quote ended up, or was lost."""

    FOUND = "found"
    CUT = "cut by chunking"
    NOT_LISTED = "not in the candidates"
    LOW = "ranked too low"
    DROPPED = "lost in selection"


MEANING = {
    QuoteEnd.FOUND: "the passages read cover it",
    QuoteEnd.CUT: "chunking parted it, and only a part of it was read",
    QuoteEnd.NOT_LISTED: "no ranked passage holds any of it (bibliography, beyond the shortlist)",
    QuoteEnd.LOW: "its passage ranked below those selected",
    QuoteEnd.DROPPED: "its passage ranked high enough but was not read (near-duplicate, budget)",
}


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """One gold quote in one run."""

    end: QuoteEnd
    rank: int | None
    """The number of best-ranked passages that cover it; None: all together do not."""


@dataclass(frozen=True, slots=True)
class QuoteContext:
    """The final ranking of a query as far as texts were fetched, and the passages read."""

    ranked: Sequence[PassageSpan]
    selected: int
    """The number of passages that were selected from the ranking."""
    read: Sequence[PassageSpan]


def quote_result(quote: str, doc_id: DocId, text: str, context: QuoteContext) -> QuoteResult | None:
    """
    Return the way of one quote; None if the document does not hold it word for word.

    Args:
        text: the document's.
    """
    places = list(FoldedText.of(text).spans(quote))
    if not places:
        return None
    ranked = _spans(text, doc_id, context.ranked)
    read = _spans(text, doc_id, context.read)
    rank = _rank(places, ranked)
    if any(covered(place, read) for place in places):
        return QuoteResult(QuoteEnd.FOUND, rank)
    touching = [at for at, span in enumerate(ranked, start=1) if _touch(places, span)]
    if any(_touch(places, span) for span in read):
        return QuoteResult(QuoteEnd.CUT, rank)
    if not touching:
        return QuoteResult(QuoteEnd.NOT_LISTED, rank)
    return QuoteResult(QuoteEnd.LOW if touching[0] > context.selected else QuoteEnd.DROPPED, rank)


def context_chars(read: Sequence[PassageSpan]) -> int:
    """Count the characters of the passages read, those that overlap counted once."""
    total = 0
    by_document: dict[DocId, list[Span]] = {}
    for place in read:
        by_document.setdefault(place.doc_id, []).append(place.span)
    for spans in by_document.values():
        reached = 0
        for start, end in sorted(spans):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
    return total


def _spans(text: str, doc_id: DocId, places: Sequence[PassageSpan]) -> list[Span]:
    """Return spans in the quote's document; an empty one stands for a passage of another."""
    return [widened(text, place.span) if place.doc_id == doc_id else Span(0, 0) for place in places]


def _rank(places: Sequence[Span], ranked: Sequence[Span]) -> int | None:
    for depth in _depths(places, ranked):
        if any(covered(place, ranked[:depth]) for place in places):
            return depth
    return None


def _depths(places: Sequence[Span], ranked: Sequence[Span]) -> Iterator[int]:
    """Return ranks at which more of the quote than before may be covered."""
    return (depth for depth, span in enumerate(ranked, start=1) if _touch(places, span))


def _touch(places: Sequence[Span], span: Span) -> bool:
    return any(span.start < place.end and place.start < span.end for place in places)
