"""Headings and the sections they open."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.text.sections import find_headings, split_sections
from ccrag.types import SectionPath

PAPER = Path(__file__).parents[4] / "shared" / "data" / "evidence" / "attention.md"

lines = st.sampled_from(
    ["# A", "## B", "### C ##", "Title", "=====", "-----", "~~~~~", "```", "text.", "", "  ", "#x"]
)
texts = st.lists(lines).map("\n".join) | st.text()


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in find_headings(text)]


def paths(text: str) -> list[SectionPath]:
    return [section.path for section in split_sections(text)]


@given(texts)
def test_sections_tile_the_text(text: str) -> None:
    assert "".join(text[s.start : s.end] for s in split_sections(text)) == text


@given(texts)
def test_a_section_starts_at_its_heading(text: str) -> None:
    starts = {heading.start for heading in find_headings(text)}
    assert {s.start for s in split_sections(text) if s.start} <= starts


def test_headings_open_nested_sections() -> None:
    text = "intro\n\n# One\na\n## Deep\nb\n### Deeper\n## Other\n# Two\nc"
    assert paths(text) == [
        (),
        ("One",),
        ("One", "Deep"),
        ("One", "Deep", "Deeper"),
        ("One", "Other"),
        ("Two",),
    ]


def test_a_skipped_level_is_no_gap_in_the_path() -> None:
    assert paths("# A\n#### D\n## B\n") == [("A",), ("A", "D"), ("A", "B")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no heading at all", [()]),
        ("  \n# A\nx", [("A",)]),
        ("# A", [("A",)]),
    ],
    ids=["empty", "none", "only white space before", "one"],
)
def test_edges(text: str, expected: list[SectionPath]) -> None:
    assert paths(text) == expected


def test_underlined_levels_follow_their_first_appearance() -> None:
    text = "Top\n***\n\nPart\n====\n\nSub\n---\n\nPart 2\n======\n\nTop 2\n*****\n"
    assert headings(text) == [(1, "Top"), (2, "Part"), (3, "Sub"), (2, "Part 2"), (1, "Top 2")]


def test_over_and_underlined_is_a_style_of_its_own() -> None:
    text = "=======\n Title\n=======\n\nPart\n====\n"
    assert headings(text) == [(1, "Title"), (2, "Part")]
    assert find_headings(text)[0].start == 0


def test_headings_may_follow_each_other_at_once() -> None:
    assert headings("A\n===\nB\n---\n# C\nD\n---\n") == [(1, "A"), (2, "B"), (1, "C"), (2, "D")]


def test_carriage_returns_do_not_hide_headings() -> None:
    assert headings("# A #\r\n\r\nPart\r\n====\r\n\r\ntext") == [(1, "A"), (1, "Part")]


@pytest.mark.parametrize(
    "text",
    [
        "#hashtag",
        "####### seven",
        "    # indented code",
        "# ",
        "two lines of\nprose\n-----\n",
        "Name      Value\n---------------\n",
        "| a | b |\n---------\n",
        "- item\n------\n",
        "=====\n",
        "...\n---\n",
        "```\n# comment\n```\n",
        "~~~ python\n# comment\n```\n# still code\n~~~\n",
        "```\n# never closed\n",
    ],
)
def test_no_heading_is_invented(text: str) -> None:
    assert headings(text) == []


def test_a_heading_after_fenced_code_is_found() -> None:
    assert headings("```\n# code\n````\n# Real\n") == [(1, "Real")]


def test_a_tilde_rule_under_a_title_opens_no_fence() -> None:
    assert headings("Title\n~~~~~\n\n# Next\n") == [(1, "Title"), (1, "Next")]


@pytest.mark.skipif(not PAPER.exists(), reason="needs the development data beside the checkout")
def test_a_real_paper() -> None:
    titles = [title for _, title in headings(PAPER.read_text())]
    assert titles[0] == "Attention Is All You Need"
    assert "Abstract" in titles
    assert len(titles) == PAPER.read_text().count("\n#") + 1
