"""Two runs query by query. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from ccrag.formats.provenance import QueryRecord
from ccrag.types import QueryId
from ccrag.web.run_store import RunFigures, RunRecord


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a query in one run."""

    answered: bool
    """False: the query failed, or the run does not hold it."""
    abstained: bool
    words: str
    references: tuple[str, ...]
    documents: frozenset[str]
    """Those that were read."""
    figure: float | None
    """On the measure compared."""


@dataclass(frozen=True, slots=True)
class QueryDifference:
    """A query in both runs."""

    query_id: QueryId
    query: str
    left: RunOutcome
    right: RunOutcome

    @property
    def same_answer(self) -> bool:
        """Tell whether both say the same words."""
        return self.left.words == self.right.words

    @property
    def references_shared(self) -> float:
        """Return Jaccard of the cited documents; 1 where neither cites any."""
        return _jaccard(self.left.references, self.right.references)

    @property
    def read_shared(self) -> float:
        """Return Jaccard of the documents read."""
        return _jaccard(self.left.documents, self.right.documents)

    @property
    def difference(self) -> float | None:
        """Return right less left, where both have a figure."""
        if self.left.figure is None or self.right.figure is None:
            return None
        return self.right.figure - self.left.figure


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs over the queries of either."""

    left: str
    right: str
    measure: str | None
    measures: tuple[str, ...]
    queries: tuple[QueryDifference, ...]
    """Those first that differ most: by the measure, else by answer, references and reading."""

    @property
    def same(self) -> int:
        """Count the queries with the same answer."""
        return sum(query.same_answer for query in self.queries)


def compare(
    left: RunRecord,
    right: RunRecord,
    *,
    figures: tuple[RunFigures, RunFigures] = ({}, {}),
    measure: str | None = None,
) -> RunComparison:
    """
    Two runs, side by side.

    Args:
        figures: what an experiment measured of each.
        measure: the one to compare by; None: the first that both have.
    """
    measures = tuple(name for name in figures[0] if name in figures[1])
    chosen = measure if measure in measures else next(iter(measures), None)
    ids = dict.fromkeys([*left.queries, *right.queries])
    queries = [
        QueryDifference(
            query_id,
            _text(query_id, left, right),
            _side(left.queries.get(query_id), _figure(figures[0], chosen, query_id)),
            _side(right.queries.get(query_id), _figure(figures[1], chosen, query_id)),
        )
        for query_id in ids
    ]
    return RunComparison(
        left.name, right.name, chosen, measures, tuple(sorted(queries, key=_order))
    )


def _order(query: QueryDifference) -> tuple[float, bool, bool, float, float]:
    difference = query.difference
    return (
        -abs(difference) if difference is not None else 0.0,
        query.left.answered and query.right.answered,
        query.same_answer,
        query.references_shared,
        query.read_shared,
    )


def _text(query_id: QueryId, *runs: RunRecord) -> str:
    return next(str(run.queries[query_id]["query"]) for run in runs if query_id in run.queries)


def _figure(figures: RunFigures, measure: str | None, query_id: QueryId) -> float | None:
    return None if measure is None else figures[measure].get(query_id)


def _side(record: QueryRecord | None, figure: float | None) -> RunOutcome:
    if record is None:
        return RunOutcome(False, False, "", (), frozenset(), figure)
    return RunOutcome(
        answered=True,
        abstained=bool(record["abstained"]),
        words=" ".join(sentence["text"] for sentence in record["answer"]),
        references=tuple(record["references"]),
        documents=frozenset(place["doc_id"] for place in record["read"]),
        figure=figure,
    )


def _jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    ours, theirs = set(left), set(right)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0
