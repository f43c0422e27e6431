"""
Weighted precision and recall of citations, as TREC RAG measures support.

Each pair of a sentence and a document it cites is graded: full support 1, partial .5, none 0.
Precision is the mean over the citations, recall the mean over all sentences of their best citation;
a sentence without citations counts 0. Both for all citations, and for the first of each sentence.
"""

from collections.abc import Callable, Sequence

from ccrag.evaluation.citation_metrics import cited_texts, undefined_support
from ccrag.evaluation.registry import Case, FigureOrGap, LeftOut, Measure, Need, per_query

NOT_GIVEN = "needs a grader of support"

SupportGrader = Callable[[str, str, str], float]
"""Grades from (sentence, evidence, question): 1, .5 or 0."""


def weighted_precision(grades: Sequence[Sequence[float]]) -> float | None:
    """Return the mean grade over all citations; None when nothing is cited."""
    cited = [grade for sentence in grades for grade in sentence]
    return sum(cited) / len(cited) if cited else None


def weighted_recall(grades: Sequence[Sequence[float]]) -> float:
    """Return the mean over the sentences, of which there is one at least, of their best grade."""
    return sum(max(sentence, default=0.0) for sentence in grades) / len(grades)


def support_measures(grader: SupportGrader | None) -> tuple[Measure, ...]:
    """Return the four measures; without a grader they are left out and say so."""
    unavailable = NOT_GIVEN if grader is None else None

    def measure(name: str, summary: str, *, first: bool, recall: bool) -> Measure:
        def figure(case: Case) -> FigureOrGap:
            if grader is None:
                return LeftOut(NOT_GIVEN)
            return _figure(case, grader, first=first, recall=recall)

        needs = (Need.ANSWERS, Need.PROVENANCE)
        return Measure(name, summary, needs, True, per_query(figure), unavailable)

    return (
        measure("support-precision", "mean support by a citation", first=False, recall=False),
        measure(
            "support-recall", "mean support of a sentence, by its best", first=False, recall=True
        ),
        measure("support-precision-1", "the same by first citations", first=True, recall=False),
        measure("support-recall-1", "the same by first citations", first=True, recall=True),
    )


def _figure(case: Case, grader: SupportGrader, *, first: bool, recall: bool) -> FigureOrGap:
    undefined = undefined_support(case.answer)
    if undefined is not None:
        return undefined
    grades = [
        [grader(sentence.text, text, case.query) if text else 0.0 for text in texts]
        for sentence in case.answer.sentences
        for texts in [cited_texts(case.answer, sentence)[: 1 if first else None]]
    ]
    if recall:
        return weighted_recall(grades)
    precision = weighted_precision(grades)
    return LeftOut("nothing is cited") if precision is None else precision
