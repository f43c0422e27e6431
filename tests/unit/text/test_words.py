"""Counting a whole text at once gives what counting its spans gives."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.text.words import WordSums, passage_words

ALPHABET = st.sampled_from("ab9_-'’ .é\n…")
TEXTS = st.lists(st.text(ALPHABET, max_size=8) | st.just("x" * 40), max_size=12).map(" ".join)


@given(TEXTS)
def test_sums_agree_with_the_pattern_between_words(text: str) -> None:
    sums = WordSums.of(text)
    assert sums is not None
    bounds = [0, *(match.end() for match in re.finditer(r"\s+", text)), len(text)]
    for start, end in pairwise(bounds):
        assert sums.between(start, end) == passage_words(text[start:end])
    assert sums.between(0, len(text)) == passage_words(text)


@pytest.mark.parametrize("text", ["深度", "e\u0301", "a\u200db", "😀"])
def test_texts_beyond_the_plain_scripts_are_left_to_the_pattern(text: str) -> None:
    assert WordSums.of(text) is None


def test_an_empty_text_has_no_words() -> None:
    sums = WordSums.of("")
    assert sums is not None
    assert sums.between(0, 0) == 0
