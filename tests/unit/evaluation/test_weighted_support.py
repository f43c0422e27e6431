"""TREC's weighted precision and recall of citations."""

import pytest

from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from ccrag.evaluation.weighted_support import (
    support_measures,
    weighted_precision,
    weighted_recall,
)
from tests.unit.stages import evidence

FULL, PARTIAL, NONE = 1.0, 0.5, 0.0


@pytest.mark.parametrize(
    ("grades", "precision", "recall"),
    [
        ([[FULL, PARTIAL], []], 0.75, 0.5),  # TREC's own example
        ([[PARTIAL, FULL], [NONE]], 0.5, 0.5),
        ([[FULL], [FULL]], 1.0, 1.0),
        ([[], []], None, 0.0),
    ],
)
def test_means_over_citations_and_over_sentences(
    grades: list[list[float]], precision: float | None, recall: float
) -> None:
    assert weighted_precision(grades) == precision
    assert weighted_recall(grades) == recall


def grade(sentence: str, text: str, question: str) -> float:
    assert question == "Why?"
    return {"full": FULL, "part": PARTIAL}.get(text, NONE)


def figures(*sentences: tuple[int, ...]) -> dict[str, float | LeftOut]:
    answer = RunAnswer(
        sentences=tuple(RunSentence(f"S{n}.", cited) for n, cited in enumerate(sentences)),
        references=("a", "b", "c"),
        abstained=False,
        evidence=(
            evidence("e1", "full", doc_id="a"),
            evidence("e2", "part", doc_id="b"),
        ),
        read=(),
        ranked=(),
    )
    run, gold = RunData("run", answers={"q": answer}), Gold({"q": "Why?"})
    return {m.name: m.figures(run, gold)["q"] for m in support_measures(grade)}


def test_first_citations_and_all_of_them() -> None:
    assert figures((1, 0), (), (2, 9)) == {
        "support-precision": 1.5 / 4,
        "support-recall": 1 / 3,
        "support-precision-1": 0.5 / 2,
        "support-recall-1": 0.5 / 3,
    }
    uncited = figures((), ())
    assert uncited["support-recall"] == 0.0
    assert uncited["support-precision"] == LeftOut("nothing is cited")


def test_without_a_grader_they_say_what_is_missing() -> None:
    assert {m.unavailable for m in support_measures(None)} == {"needs a grader of support"}
