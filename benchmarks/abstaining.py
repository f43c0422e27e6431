"""What abstaining does to the variant of `mtrag`'s answers, for `benchmarks.answerability`."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np

from ccrag.config.load import load_settings
from ccrag.corpus.queries import read_queries
from ccrag.errors import InputError
from ccrag.evaluation.abstention_metrics import Array
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.mtrag import read_targets
from ccrag.evaluation.rouge import rouge_measures
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from ccrag.pipeline.factory import open_pipeline
from ccrag.pipeline.state import Failure
from ccrag.types import QueryId

ROUGE_L = "rougeL"


def effect(
    pipeline: str,
    index: str,
    tasks: Path,
    *,
    unanswerable: Mapping[QueryId, bool],
    said: Array,
) -> Iterator[str]:
    """
    ROUGE-L, not stemmed, with the task's target: never abstaining, by decision, by truth.

    Args:
        unanswerable: by judged task, in the order of `said`.
        said: `(n_tasks,)`, held out.
    """
    settings = load_settings(pipeline)
    texts = answers(pipeline, index, tasks, wanted=unanswerable)
    ids = list(unanswerable)
    decided = {query_id for query_id, p in zip(ids, said, strict=True) if p >= 0.5}
    truly = {query_id for query_id, kind in unanswerable.items() if kind}
    yield "| ROUGE-L with the target | all | answerable | unanswerable |"
    yield "|---|---|---|---|"
    for name, silent in (("never", set[str]()), ("by decision", decided), ("by truth", truly)):
        given = {q: settings.answer.abstention if q in silent else texts[q] for q in ids}
        found = rouge_l(given, tasks)
        cells = [_mean(found, ids), _mean(found, set(ids) - truly), _mean(found, truly)]
        yield f"| {name}: {len(silent)} of {len(ids)} | {' | '.join(cells)} |"


def answers(
    pipeline: str, index: str, tasks: Path, *, wanted: Collection[QueryId]
) -> dict[QueryId, str]:
    """What the pipeline says of each task, never abstaining by decision."""
    settings = load_settings(pipeline, ["answer.answerability=none"])
    queries = [query for query in read_queries(tasks) if query.query_id in wanted]
    found: dict[QueryId, str] = {}
    for outcome in open_pipeline(settings, index).run(queries):
        if isinstance(outcome, Failure):
            raise InputError(f"query {outcome.query_id!r} failed: {outcome.error}")
        said = (sentence.text for sentence in outcome.answer.sentences)
        found[outcome.query.query_id] = " ".join(said)
    return found


def rouge_l(given: Mapping[QueryId, str], tasks: Path) -> dict[QueryId, float]:
    """Of each text with the task's target."""
    [measure] = [m for m in rouge_measures(stemmer=False) if m.name == ROUGE_L]
    run = RunData("", answers={q: RunAnswer((RunSentence(text),)) for q, text in given.items()})
    gold = Gold(dict.fromkeys(given, ""), answers=read_targets(tasks))
    return {q: f for q, f in measure.figures(run, gold).items() if isinstance(f, float)}


def _mean(found: Mapping[QueryId, float], wanted: Collection[QueryId]) -> str:
    return f"{np.mean([found[q] for q in wanted if q in found]):.3f}".lstrip("0")
