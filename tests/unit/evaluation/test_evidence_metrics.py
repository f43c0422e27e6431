import pytest

from ccrag.evaluation.evidence_metrics import abstention_measures, evidence_measures
from ccrag.evaluation.gold import GoldQuote
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.rundata import PassageSpan, RunAnswer, RunSentence
from tests.unit.measured import answer, evidence, figure

TEXTS = {"d1": "One ends. Two goes on.", "d2": "Three stops."}
QUOTES = {"q": (GoldQuote("d1", "One ends."), GoldQuote("d2", "Three stops."))}


def shares(got: RunAnswer | None, **gold: object) -> list[float | LeftOut]:
    known = {"quotes": QUOTES, "texts": TEXTS} | gold
    return [figure(measure, got, **known) for measure in evidence_measures()[:2]]


def test_quotes_are_found_in_evidence_and_in_passages() -> None:
    shown = (evidence(1, "d1", "One ends."),)
    read = (PassageSpan("d1", 0, 22), PassageSpan("d2", 0, 12))
    assert shares(answer(RunSentence("A."), shown=shown, read=read)) == [1 / 2, 2 / 2]
    assert shares(None) == [0 / 2, 0 / 2]


def test_a_quote_counts_in_its_own_document() -> None:
    got = answer(RunSentence("A."), read=(PassageSpan("d2", 0, 12),))
    quotes = {"q": (GoldQuote("d1", "One ends."),)}
    assert shares(got, quotes=quotes, texts=TEXTS | {"d2": "One ends."})[1] == 0


def test_shares_that_are_not_defined() -> None:
    got = answer(RunSentence("A."))
    assert shares(got, quotes={}) == [LeftOut("no gold quotes")] * 2
    assert shares(got, texts={}) == [LeftOut("no gold quote stands in the documents")] * 2
    bare = answer(RunSentence("A."), shown=None, read=None)
    assert shares(bare) == [LeftOut("no provenance for this query")] * 2


ANSWERED = answer(RunSentence("A.", (0,)))


@pytest.mark.parametrize(
    ("got", "answerable", "accuracy", "precision", "recall"),
    [
        (ANSWERED, True, 1, LeftOut("answered"), LeftOut("answerable")),
        (ANSWERED, False, 0, LeftOut("answered"), 0),
        (None, True, 0, 0, LeftOut("answerable")),
        (None, False, 1, 1, 1),
    ],
)
def test_abstention(
    got: RunAnswer | None,
    answerable: bool,
    accuracy: float,
    precision: float | LeftOut,
    recall: float | LeftOut,
) -> None:
    found = [figure(m, got, answerable={"q": answerable}) for m in abstention_measures()]
    assert found == [accuracy, precision, recall]


def test_unknown_answerability() -> None:
    unknown = LeftOut("answerability is not known")
    assert [figure(m, None, answerable={}) for m in abstention_measures()] == [unknown] * 3
