"""Foreign text cut for messages."""

import pytest

from ccrag.text.truncate import SHOWN_CHARS, short_repr, shortened


@pytest.mark.parametrize(
    ("text", "expected"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("a" * 99, "aaa…")]
)
def test_a_text_is_never_longer_than_asked(text: str, expected: str) -> None:
    assert shortened(text, max_chars=4) == expected


def test_values_are_shown_as_python_writes_them() -> None:
    assert short_repr("a\nb") == r"'a\nb'"
    assert short_repr(["x"] * 99).endswith("…")
    assert len(short_repr("x" * 99)) == SHOWN_CHARS
