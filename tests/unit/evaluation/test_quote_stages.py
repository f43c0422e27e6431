"""What became of a gold quote."""

import pytest

from ccrag.evaluation.evidence_metrics import evidence_measures
from ccrag.evaluation.gold import GoldQuote
from ccrag.evaluation.quote_stages import (
    QuoteContext,
    QuoteEnd,
    QuoteResult,
    context_chars,
    quote_result,
)
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.rundata import PassageSpan, RunAnswer
from tests.unit.measured import figure, named

TEXT = "One is here. Two is there.\n\nThree – far off."
ONE, TWO, THREE = PassageSpan("d", 0, 12), PassageSpan("d", 13, 26), PassageSpan("d", 28, 44)
OTHER = PassageSpan("e", 0, 44)


def way(
    quote: str, ranked: list[PassageSpan], read: list[PassageSpan], selected: int = 1
) -> QuoteResult | None:
    return quote_result(quote, "d", TEXT, QuoteContext(ranked, selected, read))


@pytest.mark.parametrize(
    ("quote", "ranked", "read", "expected"),
    [
        ("Two is there.", [ONE, TWO], [ONE, TWO], QuoteResult(QuoteEnd.FOUND, 2)),
        ("Two is there.", [ONE], [ONE, TWO], QuoteResult(QuoteEnd.FOUND, None)),
        ("here.  Two", [TWO, THREE, ONE], [ONE, TWO], QuoteResult(QuoteEnd.FOUND, 3)),
        ("here. Two", [TWO, ONE], [TWO], QuoteResult(QuoteEnd.CUT, 2)),
        ("Three - far", [ONE, TWO], [ONE], QuoteResult(QuoteEnd.NOT_LISTED, None)),
        ("Three - far", [ONE, TWO, THREE], [ONE], QuoteResult(QuoteEnd.LOW, 3)),
        ("One is", [ONE, TWO], [TWO], QuoteResult(QuoteEnd.DROPPED, 1)),
        ("One is", [OTHER], [OTHER], QuoteResult(QuoteEnd.NOT_LISTED, None)),
        ("Four", [ONE], [ONE], None),
    ],
)
def test_ends(
    quote: str, ranked: list[PassageSpan], read: list[PassageSpan], expected: QuoteResult | None
) -> None:
    assert way(quote, ranked, read) == expected


def test_characters_count_once() -> None:
    overlapping = [
        PassageSpan("d", 0, 10),
        PassageSpan("d", 5, 12),
        PassageSpan("d", 6, 8),
        PassageSpan("e", 0, 3),
    ]
    assert context_chars(overlapping) == 12 + 3
    assert context_chars([]) == 0


def figures(got: RunAnswer | None) -> dict[str, float | LeftOut]:
    quotes = {"q": (GoldQuote("d", "One is here."), GoldQuote("d", "Three – far off."))}
    known = {"quotes": quotes, "texts": {"d": TEXT}}
    return {m.name: figure(m, got, **known) for m in evidence_measures()}


def test_measures() -> None:
    got = RunAnswer((), (), False, (), (ONE, TWO), ranked=(TWO, ONE, THREE), selected=2)
    assert figures(got) == {
        "evidence-recall": 0,
        "passage-recall": 1 / 2,
        "question-recall": 0,
        "quote-rr": 1 / 2,
        "quotes-cut": 0,
        "quotes-unlisted": 0,
        "quotes-low": 1 / 2,
        "quotes-dropped": 0,
        "context-chars": 12 + 13,
    }
    got = RunAnswer((), (), False, (), (ONE, TWO, THREE), ranked=(ONE, THREE), selected=2)
    assert [figures(got)[name] for name in ("question-recall", "quote-rr")] == [1, 1]


def test_a_query_the_run_lacks_lost_everything() -> None:
    found = figures(None)
    assert (found["quote-rr"], found["quotes-unlisted"], found["context-chars"]) == (0, 1, 0)


def test_provenance_without_a_ranking_is_left_out_and_not_zero() -> None:
    got = RunAnswer((), (), False, (), (ONE,))
    measure = named(evidence_measures(), "quote-rr")
    quotes = {"q": (GoldQuote("d", "One is here."),)}
    found = figure(measure, got, quotes=quotes, texts={"d": TEXT})
    assert found == LeftOut("no provenance of the ranking for this query")
