"""A model's text that nobody checked is shown as plain words."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.llm.plain_words import MAX_CHARS, plain_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Which dam do you mean?", "Which dam do you mean?"),
        (
            "Is it d_k (the key's size) or n = 3?",
            "Is it d_k (the key's size) or n = 3?",
        ),
        ("See [this page](https://evil.example/?q=1) first?", "See this page first?"),
        ("![x](http://evil.example/p.png) Which one?", "x Which one?"),
        ("<img src=x onerror=alert(1)> Which <b>one</b>?", "Which one ?"),
        ("&lt;script&gt;alert(1)&lt;/script&gt; Which?", "alert(1) Which?"),
        ("&amp;lt;b&amp;gt;Which?", "Which?"),
        ("# **Which** _one_ `now`?", "Which one now ?"),
        ("Go to https://evil.example or www.evil.example now?", "Go to or now?"),
        ("Mail me@evil.example or evil.example/login?", "Mail or"),
        ("<javascript:alert(1)> Which?", "Which?"),
        ("\x1b[31mred\x1b]8;;http://e.example\x07 Which\u202e one\u200b?", "31mred Which one?"),
        ("[ref]: http://evil.example Which?", "ref : Which?"),
    ],
)
def test_only_words_are_shown(text: str, shown: str) -> None:
    assert plain_words(text) == shown


def test_what_is_too_long_is_not_shown() -> None:
    assert plain_words("a " * MAX_CHARS) == ""
    assert plain_words("<b>" * 100_000) == ""


PIECES = st.sampled_from(
    ["<", ">", "[", "]", "(", ")", "!", "http://e.example", "&lt;", "&#60;", "*", "`", "\x1b", "a"]
)


@given(st.lists(PIECES | st.characters(), max_size=40).map("".join))
def test_no_mark_up_is_left(text: str) -> None:
    shown = plain_words(text)
    assert not set(shown) & set("<>[]{}|`*~#\\^")
    assert "://" not in shown
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Co") for c in shown)
