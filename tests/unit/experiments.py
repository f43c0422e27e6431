"""An experiment as plain values, without engine or files, for tests of the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from opensearchpy import OpenSearch

from ccrag.config import EngineSettings
from ccrag.engine.index import Index, IndexInfo
from ccrag.engine.names import IndexSpec
from ccrag.errors import InputError
from ccrag.evaluation.catalogue import default_measures, select_measures
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.outcome import assess
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from ccrag.experiment.loss_analysis import LossStage, RelevantItem
from ccrag.experiment.outcome import Experiment, QueryResult
from ccrag.experiment.plan import plan_runs
from ccrag.experiment.runner import FinishedRun, OpenRun
from ccrag.pipeline.state import Failure
from ccrag.runs.status import RunState
from ccrag.types import Candidates, Evidence, Query

MEASURES = ("nDCG@10", "rougeL", "words", "evidence-recall")


def experiment_of(
    rankings: Mapping[str, Sequence[str]],
    *,
    queries: int = 3,
    text: str = "Why?",
    doc_id: str = "d1",
    title: str = "A title",
    sentence: str = "Because.",
    failing: bool = False,
) -> Experiment:
    """
    Runs `single-query-bm25`, `default`, …, one for each of `rankings`; `doc_id` is relevant.

    Args:
        rankings: run → the documents it ranks for every query, best first.
        failing: let the last query fail in every run.
    """
    asked = tuple(
        Query(f"q{n}", f"{text} {n}", Candidates.whole_index()) for n in range(1, queries + 1)
    )
    gold = Gold(
        {query.query_id: query.text for query in asked},
        answers={query.query_id: sentence for query in asked},
        qrels={query.query_id: {doc_id: 1} for query in asked},
    )
    failed = asked[-1:] if failing else ()
    answered = [query for query in asked if query not in failed]
    answer = _answer(doc_id, sentence)
    runs = [
        RunData(
            name,
            answers={query.query_id: answer for query in answered},
            rankings={
                query.query_id: tuple((d, 1 / rank) for rank, d in enumerate(ranked, start=1))
                for query in answered
            },
            provenance={},
        )
        for name, ranked in rankings.items()
    ]
    result = QueryResult(
        answer,
        (RelevantItem(doc_id, {"bm25:original": 1}, LossStage.CITED),),
        {"lists": 0.002},
        (title,),
    )
    lost = QueryResult(None, (RelevantItem(doc_id, {}, LossStage.FAILED),), {}, ())
    return Experiment(
        index="demo",
        queries=asked,
        runs=tuple(_finished(name, failed, text) for name in rankings),
        gold=gold,
        outcome=assess(runs, gold, select_measures(MEASURES, default_measures()), draws=100),
        results={
            name: {query.query_id: lost if query in failed else result for query in asked}
            for name in rankings
        },
        titles={doc_id: title},
    )


def _answer(doc_id: str, sentence: str) -> RunAnswer:
    evidence = Evidence("e1", f"{doc_id}#p", doc_id, (), 0, len(sentence), sentence, 1.0)
    return RunAnswer((RunSentence(sentence, (0,), ("e1",)),), (doc_id,), False, (evidence,), ())


def _finished(name: str, failed: Sequence[Query], text: str) -> FinishedRun:
    (planned,) = plan_runs([name])
    info = IndexInfo("demo", "p", "d", "c", 4, 9, 1, 1, IndexSpec("window", (), 1.5, 0.75))
    index = Index(cast(OpenSearch, None), info, EngineSettings())
    opened = OpenRun(planned, index, Path("nowhere"), RunState.NEW)
    return FinishedRun(opened, tuple(Failure(q.query_id, InputError(text)) for q in failed))
