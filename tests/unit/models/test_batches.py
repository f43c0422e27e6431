"""Batches by tokens, and rows of unit length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.models.batches import mean_unit_rows, token_batches, unit_rows


@pytest.mark.parametrize(
    ("lengths", "budget", "expected"),
    [
        ([], 10, []),
        ([3], 10, [[0]]),
        ([30], 10, [[0]]),  # alone, though over the budget
        ([5, 5, 5], 10, [[0, 1], [2]]),  # ties keep their order
        ([1, 6, 2, 5], 12, [[1, 3], [2, 0]]),  # padded to 6, then to 2
        ([1, 1, 1, 1], 4, [[0, 1, 2, 3]]),
        ([1, 4], 4, [[1], [0]]),
    ],
)
def test_batches_hold_the_longest_first_within_the_budget(
    lengths: list[int], budget: int, expected: list[list[int]]
) -> None:
    assert list(token_batches(lengths, budget=budget)) == expected


def test_a_text_without_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one token"):
        list(token_batches([1, 0], budget=4))


@given(st.lists(st.integers(1, 50)), st.integers(1, 120))
def test_each_text_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget=budget))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = max(lengths[at] for at in batch) * len(batch)
        assert padded <= budget or len(batch) == 1


def test_rows_get_unit_length_and_zeros_the_first_basis_vector() -> None:
    rows = np.array([[3, 4], [0, 0], [0, -2]], dtype=np.float32)
    expected = np.array([[3 / 5, 4 / 5], [1, 0], [0, -1]], dtype=np.float32)
    np.testing.assert_array_equal(unit_rows(rows), expected)
    assert rows[0, 0] == 3  # the input is left alone


def test_a_group_is_the_mean_of_its_rows_or_zeros() -> None:
    rows = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    half = 1 / np.sqrt(2)
    expected = np.array([[half, half], [1, 0], [1, 0]], dtype=np.float32)
    np.testing.assert_array_max_ulp(mean_unit_rows(rows, [0, 0, 2], count=3), expected)
