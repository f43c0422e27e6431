"""The report's section about one query, as the template shows it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ccrag.evaluation.levels import document_of
from ccrag.evaluation.rundata import RunAnswer
from ccrag.experiment.loss_analysis import LossStage, RelevantId, RelevantItem
from ccrag.experiment.outcome import Experiment, QueryResult
from ccrag.experiment.overview import NOTHING, number
from ccrag.types import DocId, Evidence, Query


@dataclass(frozen=True, slots=True)
class ReportReference:
    """A document as answers refer to it."""

    number: int
    """As in the text, from 1."""
    doc_id: DocId
    title: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """An answer sentence and the numbers it cites."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """A span of evidence."""

    evidence: Evidence
    title: str
    used: bool
    """True where an answer sentence rests on it."""
    relevant: bool


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """The answer that one or several runs gave alike."""

    runs: tuple[tuple[str, str], ...]
    """Run and its figure on the primary measure."""
    failed: bool
    abstained: bool
    sentences: tuple[CitedSentence, ...]
    references: tuple[ReportReference, ...]
    evidence: tuple[ShownEvidence, ...]


@dataclass(frozen=True, slots=True)
class RankTable:
    """Ranks of what is relevant in one or several runs that have the same ones."""

    runs: tuple[str, ...]
    stages: tuple[str, ...]
    relevant: tuple[RelevantItem, ...]


@dataclass(frozen=True, slots=True)
class LossTable:
    """Where what is relevant ended, runs in which all ended alike sharing a column."""

    columns: tuple[tuple[str, ...], ...]
    """Runs."""
    rows: tuple[tuple[RelevantId, str, tuple[LossStage, ...]], ...]
    """A document or passage, its document's title, and where it ended in each column."""


@dataclass(frozen=True, slots=True)
class StageTimes:
    """Milliseconds by run: their sum, then those of each stage."""

    stages: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class QuerySection:
    """One query."""

    anchor: str
    query: Query
    gold_answer: str | None
    quotes: tuple[tuple[DocId, str], ...]
    spread: str
    """The primary measure's least and greatest figure."""
    ends: LossTable
    columns: tuple[AnswerColumn, ...]
    results: tuple[RankTable, ...]
    times: StageTimes
    notes: tuple[tuple[str, str], ...]


def section(
    experiment: Experiment, query: Query, *, anchor: str, primary: str | None
) -> QuerySection:
    """Return all that the report says about `query`."""
    results = {run: found[query.query_id] for run, found in experiment.results.items()}
    figures = {run: _figure(experiment, run, query, primary) for run in results}
    gold = experiment.gold
    return QuerySection(
        anchor=anchor,
        query=query,
        gold_answer=(gold.answers or {}).get(query.query_id),
        quotes=tuple((q.doc_id, q.text) for q in (gold.quotes or {}).get(query.query_id, ())),
        spread=_spread(figures),
        ends=_loss_table(experiment, results),
        columns=_columns(experiment, results, figures),
        results=_rank_tables(results),
        times=stage_times({run: result.seconds for run, result in results.items()}),
        notes=tuple((run, note) for run, result in results.items() for note in result.notes),
    )


def stage_times(seconds: Mapping[str, Mapping[str, float]]) -> StageTimes:
    """
    Run → stage → seconds as a table, stages in the order they ran.

    Those on which no run spent what shows in a tenth of a millisecond are left out.
    """
    shown = dict.fromkeys(
        stage
        for spent in seconds.values()
        for stage in spent
        if any(_milliseconds(other.get(stage, 0.0)) != "0.0" for other in seconds.values())
    )
    return StageTimes(
        stages=tuple(shown),
        rows=tuple(
            (
                run,
                (
                    _milliseconds(sum(spent.values()) if spent else None),
                    *(_milliseconds(spent.get(stage)) for stage in shown),
                ),
            )
            for run, spent in seconds.items()
        ),
    )


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1000:,.1f}"


def _figure(experiment: Experiment, run: str, query: Query, primary: str | None) -> float | None:
    if primary is None:
        return None
    return experiment.outcome.scores[run].per_query.get(primary, {}).get(query.query_id)


def _spread(figures: Mapping[str, float | None]) -> str:
    known = [figure for figure in figures.values() if figure is not None]
    if not known:
        return ""
    low, high = number(min(known)), number(max(known))
    return low if low == high else f"{low} … {high}"


def _loss_table(experiment: Experiment, results: Mapping[str, QueryResult]) -> LossTable:
    alike: dict[tuple[LossStage, ...], list[str]] = {}
    for run, query in results.items():
        alike.setdefault(tuple(result.end for result in query.relevant), []).append(run)
    relevant = next(iter(results.values())).relevant
    return LossTable(
        columns=tuple(map(tuple, alike.values())),
        rows=tuple(
            (
                result.relevant_id,
                experiment.titles.get(document_of(result.relevant_id), ""),
                tuple(ends[at] for ends in alike),
            )
            for at, result in enumerate(relevant)
        ),
    )


def _columns(
    experiment: Experiment,
    results: Mapping[str, QueryResult],
    figures: Mapping[str, float | None],
) -> tuple[AnswerColumn, ...]:
    """Return answers side by side, equal ones once; a failed query equals another."""
    alike: dict[RunAnswer | None, list[str]] = {}
    for run, result in results.items():
        alike.setdefault(result.answer, []).append(run)
    relevant = {result.relevant_id for result in next(iter(results.values())).relevant}
    return tuple(
        _column(
            answer,
            tuple((run, "" if (f := figures[run]) is None else number(f)) for run in runs),
            relevant,
            experiment.titles,
        )
        for answer, runs in alike.items()
    )


def _column(
    answer: RunAnswer | None,
    runs: tuple[tuple[str, str], ...],
    relevant: set[RelevantId],
    titles: Mapping[DocId, str],
) -> AnswerColumn:
    if answer is None:
        return AnswerColumn(runs, True, False, (), (), ())
    documents = set(map(document_of, relevant))
    used = {evidence_id for sentence in answer.sentences for evidence_id in sentence.evidence_ids}
    return AnswerColumn(
        runs=runs,
        failed=False,
        abstained=answer.abstained,
        sentences=tuple(
            CitedSentence(sentence.text, tuple(cited + 1 for cited in sentence.citations))
            for sentence in answer.sentences
        ),
        references=tuple(
            ReportReference(at, doc_id, titles.get(doc_id, ""), doc_id in documents)
            for at, doc_id in enumerate(answer.references, start=1)
        ),
        evidence=tuple(
            ShownEvidence(
                item,
                titles.get(item.doc_id, ""),
                item.evidence_id in used,
                not relevant.isdisjoint((item.doc_id, item.passage_id)),
            )
            for item in answer.evidence or ()
        ),
    )


def _rank_tables(results: Mapping[str, QueryResult]) -> tuple[RankTable, ...]:
    """
    Return the ranks of each run, equal tables once; none where nothing is known to be relevant.
    """
    tables: list[RankTable] = []
    for run, result in results.items():
        if not result.relevant or result.answer is None:
            continue
        at = next((n for n, table in enumerate(tables) if table.relevant == result.relevant), None)
        if at is None:
            tables.append(RankTable((run,), tuple(result.relevant[0].ranks), result.relevant))
        else:
            same = tables[at]
            tables[at] = RankTable((*same.runs, run), same.stages, same.relevant)
    return tuple(tables)
