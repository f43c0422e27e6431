"""
Define a measure: a name, its needs, the better direction, and a figure per query.

A measure whose need is missing is left out as a whole, and a query for which it is not defined is
left out of it, both with a reason that can be read; neither becomes NaN or zero.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ccrag.evaluation.gold import Gold
from ccrag.evaluation.rundata import RunAnswer, RunData
from ccrag.types import QueryId


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a query has no figure, e.g. `no gold answer`."""

    reason: str


FigureOrGap = float | LeftOut
FiguresByQuery = Mapping[QueryId, FigureOrGap]
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
    figures: Callable[[RunData, Gold], FiguresByQuery]
    """Called only when every need is met; one entry per query of the gold data."""
    unavailable: str | None = None
    """Why it cannot be computed at all here, e.g. that a model was not given."""

    def obstacle(self, run: RunData, gold: Gold) -> str | None:
        """Return why this run cannot be measured so; None when it can."""
        if self.unavailable is not None:
            return self.unavailable
        missing = [need.value for need in self.needs if not _met(need, run, gold)]
        return f"needs {' and '.join(missing)}" if missing else None


def _met(need: Need, run: RunData, gold: Gold) -> bool:
    part = {
        Need.ANSWERS: run.answers,
        Need.RANKINGS: run.rankings,
        Need.PROVENANCE: run.provenance,
        Need.GOLD_ANSWERS: gold.answers,
        Need.QRELS: gold.qrels,
        Need.QUOTES: gold.quotes,
        Need.ANSWERABLE: gold.answerable,
        Need.DOCUMENTS: gold.texts,
    }
    return part[need] is not None


@dataclass(frozen=True, slots=True)
class Case:
    """One query with what it got, as most measures look at it."""

    query_id: QueryId
    query: str
    answer: RunAnswer
    """The empty one when the run does not hold the query."""
    gold: Gold


def cases(run: RunData, gold: Gold) -> list[Case]:
    """Return every query of the gold data with what `run` gave it, in order."""
    return [
        Case(query_id, query, run.answer(query_id), gold)
        for query_id, query in gold.queries.items()
    ]


def per_query(figure: Callable[[Case], FigureOrGap]) -> Callable[[RunData, Gold], FiguresByQuery]:
    """Return `Measure.figures` from a function that looks at one query at a time."""

    def figures(run: RunData, gold: Gold) -> FiguresByQuery:
        return {case.query_id: figure(case) for case in cases(run, gold)}

    return figures
