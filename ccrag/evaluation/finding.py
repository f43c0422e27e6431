"""Measures of evidence found, where gold quotes are known, and of abstaining, where that is."""

from collections.abc import Callable

from ccrag.evaluation.measures import EvidenceFound, evidence_found
from ccrag.evaluation.registry import Case, Figure, LeftOut, Measure, Need, per_query

NOT_KNOWN = LeftOut("answerability is not known")


def evidence_measures() -> tuple[Measure, ...]:
    """Recall of the gold quotes, in the evidence shown and in the passages read."""
    needs = (Need.ANSWERS, Need.PROVENANCE, Need.QUOTES, Need.DOCUMENTS)
    return (
        Measure(
            "evidence-recall",
            "share of gold quotes that the evidence shown covers",
            needs,
            True,
            per_query(_of_found(lambda found: found.evidence_share)),
        ),
        Measure(
            "passage-recall",
            "share of gold quotes that the passages read cover",
            needs,
            True,
            per_query(_of_found(lambda found: found.passage_share)),
        ),
    )


def abstention_measures() -> tuple[Measure, ...]:
    """
    Accuracy, precision and recall of abstaining.

    A query contributes to precision when the run abstained, and to recall when it cannot be
    answered; with 1 or 0 there, the means are the precision and recall of the set.
    """
    needs = (Need.ANSWERS, Need.ANSWERABLE)
    return (
        Measure(
            "abstention-accuracy",
            "share of queries answered if answerable and not answered if not",
            needs,
            True,
            per_query(_abstention_accuracy),
        ),
        Measure(
            "abstention-precision",
            "share of unanswerable queries among those not answered",
            needs,
            True,
            per_query(_abstention_precision),
        ),
        Measure(
            "abstention-recall",
            "share of those not answered among the unanswerable queries",
            needs,
            True,
            per_query(_abstention_recall),
        ),
    )


def _of_found(share: Callable[[EvidenceFound], float | None]) -> Callable[[Case], Figure]:
    def figure(case: Case) -> Figure:
        quotes = (case.gold.quotes or {}).get(case.query_id)
        if not quotes:
            return LeftOut("no gold quotes")
        if case.answer.evidence is None or case.answer.read is None:
            return LeftOut("no provenance for this query")
        texts = case.gold.texts or {}
        found = evidence_found(
            [quote.text for quote in quotes],
            texts={q.doc_id: texts[q.doc_id] for q in quotes if q.doc_id in texts},
            evidence=case.answer.evidence,
            passages=case.answer.read,
        )
        value = share(found)
        return LeftOut("no gold quote stands in the documents") if value is None else value

    return figure


def _abstention_accuracy(case: Case) -> Figure:
    answerable = (case.gold.answerable or {}).get(case.query_id)
    return NOT_KNOWN if answerable is None else float(answerable != case.answer.abstained)


def _abstention_precision(case: Case) -> Figure:
    if not case.answer.abstained:
        return LeftOut("answered")
    return _abstention_accuracy(case)


def _abstention_recall(case: Case) -> Figure:
    if (case.gold.answerable or {}).get(case.query_id) is True:
        return LeftOut("answerable")
    return _abstention_accuracy(case)
