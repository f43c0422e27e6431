"""Runs and gold data for tests of measures, as plain values."""

from collections.abc import Mapping
from typing import Any

from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import LeftOut, Measure
from ccrag.evaluation.rundata import PassageSpan, RunAnswer, RunData, RunSentence
from ccrag.types import Evidence

QUERY = "Why do wings flutter at high speed?"


def evidence(number: int, doc_id: str, text: str, start: int = 0) -> Evidence:
    """`e<number>`, at `start` of its document."""
    end = start + len(text)
    return Evidence(f"e{number}", f"{doc_id}#p", doc_id, (), start, end, text, 1.0)


def answer(
    *sentences: RunSentence,
    references: tuple[str, ...] = ("d1", "d2"),
    shown: tuple[Evidence, ...] | None = (),
    read: tuple[PassageSpan, ...] | None = (),
    abstained: bool = False,
) -> RunAnswer:
    return RunAnswer(sentences, references, abstained, shown, read)


def run_of(answers: Mapping[str, RunAnswer], name: str = "run") -> RunData:
    """A run with provenance and answers, without a ranking."""
    return RunData(name, answers=answers, provenance={})


def figure(measure: Measure, got: RunAnswer | None, **gold: Any) -> float | LeftOut:
    """What `measure` says of query `q`, answered with `got` (None: absent from the run)."""
    known = {"queries": {"q": QUERY}} | gold
    run = run_of({} if got is None else {"q": got})
    return measure.figures(run, Gold(**known))["q"]


def named(measures: tuple[Measure, ...], name: str) -> Measure:
    (found,) = (measure for measure in measures if measure.name == name)
    return found
