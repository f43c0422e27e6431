"""The seam for judging answers by an LLM; the judges themselves are not here."""

from collections.abc import Sequence
from typing import Protocol

from ccrag.evaluation.citing import NO_SENTENCES
from ccrag.evaluation.registry import Case, Figure, LeftOut, Measure, Need, per_query


class Judge(Protocol):
    """Grades one answer."""

    def __call__(
        self, *, query: str, answer: str, gold_answer: str | None, evidence: Sequence[str]
    ) -> float | None:
        """
        A grade from 0 to 1, higher is better; None when no grade can be given.

        Args:
            gold_answer: None when none is known.
            evidence: texts shown, in order; empty without provenance.
        """
        ...


def judge_measure(
    name: str, judge: Judge, *, summary: str, needs: tuple[Need, ...] = (Need.ANSWERS,)
) -> Measure:
    """`judge` as a measure; an empty answer is not judged."""
    return Measure(
        name=name,
        summary=summary,
        needs=needs,
        higher_is_better=True,
        figures=per_query(lambda case: _grade(case, judge)),
    )


def _grade(case: Case, judge: Judge) -> Figure:
    if not case.answer.sentences:
        return NO_SENTENCES
    grade = judge(
        query=case.query,
        answer=case.answer.text,
        gold_answer=(case.gold.answers or {}).get(case.query_id),
        evidence=[item.text for item in case.answer.evidence or ()],
    )
    return LeftOut("the judge gave no grade") if grade is None else grade
