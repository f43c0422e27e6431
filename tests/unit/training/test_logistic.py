"""Learning when to abstain: what is held back stays unseen, and the same data give the same."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ccrag.errors import InputError
from ccrag.evaluation.abstention_metrics import Sample
from ccrag.training import logistic
from ccrag.training.logistic import (
    Fitted,
    JudgedQuery,
    fit,
    held_out,
    held_out_by,
    probabilities,
    sample_of,
)


def judged(count: int = 40, *, seed: int = 3) -> list[JudgedQuery]:
    """Every fourth query is unanswerable, and its `top` is lower by 2; `noise` says nothing."""
    chance = np.random.default_rng(seed)
    drawn = chance.normal(size=(count, 2)).round(3).tolist()
    return [
        JudgedQuery(
            f"q{n:02}", f"d{n:02}", {"top": top - 2 * (n % 4 == 0), "noise": noise}, n % 4 == 0
        )
        for n, (top, noise) in enumerate(drawn)
    ]


SAMPLE = sample_of(judged())


def test_it_learns_what_tells_them_apart() -> None:
    fitted = fit(SAMPLE)
    assert fitted.weights["top"].coefficient < -1
    assert abs(fitted.weights["noise"].coefficient) < 1
    said = probabilities(fitted, SAMPLE)
    assert said[SAMPLE.unanswerable].mean() > 0.4 > 0.2 > said[~SAMPLE.unanswerable].mean()


@pytest.mark.parametrize("penalty", [0.3, 10.0])
def test_it_is_the_solution_that_another_library_finds(penalty: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    ours = logistic._fit(SAMPLE, penalty)
    scaled = (SAMPLE.values - SAMPLE.values.mean(axis=0)) / SAMPLE.values.std(axis=0)
    theirs = linear.LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000)
    theirs.fit(scaled, SAMPLE.unanswerable)
    coefficients = [ours.weights[name].coefficient for name in SAMPLE.names]
    assert coefficients == pytest.approx(theirs.coef_[0].tolist(), abs=1e-5)
    assert ours.intercept == pytest.approx(float(theirs.intercept_[0]), abs=1e-5)


def test_a_feature_that_never_changes_counts_nothing() -> None:
    constant = [replace(one, features={**one.features, "flat": 3.0}) for one in judged()]
    fitted = fit(sample_of(constant))
    assert fitted.weights["flat"].coefficient == 0.0
    assert fitted.weights["flat"].scale == 1.0


def test_the_order_of_the_queries_changes_nothing() -> None:
    backwards = sample_of(reversed(judged()))
    assert fit(backwards) == fit(SAMPLE)
    assert held_out(backwards, repeats=2).tolist() == held_out(SAMPLE, repeats=2).tolist()


def test_repeats_hold_back_other_parts_and_the_seed_decides_which() -> None:
    first, second = held_out(SAMPLE, repeats=2)
    assert first.tolist() != second.tolist()
    assert held_out(SAMPLE, repeats=1, seed=1)[0].tolist() == second.tolist()


def test_no_group_is_both_learnt_from_and_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = sample_of(replace(one, group=f"d{n // 2}") for n, one in enumerate(judged()))
    learnt: list[set[str]] = []
    decided: list[set[str]] = []
    learning = [False]

    def watched_fit(part: Sample, *, seed: int) -> Fitted:
        learnt.append(set(part.groups))
        learning[0] = True
        fitted = fit(part, seed=seed)
        learning[0] = False
        return fitted

    def watched_said(fitted: Fitted, part: Sample) -> np.ndarray:
        if not learning[0]:
            decided.append(set(part.groups))
        return probabilities(fitted, part)

    monkeypatch.setattr(logistic, "fit", watched_fit)
    monkeypatch.setattr(logistic, "probabilities", watched_said)
    held_out(sample, repeats=1)
    assert len(learnt) == len(decided) == logistic.FOLDS
    for seen, asked in zip(learnt, decided, strict=True):
        assert seen.isdisjoint(asked)
        assert seen | asked == set(sample.groups)
    assert sum(map(len, decided)) == len(set(sample.groups))  # each once, and whole


def test_inner_parts_keep_groups_whole_and_share_out_both_kinds() -> None:
    sample = sample_of(replace(one, group=f"d{n // 2}") for n, one in enumerate(judged()))
    folds = logistic._folds(sample, 5, np.random.default_rng(0))
    parts = dict(zip(sample.groups, folds.tolist(), strict=True))
    assert [parts[group] for group in sample.groups] == folds.tolist()
    for fold in range(5):
        part = sample.part(folds == fold)
        assert part.unanswerable.any()
        assert not part.unanswerable.all()


def test_what_is_held_back_does_not_change_what_is_said_of_it() -> None:
    """A query's own label has no part in its probability."""
    flipped = judged()
    at = 7
    flipped[at] = replace(flipped[at], unanswerable=True, group=flipped[at].group)
    one = SAMPLE.part(np.array([q == "q07" for q in SAMPLE.query_ids]))
    rest = SAMPLE.part(np.array([q != "q07" for q in SAMPLE.query_ids]))
    other = sample_of(flipped)
    rest_of_other = other.part(np.array([q != "q07" for q in other.query_ids]))
    assert probabilities(fit(rest), one).tolist() == probabilities(fit(rest_of_other), one).tolist()


def test_the_same_queries_seen_elsewhere() -> None:
    elsewhere = replace(SAMPLE, values=SAMPLE.values - 5.0)
    here, there = held_out(SAMPLE, repeats=1), held_out(SAMPLE, on=elsewhere, repeats=1)
    assert (there > here).all()


def test_kinds_are_decided_by_the_others() -> None:
    kinds = ["x" if n < 20 else "y" for n in range(40)]
    found = {kind: (part, said) for kind, part, said in held_out_by(SAMPLE, kinds)}
    assert found.keys() == {"x", "y"}
    part, said = found["x"]
    first_half = np.array([kind == "x" for kind in kinds])
    assert part.query_ids == SAMPLE.part(first_half).query_ids
    assert said.tolist() == probabilities(fit(SAMPLE.part(~first_half)), part).tolist()


def test_a_kind_without_which_too_little_is_left_is_not_decided() -> None:
    kinds = ["most" if n < 38 else "few" for n in range(40)]
    assert [kind for kind, _, _ in held_out_by(SAMPLE, kinds)] == ["few"]


def some(*, unanswerable: int, answerable: int) -> Sequence[JudgedQuery]:
    kinds = [True] * unanswerable + [False] * answerable
    return [JudgedQuery(f"q{n}", f"d{n}", {"top": float(n)}, kind) for n, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (some(unanswerable=0, answerable=9), "0 of the judged queries are unanswerable"),
        (some(unanswerable=9, answerable=0), "0 of the judged queries are answerable"),
        (some(unanswerable=4, answerable=9), "4 of the judged queries are unanswerable .* from 5"),
        ((), "no judged query"),
    ],
)
def test_too_few_of_one_kind_are_refused(given: Sequence[JudgedQuery], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sample_of(given)


def test_turns_of_one_dialogue_count_once() -> None:
    given = [replace(one, group="d") for one in some(unanswerable=9, answerable=0)]
    with pytest.raises(InputError, match="1 of the judged queries are unanswerable"):
        sample_of([*given, *some(unanswerable=0, answerable=9)])


def test_the_fewest_that_are_enough() -> None:
    sample = sample_of(some(unanswerable=5, answerable=5))
    assert held_out(sample, repeats=1).shape == (1, 10)
