from typing import Any

import pytest

from ccrag.answering.citations import DraftSentence
from ccrag.answering.extractive import ExtractLimits, extract
from ccrag.answering.wellformed import Defect, defect, has_predicate, well_formed
from ccrag.types import Evidence
from tests.unit.stages import evidence


def drafts(
    *items: Evidence,
    query_text: str = "Why does the sea ice melt?",
    trim: bool = False,
    **limits: float,
) -> tuple[DraftSentence, ...]:
    given: dict[str, Any] = {"max_sentences": 5, "min_words": 3, "max_words": 400, **limits}
    return extract(items, query_text=query_text, limits=ExtractLimits(**given), trim=trim)


def chosen(*texts: str, **limits: Any) -> list[str]:
    items = [evidence(f"e{at}", text) for at, text in enumerate(texts, start=1)]
    return [draft.text for draft in drafts(*items, **limits)]


WARM = "Warm water melts the ice from below."
WIND = "Wind was found to break the ice into floes."
DARK = "Dark ice is quick to take up heat."


def test_whole_sentences_in_order_with_their_evidence() -> None:
    found = drafts(
        evidence("e1", "Warm water\n melts the ice  from below."),
        evidence("e2", "of the ice, which melts."),
        evidence("e3", WIND),
    )
    assert found == (DraftSentence(WARM, ("e1",)), DraftSentence(WIND, ("e3",)))


def test_nothing_left_is_empty() -> None:
    assert chosen() == []
    assert chosen("Ice melts?", "Nothing was said about it.") == []
    assert chosen(WARM, query_text="what is it") == []


def test_without_a_whole_sentence_readable_ones_stand_in() -> None:
    half = "of the ice, which melts in spring"
    assert chosen(half, "Figure 3: the ice melts. (continued)") == [half]
    assert chosen(half, WARM) == [WARM]


def test_sources_without_capitals_are_read_as_they_are() -> None:
    assert chosen("warm water melts the ice .", "of the ice [ melts") == [
        "warm water melts the ice ."
    ]


def test_limits_are_kept() -> None:
    assert chosen(WARM, WIND, max_sentences=1) == [WARM]
    assert chosen(WARM, WIND, min_words=8) == [WIND]
    assert chosen(WARM, WIND, min_coverage=2 / 3) == [WARM]  # ice and melt, of sea, ice, melt
    assert chosen(WARM, WIND, min_coverage=1.0) == []


def test_the_further_limits_are_kept() -> None:
    assert chosen(WARM, WIND, max_sentence_words=7) == [WARM]
    items = [evidence("e1", WARM, doc_id="a"), evidence("e2", WIND, doc_id="a")]
    assert [draft.text for draft in drafts(*items, max_per_document=1)] == [WARM]
    unrelated = "Nothing was said about it."
    assert chosen(unrelated, must_share=False) == [unrelated]


def test_trimming_is_for_display_only() -> None:
    [draft] = drafts(
        evidence("e1", "However, warm water (at 4 °C) melts the ice [3, 4]."), trim=True
    )
    assert draft == DraftSentence("Warm water melts the ice.", ("e1",))


def test_the_word_budget_is_kept_by_whole_sentences() -> None:
    assert chosen(WARM, WIND, DARK, max_words=7 + 8) == [WARM, DARK]
    assert chosen(WARM, max_words=6) == []


def test_repetitions_are_out() -> None:
    nearly = "The warm water melts ice from below."
    assert chosen(WARM, WARM.upper().capitalize(), nearly, WIND) == [WARM, WIND]


def test_titles_come_after_statements() -> None:
    title = "Melting of sea ice in a warm climate."
    assert chosen(title, WARM) == [WARM, title]
    assert has_predicate(WIND)
    assert not has_predicate(title)


@pytest.mark.parametrize(
    "text",
    [
        WARM,
        "“Ice melts,” they said in 2019.",
        "(Ice melts in warm water.)",
        "5. The tenant shall pay the rent in advance.",
        "(2) The controller shall keep a record of processing.",
        "p53 is a tumour suppressor in many tissues.",
        "α-synuclein forms fibrils in the cell.",
        "Figure 2 shows that the ice melts in spring.",
        "Smith et al. report a loss of 3.5 mg per day (p < 0.05).",
        "The office is open from 10:30-11:00 on most days.",
        "TensorFlow and PyTorch were used to train the networks.",
        "模型在三个数据集上取得了更好的结果。",
        "Лёд тает в тёплой воде каждую весну.",
    ],
)
def test_well_formed(text: str) -> None:
    assert defect(text, min_words=5) is None
    assert well_formed(text, min_words=5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "short"),
        ("Ice melts.", "short"),
        ("Ice \x02 melts in the warm water.", "noise"),
        ("Ice melts in \n 17 \n the warm water.", "page break"),
        ("Ice | melts | in | warm | water.", "table"),
        ("The 1 2 Policy agenda of the board.", "table"),
        ("The values were 1.751.50 for all of them.", "table"),
        ("melts the ice from below the surface.", "opening"),
        ("- Warm water melts the ice from below.", "opening"),
        ("Warm water melts the ice from", "ending"),
        ("Warm water was described by Smith et al.", "ending"),
        ("We make three recommendations for policy: 1.", "ending"),
        ("Does warm water melt the ice?", "question"),
        ("Warm water (Smith 2019 melts the ice.", "brackets"),
        ("Rates were 12.1 13.2 14.3 15.4 16.5 ± 2.0.", "letters"),
        ("MELTING ICE IN THE SEA.", "capitals"),
        ("Figure 2. Melting of ice in spring.", "caption"),
        ("Table S1: Rates of melting by year.", "caption"),
        ("[44] Melting of ice in the sea.", "numbered"),
        ("(32–36) Given that ice melts in water.", "numbered"),
        ("86 87 The outcome was the loss of ice.", "numbered"),
        ("2.1 Prior Work It is known that ice melts.", "numbered"),
        ("Miller A, Jones BC, Lee D. Melting of ice in the sea.", "reference"),
        ("3 Miller, A. B. Melting of ice in the sea.", "reference"),
        ("The melting of ice, Nature 3 (2): 222.", "reference"),
        ("The data are at https://example.org for all.", "reference"),
        ("All rights reserved by the owners of it.", "boilerplate"),
        ("It is an open access article under the terms.", "boilerplate"),
        ("The loss was high.The ice was thin by then.", "joined"),
        ("The ice will remain.10,11 Many have shown it.", "joined"),
        ("INTRODUCTIONIn spring the ice melts.", "joined"),
    ],
)
def test_defects_are_named(text: str, reason: Defect) -> None:
    assert defect(text, min_words=5) == reason
    assert not well_formed(text, min_words=5)
