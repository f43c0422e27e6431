"""Which queries a run wins and loses against the baseline, on one measure. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.errors import InputError
from ccrag.evaluation.outcome import Outcome
from ccrag.types import QueryId

PREFERRED = ("nDCG@10", "rougeL", "evidence-recall", "cited-recall")


@dataclass(frozen=True, slots=True)
class Difference:
    """One query's figure in a run less that in the baseline."""

    query_id: QueryId
    value: float


def primary_measure(outcome: Outcome, wanted: str | None = None) -> str | None:
    """
    Return the measure that sorts queries: `wanted`, or the first of `PREFERRED` that was computed,
    else the first computed of which more is better; None when there is none.

    Raises:
        InputError: no run has `wanted`.
    """
    having = outcome.measures
    if wanted is not None:
        if wanted not in having:
            known = ", ".join(having) or "none"
            raise InputError(f"--primary {wanted}: not computed here; computed are {known}")
        return wanted
    better = [name for name, measure in having.items() if measure.higher_is_better]
    return next((name for name in PREFERRED if name in better), next(iter(better), None))


def differences(outcome: Outcome, measure: str, run: str, baseline: str) -> list[Difference]:
    """
    Return the queries for which both runs have a figure, greatest gain first, ties in query order.
    """
    figures, against = (_figures(outcome, measure, name) for name in (run, baseline))
    known = [
        Difference(query_id, figure - other)
        for query_id, figure in figures.items()
        if figure is not None and (other := against.get(query_id)) is not None
    ]
    return sorted(known, key=lambda difference: -difference.value)


def most_different(outcome: Outcome, measure: str | None) -> list[QueryId]:
    """
    Return all queries, those first on which the runs' figures lie furthest apart; ties in query
    order.

    Without a measure the order is that of the queries.
    """
    query_ids = next(iter(outcome.scores.values())).query_ids
    if measure is None:
        return list(query_ids)
    columns = [_figures(outcome, measure, run) for run in outcome.scores]
    return sorted(query_ids, key=lambda query_id: -_spread(columns, query_id))


def _figures(outcome: Outcome, measure: str, run: str) -> Mapping[QueryId, float | None]:
    return outcome.scores[run].per_query.get(measure, {})


def _spread(columns: Sequence[Mapping[QueryId, float | None]], query_id: QueryId) -> float:
    known = [figure for column in columns if (figure := column.get(query_id)) is not None]
    return max(known) - min(known) if known else 0.0
