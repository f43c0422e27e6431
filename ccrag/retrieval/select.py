"""Which of the ranked passages are read, and in which order. Pure."""

from collections.abc import Mapping, Sequence

from ccrag.retrieval.duplicates import drop_near_duplicates
from ccrag.retrieval.lookup import passages_of
from ccrag.text.analysis import budget_words
from ccrag.text.dates import year_of
from ccrag.types import DocId, Hit, Note, Passage, PassageId, Ranking


def select(
    ranking: Ranking,
    *,
    passages: Mapping[PassageId, Passage],
    max_passages: int,
    max_per_document: int | None,
    near_duplicate: float,
    temporal_coverage: bool,
    max_words: int | None,
) -> tuple[tuple[Hit, ...], tuple[Note, ...]]:
    """
    Return the hits to read, in reading order, and notes on what was passed over.

    In this order: near-duplicates out, years covered, then from the top down every passage that
    breaks no limit, until there are `max_passages`. A passage that breaks the document or the word
    limit is passed over and noted, and a later one may still fit. An empty ranking selects nothing.

    Args:
        ranking: the shortlist; its years are the ones to cover.
        passages: at least those of `ranking`.
        max_passages: how many to read.
        max_per_document: how many of one document; None for no limit.
        near_duplicate: Jaccard overlap from which a passage repeats an earlier one.
        temporal_coverage: let each year be seen once, early (see `cover_years`).
        max_words: budget over all selected passages, `analysis.budget_words`; None for no limit.

    Raises:
        InvariantError: a hit is missing from `passages`.
    """
    hits, notes = drop_near_duplicates(ranking, passages, threshold=near_duplicate)
    if temporal_coverage:
        hits = cover_years(hits, passages)
    limits = _Limits(max_per_document, max_words)
    chosen: list[Hit] = []
    passed_over: list[Note] = []
    for hit, passage in zip(hits, passages_of(hits, passages), strict=True):
        if len(chosen) == max_passages:
            break
        objection = limits.objection_or_take(passage)
        if objection is None:
            chosen.append(hit)
        else:
            message = f"passage {hit.passage_id!r} not read: {objection}"
            passed_over.append(Note("select", message))
    return tuple(chosen), (*notes, *passed_over)


def cover_years(hits: Sequence[Hit], passages: Mapping[PassageId, Passage]) -> tuple[Hit, ...]:
    """
    Return `hits` with the best of each document year first, else in their order.

    So each year is seen once before any is seen twice; an undated passage waits with the rest.

    Raises:
        InvariantError: a hit is missing from `passages`.
    """
    years: set[int] = set()
    firsts: list[Hit] = []
    rest: list[Hit] = []
    for hit, passage in zip(hits, passages_of(hits, passages), strict=True):
        year = year_of(passage.date)
        if year is None or year in years:
            rest.append(hit)
        else:
            years.add(year)
            firsts.append(hit)
    return (*firsts, *rest)


class _Limits:
    """The passages taken so far, per document and in words."""

    def __init__(self, max_per_document: int | None, max_words: int | None) -> None:
        self._max_per_document = max_per_document
        self._max_words = max_words
        self._taken: dict[DocId, int] = {}
        self._words = 0

    def objection_or_take(self, passage: Passage) -> str | None:
        """Return the limit that `passage` would break; if none, count it as taken."""
        taken = self._taken.get(passage.doc_id, 0)
        if self._max_per_document is not None and taken >= self._max_per_document:
            return f"document {passage.doc_id!r} already has {taken} passages"
        n_words = budget_words(passage.text) if self._max_words is not None else 0
        if self._max_words is not None and self._words + n_words > self._max_words:
            return f"{self._words} + {n_words} words, budget {self._max_words}"
        self._taken[passage.doc_id] = taken + 1
        self._words += n_words
        return None
