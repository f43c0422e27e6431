"""Measures of evidence found, where gold quotes are known, and of abstaining, where that is."""

from collections.abc import Callable, Sequence

from ccrag.evaluation.measures import EvidenceFound, evidence_found
from ccrag.evaluation.quote_stages import (
    MEANING,
    QuoteContext,
    QuoteEnd,
    QuoteResult,
    context_chars,
    quote_result,
)
from ccrag.evaluation.registry import Case, FigureOrGap, LeftOut, Measure, Need, per_query

NOT_KNOWN = LeftOut("answerability is not known")


def evidence_measures() -> tuple[Measure, ...]:
    """Return the gold quotes: found in what was shown or read, how early, or lost where."""
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
        Measure(
            "question-recall",
            "share of questions of which the passages read cover every gold quote",
            needs,
            True,
            per_query(_of_found(_all_found)),
        ),
        Measure(
            "quote-rr",
            "reciprocal of the rank at which the ranked passages first cover a gold quote",
            needs,
            True,
            per_query(_of_results(_reciprocal_rank)),
        ),
        *(_loss_measure(name, end, needs) for name, end in LOSSES.items()),
        Measure(
            "context-chars",
            "characters of the passages read, overlaps counted once",
            (Need.ANSWERS, Need.PROVENANCE),
            False,
            per_query(_context_chars),
        ),
    )


LOSSES = {
    "quotes-cut": QuoteEnd.CUT,
    "quotes-unlisted": QuoteEnd.NOT_LISTED,
    "quotes-low": QuoteEnd.LOW,
    "quotes-dropped": QuoteEnd.DROPPED,
}
"""Shares of gold quotes lost, by where: together with `passage-recall` they make 1."""


def _loss_measure(name: str, end: QuoteEnd, needs: tuple[Need, ...]) -> Measure:
    def share(results: Sequence[QuoteResult]) -> float:
        return sum(result.end == end for result in results) / len(results)

    summary = f"share of gold quotes {end}: {MEANING[end]}"
    return Measure(name, summary, needs, False, per_query(_of_results(share)))


def _all_found(found: EvidenceFound) -> float | None:
    share = found.passage_share
    return None if share is None else float(share == 1)


def _reciprocal_rank(results: Sequence[QuoteResult]) -> float:
    ranks = [result.rank for result in results if result.rank is not None]
    return 1 / min(ranks) if ranks else 0.0


def _context_chars(case: Case) -> FigureOrGap:
    if case.answer.read is None:
        return LeftOut("no provenance for this query")
    return float(context_chars(case.answer.read))


def _of_results(
    figure_of: Callable[[Sequence[QuoteResult]], float],
) -> Callable[[Case], FigureOrGap]:
    def figure(case: Case) -> FigureOrGap:
        quotes = (case.gold.quotes or {}).get(case.query_id)
        if not quotes:
            return LeftOut("no gold quotes")
        answer, texts = case.answer, case.gold.texts or {}
        if answer.read is None or answer.ranked is None:
            return LeftOut("no provenance of the ranking for this query")
        context = QuoteContext(answer.ranked, answer.selected, answer.read)
        results = [
            quote_result(quote.text, quote.doc_id, texts[quote.doc_id], context)
            for quote in quotes
            if quote.doc_id in texts
        ]
        known = [result for result in results if result is not None]
        return figure_of(known) if known else LeftOut("no gold quote stands in the documents")

    return figure


def abstention_measures() -> tuple[Measure, ...]:
    """
    Return accuracy, precision and recall of abstaining.

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


def _of_found(share: Callable[[EvidenceFound], float | None]) -> Callable[[Case], FigureOrGap]:
    def figure(case: Case) -> FigureOrGap:
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


def _abstention_accuracy(case: Case) -> FigureOrGap:
    answerable = (case.gold.answerable or {}).get(case.query_id)
    return NOT_KNOWN if answerable is None else float(answerable != case.answer.abstained)


def _abstention_precision(case: Case) -> FigureOrGap:
    if not case.answer.abstained:
        return LeftOut("answered")
    return _abstention_accuracy(case)


def _abstention_recall(case: Case) -> FigureOrGap:
    if (case.gold.answerable or {}).get(case.query_id) is True:
        return LeftOut("answerable")
    return _abstention_accuracy(case)
