"""Decisions counted, by hand."""

import numpy as np
import pytest

from ccrag.evaluation.abstention_metrics import (
    NEVER,
    Sample,
    against_never,
    decisions,
    ranked_right,
)

UNANSWERABLE = [True, True, False, False, False]
SAID = np.array([[0.9, 0.2, 0.8, 0.1, 0.3]])


def sample(unanswerable: list[bool], groups: tuple[str, ...] | None = None) -> Sample:
    ids = tuple(f"q{n}" for n in range(len(unanswerable)))
    values = np.zeros((len(ids), 1))
    return Sample(ids, ("f",), values, np.array(unanswerable), groups or ids)


def figures(said: np.ndarray, threshold: float) -> dict[str, float]:
    found = decisions(sample(UNANSWERABLE), said, threshold=threshold)
    return {name: figure.value for name, figure in found.figures.items()}


def test_counts_and_measures() -> None:
    found = decisions(sample(UNANSWERABLE), SAID, threshold=0.5)
    assert (found.abstained_unanswerable, found.abstained_answerable) == (1, 1)
    assert (found.answered_unanswerable, found.answered_answerable) == (1, 2)
    assert figures(SAID, 0.5) == {
        "precision": 1 / 2,
        "recall": 1 / 2,
        "F1": 2 / (2 + 1 + 1),
        "accuracy": pytest.approx(3 / 5),
    }


def test_it_is_abstained_from_the_threshold_itself_on() -> None:
    assert figures(SAID, 0.2)["recall"] == 1.0


def test_the_trivial_rules() -> None:
    assert figures(SAID, NEVER) == {"recall": 0.0, "F1": 0.0, "accuracy": 3 / 5}
    always = figures(SAID, 0.0)
    assert (always["precision"], always["recall"], always["accuracy"]) == (2 / 5, 1.0, 2 / 5)


def test_repeats_are_averaged() -> None:
    twice = np.stack([SAID[0], 1 - SAID[0]])
    found = decisions(sample(UNANSWERABLE), twice, threshold=0.5)
    assert found.abstained_unanswerable == 1.0
    assert found.abstained_answerable == (1 + 2) / 2


def test_intervals_hold_the_value_and_groups_widen_them() -> None:
    kinds = [True, False] * 20
    said = np.array([[0.9 if n % 8 < 5 else 0.1 for n in range(40)]])
    alone = decisions(sample(kinds), said, threshold=0.5).figures["accuracy"]
    assert alone.low < alone.value < alone.high
    groups = tuple(f"g{n % 8}" for n in range(40))
    together = decisions(sample(kinds, groups), said, threshold=0.5).figures["accuracy"]
    assert together.value == alone.value
    assert together.high - together.low > alone.high - alone.low


def test_accuracy_against_never_is_compared_query_by_query() -> None:
    found = against_never(sample(UNANSWERABLE), SAID, threshold=0.5)
    assert found is not None
    assert found.difference == pytest.approx(3 / 5 - 3 / 5)
    assert (found.higher, found.lower, found.equal) == (1, 1, 3)


@pytest.mark.parametrize(
    ("said", "right"),
    [(SAID, 4 / 6), (np.full((1, 5), 0.5), 0.5), (np.stack([SAID[0], 1 - SAID[0]]), 0.5)],
)
def test_pairs_ranked_right(said: np.ndarray, right: float) -> None:
    assert ranked_right(sample(UNANSWERABLE), said) == pytest.approx(right)
