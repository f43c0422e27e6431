"""Collect the measured runs of an experiment, and where each lost what is relevant."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ccrag.engine import bodies
from ccrag.engine.index import Index
from ccrag.errors import EngineError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.levels import document_of
from ccrag.evaluation.outcome import Outcome, assess
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.run_files import read_run_data
from ccrag.evaluation.rundata import RunAnswer, RunData
from ccrag.evaluation.significance import DRAWS, SEED
from ccrag.experiment.loss_analysis import (
    LossStage,
    RelevantId,
    RelevantItem,
    best_ranks,
    relevant_items,
)
from ccrag.experiment.runner import FinishedRun
from ccrag.formats.provenance import QueryRecord
from ccrag.types import Candidates, DocId, Document, Query, QueryId, is_passage_id


@dataclass(frozen=True, slots=True)
class QueryResult:
    """One query in one run."""

    answer: RunAnswer | None
    """None: the query failed."""
    relevant: tuple[RelevantItem, ...]
    """Of every relevant document or passage."""
    seconds: Mapping[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that results and report are made of."""

    index: str
    queries: tuple[Query, ...]
    runs: tuple[FinishedRun, ...]
    gold: Gold
    outcome: Outcome
    results: Mapping[str, Mapping[QueryId, QueryResult]]
    """Run → query → its way."""
    titles: Mapping[DocId, str]
    """Of documents that were read or are relevant."""

    def losses(self, run: str) -> Counter[LossStage]:
        """Return how many relevant documents or passages, over all queries, ended where."""
        return Counter(
            result.end for query in self.results[run].values() for result in query.relevant
        )

    def seconds(self, run: str) -> dict[str, float]:
        """Return the mean seconds a query spent in each stage, stages in the order they ran."""
        spent: dict[str, list[float]] = {}
        for result in self.results[run].values():
            for stage, seconds in result.seconds.items():
                spent.setdefault(stage, []).append(seconds)
        return {stage: fmean(values) for stage, values in spent.items()}


def relevant_ids(gold: Gold) -> dict[QueryId, tuple[RelevantId, ...]]:
    """
    Return what is judged relevant, documents or passages, and the documents that gold quotes stand
    in.

    A quote's document is left out where passages of it are there already.
    """
    found: dict[QueryId, tuple[RelevantId, ...]] = {}
    for query_id in gold.queries:
        judged = (gold.qrels or {}).get(query_id, {})
        relevant = [name for name, relevance in judged.items() if relevance > 0]
        known = set(map(document_of, relevant))
        quoted = dict.fromkeys(q.doc_id for q in (gold.quotes or {}).get(query_id, ()))
        found[query_id] = (*relevant, *(doc_id for doc_id in quoted if doc_id not in known))
    return found


def look_into(
    runs: Sequence[FinishedRun],
    queries: Sequence[Query],
    gold: Gold,
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Experiment:
    """
    Measure and compare finished runs, and follow through them all that is relevant.

    The texts that gold quotes stand in are read from the index.

    Raises:
        InputError: a run's files cannot be read, or no run is called `baseline`.
        EngineError: the index cannot be read.
    """
    index = runs[0].opened.index
    gold = _with_texts(gold, index)
    relevant = relevant_ids(gold)
    titles: dict[DocId, str] = {}
    measured: list[RunData] = []
    results: dict[str, dict[QueryId, QueryResult]] = {}
    for run in runs:
        data = read_run_data(run.opened.folder, name=run.name)
        titles |= dict(_titles(data))
        results[run.name] = _results(run, data, queries, relevant)
        # Rankings are by far the largest part, and measures look at the other files.
        measured.append(replace(data, provenance={}))
    unread = {document_of(name) for names in relevant.values() for name in names} - titles.keys()
    titles |= {doc_id: found.title for doc_id, found in _documents(index, unread).items()}
    return Experiment(
        index=index.info.name,
        queries=tuple(queries),
        runs=tuple(runs),
        gold=gold,
        outcome=assess(measured, gold, measures, baseline=baseline, draws=draws, seed=seed),
        results=results,
        titles=titles,
    )


def _with_texts(gold: Gold, index: Index) -> Gold:
    """Return `gold` with the texts of the documents quoted, of none where nothing is."""
    quoted = {quote.doc_id for quotes in (gold.quotes or {}).values() for quote in quotes}
    return replace(gold, texts={k: d.text for k, d in _documents(index, quoted).items()})


def _documents(index: Index, doc_ids: Iterable[DocId]) -> Mapping[DocId, Document]:
    return index.documents(Candidates.whole_index(), sorted(doc_ids))


def _titles(data: RunData) -> Iterator[tuple[DocId, str]]:
    for record in (data.provenance or {}).values():
        for passage in record["read"]:
            yield passage["doc_id"], passage["title"]


def _results(
    run: FinishedRun,
    data: RunData,
    queries: Sequence[Query],
    relevant: Mapping[QueryId, tuple[RelevantId, ...]],
) -> dict[QueryId, QueryResult]:
    records = data.provenance or {}
    settings = run.settings
    depth = min(settings.select.passages, settings.rerank.shortlist)
    not_held = _not_held(run.opened.index, records, relevant)
    return {
        query.query_id: _result(
            data,
            records.get(query.query_id),
            query.query_id,
            relevant_items(
                relevant[query.query_id],
                records.get(query.query_id),
                depth=depth,
                candidates=query.candidates.doc_ids,
                not_held=not_held,
            ),
        )
        for query in queries
    }


def _result(
    data: RunData, record: QueryRecord | None, query_id: QueryId, relevant: tuple[RelevantItem, ...]
) -> QueryResult:
    if record is None:
        return QueryResult(None, relevant, {}, ())
    notes = tuple(f"{note['stage']}: {note['message']}" for note in record["notes"])
    return QueryResult(data.answer(query_id), relevant, record["seconds"], notes)


def _not_held(
    index: Index,
    records: Mapping[QueryId, QueryRecord],
    relevant: Mapping[QueryId, tuple[RelevantId, ...]],
) -> set[RelevantId]:
    """Of what is relevant and some query ranks nowhere, that which the index cannot rank."""
    unranked: set[RelevantId] = set()
    for query_id, record in records.items():
        wanted = set(relevant.get(query_id, ()))
        unranked |= wanted.difference(*best_ranks(record, wanted).values())
    passages = {name for name in unranked if is_passage_id(name)}
    return index.unknown_passages(passages) | _without_passages(index, unranked - passages)


def _without_passages(index: Index, doc_ids: Iterable[DocId]) -> set[DocId]:
    asked = sorted(doc_ids)
    slots = index.search([bodies.document_body(doc_id, depth=1) for doc_id in asked])
    empty: set[DocId] = set()
    for doc_id, slot in zip(asked, slots, strict=True):
        if isinstance(slot, EngineError):
            raise slot
        if not slot["hits"]["hits"]:
            empty.add(doc_id)
    return empty
