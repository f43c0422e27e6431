import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.evaluation.quotes import (
    FoldedText,
    covered,
    normalise_quote,
    quote_span,
    widened,
)
from ccrag.types import Span

PAPER = Path(__file__).parents[4] / "shared" / "data" / "evidence"


def test_white_space_dashes_and_quotation_marks_are_normalised() -> None:
    assert normalise_quote(" “state–of−the‐art”\n\u00a0it’s\t") == '"state-of-the-art" it\'s'


def test_span_is_of_the_original_text() -> None:
    text = "He  said:\n“well—known\u00a0 facts”."
    span = quote_span(text, 'said: "well-known facts"')
    assert span is not None
    assert text[span.start : span.end] == "said:\n“well—known\u00a0 facts”"


@pytest.mark.parametrize(
    ("text", "quote"), [("Abc", "abc"), ("Abc", "Abd"), ("Abc", " "), ("", "a")]
)
def test_no_match(text: str, quote: str) -> None:
    assert quote_span(text, quote) is None


def test_every_occurrence() -> None:
    assert list(FoldedText.of("a  a a").spans("a a")) == [Span(0, 4), Span(3, 6)]


@given(st.text(max_size=60), st.data())
def test_slices_are_found_where_they_match(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    spans = list(FoldedText.of(text).spans(quote))
    assert bool(spans) == bool(quote.strip())
    for span in spans:
        assert normalise_quote(text[span.start : span.end]) == normalise_quote(quote)


@pytest.mark.parametrize(
    ("spans", "whole"),
    [
        ([Span(0, 9)], True),
        ([Span(2, 8)], True),
        ([Span(5, 9), Span(0, 5)], True),
        ([Span(0, 6), Span(4, 9)], True),
        ([Span(0, 4), Span(5, 9)], False),
        ([Span(3, 8)], False),
        ([Span(2, 7)], False),
        ([], False),
    ],
)
def test_union_covers(spans: list[Span], *, whole: bool) -> None:
    assert covered(Span(2, 8), spans) is whole


def test_widened_takes_the_white_space_around() -> None:
    assert widened("a \n b  c", Span(4, 5)) == Span(1, 7)
    assert widened(" a ", Span(1, 2)) == Span(0, 3)


@pytest.mark.skipif(not PAPER.is_dir(), reason="the evidence data is not here")
def test_every_gold_quote_of_the_paper_is_found() -> None:
    folded = FoldedText.of((PAPER / "attention.md").read_text(encoding="utf-8"))
    for name in ("questions.jsonl", "questions_natural.jsonl"):
        for line in (PAPER / name).read_text(encoding="utf-8").splitlines():
            for evidence in json.loads(line)["evidence"]:
                assert list(folded.spans(evidence["quote"])), evidence["id"]
