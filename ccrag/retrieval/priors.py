"""Compute priors of a passage besides its words: time and citations. Pure, each in [0, 1]."""

from collections.abc import Sequence
from math import exp

from ccrag.text.analysis import unique_terms
from ccrag.text.dates import RECENCY, year_of, years_in
from ccrag.types import Passage, PassageId

YEARS_TO_FADE = 5.0
"""Distance in years at which closeness falls to 1/e."""


def citation_prior(edges: int, max_edges: int) -> float:
    """
    Return G(d) = edges of the document / most edges of any candidate; 0 when nothing is linked.

    Raises:
        ValueError: not 0 <= edges <= max_edges.
    """
    if not 0 <= edges <= max_edges:
        raise ValueError(f"a document has {edges} citation edges, expected 0 to {max_edges}")
    return edges / max_edges if max_edges else 0.0


def temporal_scores(query_text: str, passages: Sequence[Passage]) -> dict[PassageId, float]:
    """
    Return T(q, p) of every passage; it reorders only where the query speaks of time.

    * The query names years: exp(-distance / 5), distance in years from the nearest year asked to
      the document's year or a year inside the passage, whichever is closest; so 1 if it is met.
    * Else it holds a word of `RECENCY`: the place of the document's year among the distinct years
      of these passages, oldest 0 to newest 1, linear; 1 if they are all of one year.
    * Else 0 for all. A passage without any year to compare has 0.
    """
    asked = years_in(query_text)
    if asked:
        return {p.passage_id: _closeness(p, asked) for p in passages}
    if RECENCY.isdisjoint(unique_terms(query_text)):
        return {p.passage_id: 0.0 for p in passages}
    return _newness(passages)


def _closeness(passage: Passage, asked: Sequence[int]) -> float:
    known = [*years_in(passage.text)]
    if (year := year_of(passage.date)) is not None:
        known.append(year)
    distances = [abs(year - other) for year in known for other in asked]
    return exp(-min(distances) / YEARS_TO_FADE) if distances else 0.0


def _newness(passages: Sequence[Passage]) -> dict[PassageId, float]:
    years = {p.passage_id: year_of(p.date) for p in passages}
    distinct = sorted({year for year in years.values() if year is not None})
    last = len(distinct) - 1
    places = {year: at / last if last else 1.0 for at, year in enumerate(distinct)}
    return {pid: 0.0 if year is None else places[year] for pid, year in years.items()}
