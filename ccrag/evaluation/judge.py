"""
Answers graded by a language model: correctness, completeness, and the nuggets they cover.

What a judge says is read strictly. A reply without a usable grade is left out by name and counted,
never a zero or a NaN. The model itself is the caller's: here is what it is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ccrag.concurrency import in_order
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import (
    Case,
    FigureOrGap,
    FiguresByQuery,
    LeftOut,
    Measure,
    Need,
    cases,
)
from ccrag.evaluation.rundata import RunData
from ccrag.llm.json_extraction import find_json
from ccrag.llm.prompts import Prompt, load_prompt
from ccrag.llm.quote import quoted
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatParameters, ChatRequest, ReplySchema, closed_object
from ccrag.types import JSON

NOT_GIVEN = "needs a judge (--judge)"
UNREADABLE = LeftOut("the judge gave no grade that can be read")
NO_GOLD = LeftOut("no gold answer")
MAX_GRADE = 4
T = TypeVar("T")
GRADED = (
    ("judge-correctness", "whether what the answer states agrees with the gold answer, 0 to 1"),
    ("judge-completeness", "how much of the gold answer the answer states, 0 to 1"),
)
"""Measure, named as its prompt, and what it says."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The model that judges, and how it is asked."""

    ask: Callable[[ChatRequest], ChatReply]
    """Safe for several threads; what it raises is passed on."""
    parameters: ChatParameters
    at_once: int = 1

    def read(
        self,
        prompt: Prompt,
        schema: ReplySchema,
        read: Callable[[Any], T | None],
        **values: object,
    ) -> T | LeftOut:
        """
        Ask, and return what `read` makes of the JSON object in the reply; or why there is nothing.

        Args:
            read: None for an object that is not what was asked for.
            values: of the prompt.
        """

        def read_text(text: str) -> T | None:
            found = find_json(text)
            return None if found is None else read(found.value)

        request = ChatRequest(
            prompt.messages(**values),
            self.parameters,
            schema,
            prompt.label,
            readable=lambda text: read_text(text) is not None,
        )
        reply = self.ask(request)
        if reply.fault is not None:
            return LeftOut(f"the judge's reply cannot be used: {reply.fault}")
        said = read_text(reply.text)
        return UNREADABLE if said is None else said


def grade_measures(judge: Judge | None) -> tuple[Measure, ...]:
    """
    Return correctness and completeness by the gold answer, grades 0 to 4 as 0 to 1.

    An empty answer is 0 without being asked for; an abstention is judged like any other answer.
    """
    return tuple(_grade_measure(judge, name, summary) for name, summary in GRADED)


def _grade_measure(judge: Judge | None, name: str, summary: str) -> Measure:
    def figures(run: RunData, gold: Gold) -> FiguresByQuery:
        if judge is None:
            return {}
        prompt = load_prompt(name)
        return judged(judge, run, gold, lambda case: _grade(judge, prompt, case))

    return Measure(
        name=name,
        summary=summary,
        needs=(Need.ANSWERS, Need.GOLD_ANSWERS),
        higher_is_better=True,
        figures=figures,
        unavailable=NOT_GIVEN if judge is None else None,
    )


def judged(
    judge: Judge, run: RunData, gold: Gold, figure: Callable[[Case], FigureOrGap]
) -> dict[str, FigureOrGap]:
    """Return `figure` of every case, `judge.at_once` under way at a time."""
    found = cases(run, gold)
    figures = in_order(figure, found, workers=judge.at_once)
    return dict(zip((case.query_id for case in found), figures, strict=True))


def _grade(judge: Judge, prompt: Prompt, case: Case) -> FigureOrGap:
    reference = (case.gold.answers or {}).get(case.query_id)
    if reference is None:
        return NO_GOLD
    if not case.answer.text.strip():
        return 0.0
    return judge.read(
        prompt,
        GRADE_SCHEMA,
        _grade_in,
        question=quoted(case.query),
        reference=quoted(reference),
        answer=quoted(case.answer.text),
    )


def _grade_in(said: Mapping[str, Any]) -> float | None:
    grade = said.get("grade")
    return grade / MAX_GRADE if type(grade) is int and 0 <= grade <= MAX_GRADE else None


def closed_schema(name: str, properties: JSON) -> ReplySchema:
    """Return a reply that is an object with exactly these properties, as strict modes demand."""
    return ReplySchema(name, closed_object(properties))


GRADE_SCHEMA = closed_schema(
    "grade",
    {
        "reason": {"type": "string"},
        "grade": {"type": "integer", "enum": list(range(MAX_GRADE + 1))},
    },
)
