from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from ccrag.answering.citations import DraftSentence
from ccrag.answering.extractive import ExtractLimits, extract
from ccrag.answering.merit import Merit
from ccrag.answering.wellformed import COSTS, Defect, Habits, defects, habits_of, has_predicate
from ccrag.types import Evidence
from tests.unit.stages import evidence


def drafts(
    *items: Evidence,
    query_text: str = "Why does the sea ice melt?",
    trim: bool = False,
    merit: Mapping[str, Merit] = MappingProxyType({}),
    **limits: float,
) -> tuple[DraftSentence, ...]:
    given: dict[str, Any] = {"max_sentences": 5, "max_words": 400, **limits}
    return extract(
        items, query_text=query_text, limits=ExtractLimits(**given), merit=merit, trim=trim
    ).drafts


def chosen(*texts: str, **limits: Any) -> list[str]:
    items = [evidence(f"e{at}", text) for at, text in enumerate(texts, start=1)]
    return [draft.text for draft in drafts(*items, **limits)]


WARM = "Warm water melts the ice from below."
WIND = "Wind was found to break the ice into floes."
DARK = "Dark ice is quick to take up heat."


def test_sentences_in_order_with_their_evidence() -> None:
    found = drafts(
        evidence("e1", "Warm water\n melts the ice  from below."),
        evidence("e2", "The wind is cold in May."),
        evidence("e3", WIND),
    )
    assert found == (DraftSentence(WARM, ("e1",)), DraftSentence(WIND, ("e3",)))


def test_nothing_left_is_empty() -> None:
    assert chosen() == []
    assert chosen("Nothing was said about it.") == []
    assert chosen(WARM, query_text="what is it") == []


def test_limits_are_kept_and_what_is_left_out_is_told() -> None:
    assert chosen(WARM, WIND, max_sentences=1) == [WARM]
    assert chosen(WARM, WIND, min_coverage=2 / 3) == [WARM]  # ice and melt, of sea, ice, melt
    assert chosen(WARM, WIND, min_coverage=1.0) == []
    items = [evidence("e1", WARM, doc_id="a"), evidence("e2", WIND, doc_id="a")]
    limits = ExtractLimits(max_sentences=5, max_words=400, max_per_document=1)
    found = extract(items, query_text="ice", limits=limits, merit={"e1": Merit(), "e2": Merit(0.5)})
    assert [draft.text for draft in found.drafts] == [WARM]
    assert found.left_out == {"e2": "answer.max_per_document is reached"}
    unrelated = "Nothing was said about it."
    assert chosen(unrelated, must_share=False) == [unrelated]


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        (Merit(0.94), False),  # its document has given its sentence
        (Merit(0.95), True),  # nearly as good as the best: one more
        (Merit(0.4, ("short",)), True),  # takes no place; .4 * .85 = .34
        (Merit(0.3, ("short",)), False),  # .3 * .85 is less than .3 of the best
        (Merit(0.9, ("caption",)), False),
    ],
)
def test_what_a_document_may_give_besides_its_sentence(second: Merit, kept: bool) -> None:
    items = [evidence("e1", WARM, doc_id="a"), evidence("e2", WIND, doc_id="a")]
    merit = {"e1": Merit(1.0), "e2": second}
    found = drafts(*items, merit=merit, max_per_document=1)
    assert [draft.text for draft in found] == [WARM, WIND][: 1 + kept]


def test_the_first_is_never_lost_by_its_form() -> None:
    merit = {"e1": Merit(0.2, ("caption", "letters")), "e2": Merit(1.0)}
    items = [evidence("e1", WARM), evidence("e2", WIND)]
    assert [draft.text for draft in drafts(*items, merit=merit)] == [WARM, WIND]


def test_trimming_is_for_display_only() -> None:
    [draft] = drafts(
        evidence("e1", "However, warm water (at 4 °C) melts the ice [3, 4]."), trim=True
    )
    assert draft == DraftSentence("Warm water (at 4 °C) melts the ice.", ("e1",))


def test_the_word_budget_is_kept_by_whole_sentences() -> None:
    assert chosen(WARM, WIND, DARK, max_words=7 + 8) == [WARM, DARK]
    assert chosen(WARM, max_words=6) == []


def test_repetitions_are_out() -> None:
    nearly = "The warm water melts ice from below."
    assert chosen(WARM, WARM.upper().capitalize(), nearly, WIND) == [WARM, WIND]


def test_a_verb_is_looked_for_where_most_sentences_show_one() -> None:
    title = "Melting of sea ice in a warm climate."
    assert has_predicate(WIND)
    assert not has_predicate(title)
    english = habits_of([WARM, WIND, title], min_words=3, max_words=None)
    assert (english.verbs, defects(title, english)) == (True, ("no verb",))
    german = habits_of(["Das Eis schmilzt im Mai.", title], min_words=3, max_words=None)
    assert (german.verbs, defects(title, german)) == (False, ())


def test_sources_without_capitals_are_read_as_they_are() -> None:
    small = ["warm water melts the ice .", "ice is cold ."]
    assert not habits_of(small, min_words=3, max_words=None).cased
    assert defects(small[0], Habits(3, cased=False)) == ()
    assert defects(small[0], Habits(3)) == ("opening",)


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
        "Copyright in a photograph lasts for seventy years.",
        "The library is licensed under the MIT License.",
        "Works under a Creative Commons licence may be copied.",
        "模型在三个数据集上取得了更好的结果。",
        "Лёд тает в тёплой воде каждую весну.",
    ],
)
def test_well_formed(text: str) -> None:
    assert defects(text, Habits(5, verbs=False)) == ()


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
        ("The data are at https://example.org for all.", "address"),
        ("All rights reserved by the owners of it.", "notice"),
        ("It is an open access article under the terms.", "notice"),
        ("Ice melts " * 20 + "in spring.", "long"),
        ("The loss was high.The ice was thin by then.", "joined"),
        ("The ice will remain.10,11 Many have shown it.", "joined"),
        ("INTRODUCTIONIn spring the ice melts.", "joined"),
    ],
)
def test_defects_are_named(text: str, reason: Defect) -> None:
    found = defects(text, Habits(5, max_words=30, verbs=False))
    assert found[0] == reason
    assert all(0 < COSTS[defect] < 1 for defect in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Its dam was finished in 1901, as the archive shows.", "1902"),
        ("The old valve of the pump opens at nine every day.", "ten"),
    ],
)
def test_sentences_that_differ_in_a_number_are_both_kept(one: str, other: str) -> None:
    changed = one.replace("1901", other).replace("nine", other)
    assert len(chosen(one, changed, query_text="dam pump valve")) == 2


def test_a_sentence_and_its_denial_are_both_kept() -> None:
    one = "The old valve of the pump opens every day in winter."
    assert len(chosen(one, one.replace("opens", "does not open"), query_text="pump valve")) == 2
