"""Windows over tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.models.windows import token_windows


def of_words(*lengths: int) -> list[int]:
    """Words of these many tokens."""
    return [word for word, length in enumerate(lengths) for _ in range(length)]


@pytest.mark.parametrize(
    ("lengths", "max_tokens", "overlap", "expected"),
    [
        ([], 4, 1, [(0, 0)]),
        ([1], 4, 1, [(0, 1)]),
        ([1] * 4, 4, 1, [(0, 4)]),
        ([1] * 5, 4, 1, [(0, 4), (3, 5)]),
        ([1] * 8, 4, 0, [(0, 4), (4, 8)]),
        ([1] * 8, 4, 2, [(0, 4), (2, 6), (4, 8)]),
        ([3, 3, 3], 4, 1, [(0, 3), (3, 6), (6, 9)]),  # no word is short enough to repeat
        ([1, 2, 2, 1], 4, 2, [(0, 3), (1, 5), (3, 6)]),
        ([9], 4, 2, [(0, 4), (4, 8), (8, 9)]),  # one word, cut
        ([2, 9, 2], 4, 2, [(0, 2), (2, 6), (6, 10), (10, 13)]),
        ([1] * 6, 4, 9, [(0, 4), (1, 5), (2, 6)]),  # overlap beyond the window
        ([2, 1, 1], 1, 0, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    ],
)
def test_windows(
    lengths: list[int], max_tokens: int, overlap: int, expected: list[tuple[int, int]]
) -> None:
    found = token_windows(of_words(*lengths), max_tokens=max_tokens, overlap=overlap)
    assert found == expected


@given(st.lists(st.integers(1, 7), max_size=40), st.integers(1, 12), st.integers(0, 14))
def test_windows_cover_all_tokens_move_on_and_keep_words_whole(
    lengths: list[int], max_tokens: int, overlap: int
) -> None:
    word_of = of_words(*lengths)
    windows = token_windows(word_of, max_tokens=max_tokens, overlap=overlap)
    assert {t for start, end in windows for t in range(start, end)} == set(range(len(word_of)))
    assert windows == sorted(set(windows))
    assert [end for _, end in windows] == sorted({end for _, end in windows})
    assert all(end - start <= max_tokens for start, end in windows)
    for word, length in enumerate(lengths):
        if length <= max_tokens:
            first = word_of.index(word)
            assert any(start <= first and first + length <= end for start, end in windows)


def test_a_window_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one token"):
        token_windows([0, 1], max_tokens=0, overlap=0)
