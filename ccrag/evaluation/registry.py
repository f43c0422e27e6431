"""
What a measure is: a name, what it needs, which way is better, and a figure per query.

A measure whose need is missing is left out as a whole, and a query for which it is not defined is
left out of it, both with a reason that can be read; neither becomes NaN or zero.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ccrag.evaluation.gold import Gold
from ccrag.evaluation.rundata import RunData
from ccrag.types import QueryId


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a query has no figure, e.g. `no gold answer`."""

    reason: str


Figure = float | LeftOut
Figures = Mapping[QueryId, Figure]
"""One entry for every query of the gold data."""


class Need(Enum):
    """A part of the run or of the gold data; the value says how to give it."""

    ANSWERS = "a run with responses (responses.jsonl)"
    RANKINGS = "a run with a ranking (run.trec)"
    PROVENANCE = "a run with provenance (provenance.json)"
    GOLD_ANSWERS = "gold answers (--gold)"
    QRELS = "relevance judgements (--qrels)"
    QUOTES = "gold quotes (--quotes)"
    ANSWERABLE = "known answerability (--answerable)"
    DOCUMENTS = "the documents' texts (--documents)"


@dataclass(frozen=True, slots=True)
class Measure:
    """A named figure per query."""

    name: str
    summary: str
    """One line: what the figure says, and its unit."""
    needs: tuple[Need, ...]
    higher_is_better: bool | None
    """None: neither way is better by itself, e.g. length."""
    figures: Callable[[RunData, Gold], Figures]
    """Called only when every need is met; one entry per query of the gold data."""
    unavailable: str | None = None
    """Why it cannot be computed at all here, e.g. that a model was not given."""
