"""
Retrieval measures, through ir-measures, under its names (`nDCG@10`, `R@10`, `P(rel=2)@5`, `RR`).

Unjudged documents count as not relevant, and a query whose judged documents are all irrelevant
gets 0, both as in ir-measures, so that its command line prints the same means; the latter is said
in a note. A query without judgements is left out.
"""

from typing import Any

from ccrag.errors import InputError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.levels import any_judged, one_level
from ccrag.evaluation.registry import FiguresByQuery, LeftOut, Measure, Need
from ccrag.evaluation.rundata import RunData
from ccrag.formats.trec_run import QrelsByQuery

NOT_JUDGED = LeftOut("not judged")
INSTALL = "pip install 'ccrag[eval]'"


def retrieval_measure(name: str) -> Measure:
    """
    Return the measure that ir-measures knows as `name`.

    Raises:
        InputError: it knows none, or none that can be computed here.
    """
    try:
        import ir_measures
    except ImportError:
        return _measure(name, lambda run, gold: {}, unavailable=f"needs ir-measures: {INSTALL}")
    try:
        parsed = ir_measures.parse_measure(name)
        ir_measures.evaluator([parsed], {})
    except (NameError, ValueError, KeyError, TypeError, SyntaxError) as error:
        raise InputError(f"no measure is called {name!r} ({error})") from error
    return _measure(name, lambda run, gold: _figures(parsed, run, gold))


def _measure(name: str, figures: Any, *, unavailable: str | None = None) -> Measure:
    return Measure(
        name=name,
        summary="retrieval, by ir-measures",
        needs=(Need.RANKINGS, Need.QRELS),
        higher_is_better=None if name.startswith("Num") else True,
        figures=figures,
        unavailable=unavailable,
    )


def _figures(parsed: Any, run: RunData, gold: Gold) -> FiguresByQuery:
    import ir_measures

    ranked, qrels, _ = one_level(run.rankings or {}, judged_queries(gold))
    # Without empty rankings: some of its measures divide by their length, absent ones get 0.
    scores = {query_id: dict(ranked[query_id]) for query_id in qrels if ranked.get(query_id)}
    found = {
        metric.query_id: float(metric.value)
        for metric in ir_measures.iter_calc([parsed], qrels, scores)
    }
    return {query_id: found.get(query_id, NOT_JUDGED) for query_id in gold.queries}


def judged_queries(gold: Gold) -> QrelsByQuery:
    """Return the judgements of the queries that count."""
    qrels = gold.qrels or {}
    return {query_id: qrels[query_id] for query_id in gold.queries if query_id in qrels}


def ranking_notes(run: RunData, gold: Gold) -> list[str]:
    """Return what a reader of the retrieval figures must know."""
    if run.rankings is None or gold.qrels is None:
        return []
    ranked, qrels, note = one_level(run.rankings, judged_queries(gold))
    notes = [] if note is None else [note]
    beyond = len(gold.qrels.keys() - gold.queries.keys())
    if beyond:
        notes.append(f"{beyond} judged queries are not in the query file and were left aside")
    if qrels and ranked and not any_judged(ranked, qrels):
        notes.append("none of the ranked ids is judged: do run and judgements use the same ids?")
    barren = sum(max(judged.values()) <= 0 for judged in qrels.values())
    if barren:
        notes.append(f"judged queries without a relevant document, 0 in retrieval: {barren}")
    return notes
