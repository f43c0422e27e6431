"""
A run as plain values: what was answered, what was shown, what was ranked.

Only values here; `reading` gets them from files. Ids are strings, citations are the numbers the
answer holds, resolvable or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ccrag.formats.provenance import QueryRecord
from ccrag.types import DocId, Evidence, QueryId, Span

Ranked = tuple[tuple[str, float], ...]
"""Ids and scores of one query, in the order of the run's lines."""


@dataclass(frozen=True, slots=True)
class RunSentence:
    """One answer sentence as submitted; `evidence_ids` are known from provenance only."""

    text: str
    citations: tuple[int, ...] = ()
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A passage that was read: where it stands."""

    doc_id: DocId
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Its span in the document."""
        return Span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer to one query, with its evidence and passages."""

    sentences: tuple[RunSentence, ...] = ()
    references: tuple[DocId, ...] = ()
    abstained: bool = True
    """As provenance says; without it, whether nothing is referred to."""
    evidence: tuple[Evidence, ...] | None = None
    """All evidence shown; None without provenance."""
    read: tuple[PassageSpan, ...] | None = None
    """Passages read; None without provenance."""
    ranked: tuple[PassageSpan, ...] | None = None
    """The final ranking, best first, as far as texts were fetched; None where it is not known."""
    selected: int = 0
    """The number of ranked passages that were selected, neighbours not counted."""

    @property
    def text(self) -> str:
        """Return the sentences as one text, parted by a space."""
        return " ".join(sentence.text for sentence in self.sentences)


EMPTY_ANSWER = RunAnswer(evidence=(), read=(), ranked=())
"""The answer that stands for a query that the run does not hold."""


@dataclass(frozen=True, slots=True)
class RunData:
    """One run; a part that was not given is None, which is not the same as empty."""

    name: str
    answers: Mapping[QueryId, RunAnswer] | None = None
    rankings: Mapping[QueryId, Ranked] | None = None
    provenance: Mapping[QueryId, QueryRecord] | None = None
    """The records of `provenance.json`, for whoever looks into single queries."""

    def answer(self, query_id: QueryId) -> RunAnswer:
        """Return the query's answer; the empty one when the run has none."""
        return (self.answers or {}).get(query_id, EMPTY_ANSWER)
