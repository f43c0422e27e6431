"""Highlighting, and cursors of lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.types import Span
from ccrag.web.cursors import read_cursor, read_document_cursor, write_cursor
from ccrag.web.problems import ProblemError
from ccrag.web.spans import parted, read_spans

TEXT = "The dam 😀 was finished."


def shown(*spans: tuple[int, int], start: int = 0, end: int | None = None) -> str:
    """The parts as one line, highlighted ones in brackets."""
    parts = parted(TEXT, [Span(*span) for span in spans], start=start, end=end)
    return "".join(f"[{part.text}]" if part.highlighted else part.text for part in parts)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), TEXT),
        (((4, 7),), "The [dam] 😀 was finished."),
        (((0, len(TEXT)),), f"[{TEXT}]"),
        (((4, 7), (10, 13)), "The [dam] 😀 [was] finished."),
        (((10, 13), (4, 7)), "The [dam] 😀 [was] finished."),
        (((4, 9), (8, 13)), "The [dam 😀 was] finished."),
        (((4, 7), (7, 9)), "The [dam 😀] was finished."),
        (((4, 4), (7, 4)), TEXT),
        (((14, 900), (800, 900)), "The dam 😀 was [finished.]"),
    ],
)
def test_spans_are_highlighted(spans: tuple[tuple[int, int], ...], expected: str) -> None:
    assert shown(*spans) == expected


def test_a_window_cuts_text_and_spans() -> None:
    assert shown((4, 13), start=6, end=12) == "[m 😀 wa]"
    assert shown((0, 3), start=6, end=12) == "m 😀 wa"
    assert shown(start=90) == ""


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6),
    st.integers(0, 45),
)
def test_parts_are_the_text_and_highlight_what_spans_hold(
    text: str, spans: list[tuple[int, int]], start: int
) -> None:
    parts = parted(text, [Span(*span) for span in spans], start=start)
    assert "".join(part.text for part in parts) == text[start:]
    for part in parts:
        assert part.text == text[part.start : part.end]
        for at in range(part.start, part.end):
            assert part.highlighted == any(low <= at < high for low, high in spans)


def test_spans_as_written() -> None:
    assert read_spans(["4-7", "0-0"]) == [Span(4, 7), Span(0, 0)]


@pytest.mark.parametrize("written", ["4", "-4-7", "a-b", "4-7-9", "1-99999999999999", ""])
def test_other_spans_are_refused(written: str) -> None:
    with pytest.raises(ProblemError, match="a span is written START-END"):
        read_spans([written])


def test_too_many_spans_are_refused() -> None:
    with pytest.raises(ProblemError, match="too_large: at most 200 spans"):
        read_spans(["1-2"] * 201)


@pytest.mark.parametrize("after", [("doc",), (1.5, "doc"), (3,), ("ü/?#",)])
def test_a_cursor_is_read_back(after: tuple[object, ...]) -> None:
    cursor = write_cursor(after)
    assert cursor is not None
    assert cursor.isascii()
    assert "=" not in cursor
    assert read_cursor(cursor, tuple(map(type, after))) == after


def test_no_cursor_is_none() -> None:
    assert write_cursor(None) is None
    assert read_cursor(None, (str,)) is None


@pytest.mark.parametrize("kinds", [(str,), (float, str), (int,)])
@pytest.mark.parametrize(
    "cursor",
    ["!", "bm8", "e30", "W10", "W3RydWVd", "WyJhIiwiYiJd", "ü", "W1tdXQ", "WzFlNDAsIngiXQ"],
)
def test_a_forged_cursor_is_refused(cursor: str, kinds: tuple[type, ...]) -> None:
    with pytest.raises(ProblemError, match="no such cursor"):
        read_cursor(cursor, kinds)


def test_a_cursor_of_another_list_is_refused() -> None:
    by_title, by_id = write_cursor((1.5, "doc")), write_cursor(("doc",))
    assert read_document_cursor(by_title, "dam") == (1.5, "doc")
    assert read_document_cursor(by_id, " ") == ("doc",)
    for cursor, title in ((by_title, ""), (by_id, "dam")):
        with pytest.raises(ProblemError, match="no such cursor"):
            read_document_cursor(cursor, title)
