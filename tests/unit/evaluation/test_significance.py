import math
import time
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.errors import InputError
from ccrag.evaluation.significance import (
    DRAWS,
    Comparison,
    FiguresPerQuery,
    compare,
    holm,
    interval,
    intervals,
    matrix,
)

stats = pytest.importorskip("scipy.stats")


def figures(*values: float | None) -> FiguresPerQuery:
    return {f"q{at}": value for at, value in enumerate(values)}


def compared(baseline: FiguresPerQuery, other: FiguresPerQuery, draws: int = DRAWS) -> Comparison:
    found = compare(baseline, other, draws=draws)
    assert found is not None
    return found


def enumerated_p(differences: Sequence[float]) -> float:
    """By the definition: the share of all sign patterns with a sum at least as far from 0."""
    sums = [
        abs(math.fsum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(s >= abs(math.fsum(differences)) - 1e-12 for s in sums) / len(sums)


def test_small_sets_are_enumerated() -> None:
    found = compared(figures(0, 0, 0, 0), figures(1, 2, 3, -1))
    # of 16 sums 5 is reached by (1, 2, 3, ±1), (-1, 2, 3, 1)-like ones and their mirrors
    assert (found.p, found.draws, found.exact) == (enumerated_p([1, 2, 3, -1]), 2**4, True)
    assert found.p == 6 / 16


@given(st.lists(st.integers(-5, 5).map(lambda n: n / 8), min_size=1, max_size=8))
@settings(deadline=None, max_examples=60)
def test_exact_p_is_the_definition(differences: list[float]) -> None:
    found = compared(figures(*[0.0] * len(differences)), figures(*differences))
    assert found.p == pytest.approx(enumerated_p(differences), abs=1e-12)


def test_exact_p_is_scipys() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random(9), generator.random(9)
    expected = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert compared(figures(*a), figures(*b)).p == pytest.approx(expected.pvalue)


def test_drawn_p_is_near_the_exact_one() -> None:
    generator = np.random.default_rng(4)
    a, b = generator.random(14), generator.random(14) + 0.1
    exact, drawn = (compared(figures(*a), figures(*b), draws) for draws in (2**14, 2**14 - 1))
    assert (exact.exact, drawn.exact, drawn.draws) == (True, False, 2**14 - 1)
    assert drawn.p == pytest.approx(exact.p, abs=0.02)
    assert drawn.p != exact.p


def test_drawn_p_is_never_zero() -> None:
    found = compared(figures(*[0.0] * 40), figures(*[1.0] * 40), draws=1000)
    assert found.p == (1 + 0) / (1 + 1000)


def test_identical_runs() -> None:
    run = figures(0.1, 0.0, 1.0)
    found = compared(run, dict(run))
    assert (found.difference, found.low, found.high, found.effect) == (0, 0, 0, 0)
    assert (found.p, found.p_holm, found.exact) == (1, 1, True)
    assert (found.higher, found.lower, found.equal, found.n) == (0, 0, 3, 3)


def test_difference_is_other_minus_baseline() -> None:
    found = compared(figures(1, 1, 0), figures(0, 1, 0.5))
    assert found.difference == pytest.approx((-1 + 0 + 0.5) / 3)
    assert (found.higher, found.lower, found.equal) == (1, 1, 1)
    spread = np.std([-1, 0, 0.5], ddof=1)
    assert found.effect == pytest.approx((-1 + 0 + 0.5) / 3 / spread)


@pytest.mark.parametrize("step", [0.1, -0.3])
def test_effect_of_an_equal_shift_is_not_defined(step: float) -> None:
    base = [0.1, 0.2, 0.7]
    assert compared(figures(*base), figures(*[b + step for b in base])).effect is None


def test_one_query() -> None:
    found = compared(figures(0.25), figures(0.75))
    assert (found.p, found.low, found.high, found.effect) == (2 / 2, 0.5, 0.5, None)


def test_only_queries_with_both_figures_count() -> None:
    found = compared(figures(0, None, 0, 0.5), figures(1, 1, None, 0.5))
    assert (found.n, found.difference, found.equal) == (2, (1 + 0) / 2, 1)
    assert compare(figures(None, 1), figures(1, None)) is None
    assert compare({}, {}) is None


def test_other_queries_are_refused() -> None:
    with pytest.raises(InputError, match="'other' was scored over other queries than 'baseline'"):
        compare(figures(1, 2), figures(1))


def test_missing_figures_do_not_disturb_the_other_pairs() -> None:
    generator = np.random.default_rng(5)
    a, b, c = (generator.random(30).tolist() for _ in range(3))
    alone = compared(figures(*a), figures(*b))
    c[3] = None
    runs = {"a": figures(*a), "b": figures(*b), "c": figures(*c)}
    together = matrix(runs, baseline="a")[0]
    assert (together.p, together.low, together.high) == pytest.approx(
        (alone.p, alone.low, alone.high)
    )


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([], []),
        ([0.04], [0.04 * 1]),
        ([0.01, 0.04, 0.03], [0.01 * 3, 0.03 * 2, 0.03 * 2]),
        ([0.02, 0.02], [0.02 * 2, 0.02 * 2]),
        ([0.5, 0.9, 0.01], [1.0, 1.0, 0.01 * 3]),
        ([1.0, 1.0], [1.0, 1.0]),
    ],
)
def test_holm(p_values: list[float], corrected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(corrected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_keeps_order_and_bounds(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    assert max(corrected) <= 1
    ranked = [q for _, q in sorted(zip(p_values, corrected, strict=True))]
    assert ranked == sorted(ranked)


def test_matrix_compares_all_pairs_or_with_the_baseline() -> None:
    runs = {name: figures(*np.random.default_rng(n).random(20)) for n, name in enumerate("abc")}
    pairs = matrix(runs)
    assert [(c.baseline, c.other) for c in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [c.p_holm for c in pairs] == holm([c.p for c in pairs])
    assert {c.family for c in pairs} == {3}
    with_b = matrix(runs, baseline="b")
    assert [(c.baseline, c.other, c.family) for c in with_b] == [("b", "a", 2), ("b", "c", 2)]
    with pytest.raises(InputError, match="no run is called 'd'; there are a, b, c"):
        matrix(runs, baseline="d")


def test_interval_is_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(6).random(60)
    found = interval(values.tolist())
    expected = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1)
    assert found.n == 60
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=0.004)


def test_interval_narrows_with_its_level_and_obeys_its_seed() -> None:
    values = np.random.default_rng(7).random(30).tolist()
    wide, narrow = interval(values, level=0.99), interval(values, level=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert interval(values) == interval(values) != interval(values, seed=1)


def test_interval_of_one_value_and_of_none() -> None:
    assert interval([0.4]) == interval([0.4, 0.4, 0.4]).__class__(0.4, 0.4, 0.4, 1)
    with pytest.raises(InputError, match="no values"):
        interval([])


def test_columns_without_figures_have_no_interval() -> None:
    some = figures(0.5, None, 0.6, 0.9, None)
    found = intervals({"some": some, "none": dict.fromkeys(some)})
    assert {name: i.n for name, i in found.items()} == {"some": 3}
    assert found["some"] == interval([0.5, 0.6, 0.9])
    assert found["some"].low >= 0.5


def test_ten_runs_over_225_queries_and_ten_measures_take_seconds() -> None:
    generator = np.random.default_rng(8)
    started = time.process_time()
    for _ in range(10):
        matrix({f"r{n}": figures(*generator.random(225)) for n in range(10)})
    assert time.process_time() - started < 20
