"""The count of tokens; that it is an upper bound is tested against the engine's analyzer."""

import re
from pathlib import Path

import pytest

from ccrag.engine import bodies
from ccrag.engine.tokens import LONGEST_TOKEN, cut_tokens
from ccrag.types import WeightedText

NONE = 10**9


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("  ... ?!", 0),
        ("can't stop", 3),
        ("the 4.0 release_notes", 4),
        ("cafe\u0301 naïve Ω-3", 4),
        ("हिन्दी में", 2),
        ("מה נשמע", 2),
        ("كيف حالك", 2),
        ("ภาษาไทย", 1),
        ("abcภาษาabc", 3),
        ("漢字かなカナ", 6),
        ("한국어 질문", 5),
        ("😀😀 👍🏽", 4),
        ("a" * LONGEST_TOKEN, 1),
        ("a" * (2 * LONGEST_TOKEN + 1), 3),
        ("𝐀" * LONGEST_TOKEN, 3),
        ("\u200d\ufe0f", 0),
    ],
)
def test_each_script_is_counted_as_it_is_split(text: str, tokens: int) -> None:
    assert cut_tokens(text, at_most=NONE) == (text, tokens)


@pytest.mark.parametrize(
    ("text", "at_most", "kept"),
    [
        ("one two three", 2, "one two "),
        ("one two", 2, "one two"),
        ("one", 0, ""),
        ("한국어", 2, "한국"),
        ("a" * 300, 1, "a" * 255),
        ("one, two; ", 1, "one, "),
    ],
)
def test_a_truncated_text_ends_before_a_token(text: str, at_most: int, kept: str) -> None:
    assert cut_tokens(text, at_most=at_most) == (kept, min(at_most, 3))


def _earlier_count(text: str) -> int:
    """Words as they were counted before the engine's tokens were: for scripts with blanks."""
    return len(re.findall(r"\w+", text))


def test_plain_prose_is_split_into_its_words() -> None:
    prose = re.sub(
        r"[^\x00-\x7f]", "", (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    )
    assert cut_tokens(prose, at_most=NONE)[1] == _earlier_count(prose)


def test_parts_without_a_token_are_not_searched() -> None:
    asked = (
        WeightedText("what", 1.0),
        *[WeightedText("...", 0.5)] * 1_000,
        WeightedText("who", 0.2),
    )
    assert bodies.searched(asked) == [WeightedText("what", 1.0), WeightedText("who", 0.2)]
    assert not bodies.is_cut(asked)
    assert bodies.is_cut([WeightedText("w " * 400, 1.0), WeightedText("w", 1.0)])
