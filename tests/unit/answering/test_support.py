"""Generated sentences held against their evidence."""

import pytest

from ccrag.answering.citations import DraftSentence
from ccrag.answering.support import OnUnsupported, SupportCheck, checked, contained, lexical_support
from tests.unit.stages import evidence

SHOWN = [
    evidence("e1", "The dam is 61 metres high."),
    evidence("e2", "It was finished in 1931."),
]
HELD = DraftSentence("The dam is 61 metres high.", ("e1",))
JOINT = DraftSentence("The dam, 61 metres high, was finished in 1931.", ("e1", "e2"))
INVENTED = DraftSentence("Tourists adore boat trips.", ("e1", "e2"))
WORDLESS = DraftSentence("It is so.", ("e1",))


@pytest.mark.parametrize(
    ("evidence_text", "sentence", "share"),
    [
        ("The dam is 61 metres high.", "The dam is high.", 1.0),
        ("The dam is high.", "The dam is 61 metres high.", 2 / 4),
        ("Dams were finished.", "The dam is finished.", 1.0),
        ("Nothing of it.", "The dam is high.", 0.0),
        ("", "The dam is high.", 0.0),
        ("The dam.", "It is so.", None),
    ],
)
def test_containment_is_the_share_of_content_terms(
    evidence_text: str, sentence: str, share: float | None
) -> None:
    assert contained(evidence_text, sentence) == share


@pytest.mark.parametrize(
    ("evidence_text", "sentence", "support"),
    [
        ("The dam is 61 metres high.", "The dam is 900 metres high.", 0.0),
        ("The dam is 61 metres high.", "The dam is 61 metres high.", 1.0),
        ("It cost 4,711,000 crowns.", "It cost 4711000 crowns.", 2 / 3),
        ("It fell by 3.5 % in 1931.", "In 1931 it fell by 3.5 %.", 1.0),
        ("It fell by 3.5 % in 1931.", "In 1931 it fell by 35 %.", 0.0),
        ("In 1931.", "Since then.", None),
    ],
)
def test_a_number_that_the_evidence_does_not_hold_is_not_supported(
    evidence_text: str, sentence: str, support: float | None
) -> None:
    assert lexical_support(evidence_text, sentence) == support


@pytest.mark.parametrize(
    ("unsupported", "marks"),
    [
        ("keep", [(HELD.text, None), (INVENTED.text, None), (WORDLESS.text, None)]),
        ("flag", [(HELD.text, True), (INVENTED.text, False), (WORDLESS.text, None)]),
        ("drop", [(HELD.text, True), (WORDLESS.text, None)]),
    ],
)
def test_what_becomes_of_an_unsupported_sentence(
    unsupported: OnUnsupported, marks: list[tuple[str, bool | None]]
) -> None:
    check = SupportCheck(unsupported, 0.5, lexical_support)
    drafts, notes = checked([HELD, INVENTED, WORDLESS], SHOWN, check)
    assert [(draft.text, draft.supported) for draft in drafts] == marks
    done = {"keep": [], "flag": ["flagged"], "drop": ["left out"]}[unsupported]
    assert [note.message for note in notes] == [
        f"sentence 2 {word}: supported 0.00: {INVENTED.text!r}" for word in done
    ]


def test_several_pieces_of_evidence_count_together() -> None:
    drafts, _ = checked([JOINT], SHOWN, SupportCheck("drop", 1.0, lexical_support))
    assert [draft.supported for draft in drafts] == [True]


@pytest.mark.parametrize(("threshold", "supported"), [(0.5, True), (0.51, False)])
def test_the_threshold_decides(threshold: float, supported: bool) -> None:
    half = DraftSentence("The dam has turbines.", ("e1",))
    drafts, _ = checked([half], SHOWN, SupportCheck("flag", threshold, lexical_support))
    assert [draft.supported for draft in drafts] == [supported]


def test_another_measure_sees_the_joined_evidence_and_the_sentence() -> None:
    seen: list[tuple[str, str]] = []

    def measure(premise: str, hypothesis: str) -> float:
        seen.append((premise, hypothesis))
        return 0.9

    drafts, _ = checked([INVENTED], SHOWN, SupportCheck("drop", 0.5, measure))
    assert seen == [("The dam is 61 metres high. It was finished in 1931.", INVENTED.text)]
    assert [draft.supported for draft in drafts] == [True]


def test_no_drafts() -> None:
    assert checked([], SHOWN, SupportCheck("drop", 0.5, lexical_support)) == ((), ())


@pytest.mark.parametrize(
    ("evidence_text", "sentence"),
    [
        ("The shop opens at nine.", "The shop does not open at nine."),
        ("The shop does not open at nine.", "The shop opens at nine."),
        ("The shop doesn’t open at nine.", "The shop opens at nine."),
        ("The shop opens at nine.", "The shop opens at ten."),
        ("The dam is 61 metres high. It was finished in 1931.", "The dam is 1931 metres high."),
        ("Never combine it with alcohol.", "Combine it with alcohol."),
        ("Der Laden öffnet um neun.", "Der Laden öffnet nicht um neun."),
        ("Le magasin ouvre le lundi.", "Le magasin n'ouvre pas le lundi."),
        ("La tienda abre el lunes.", "La tienda no abre el lunes."),
        ("Il negozio apre lunedì.", "Il negozio non apre lunedì."),
        ("A loja abre segunda.", "A loja não abre segunda."),
        ("De winkel opent maandag.", "De winkel opent niet maandag."),
        ("Магазин открыт утром.", "Магазин не открыт утром."),
        ("商店周一开门。", "商店周一不开门。"),
        ("店は月曜日に開きます。", "店は月曜日に開きません。"),
    ],
)
def test_what_is_denied_or_counted_otherwise_is_not_supported(
    evidence_text: str, sentence: str
) -> None:
    assert lexical_support(evidence_text, sentence) == 0.0


@pytest.mark.parametrize(
    ("evidence_text", "sentence"),
    [
        ("The shop does not open at nine, but opens at ten.", "The shop opens at ten."),
        ("The shop opens at ten, not at nine.", "It opens at ten."),
        ("The shop opens at nine. It does not open on Sunday.", "The shop opens at 9."),
        ("The dam is high. It was never finished.", "The dam is high and was never finished."),
        ("It is not only high but old.", "It is high."),
        ("See No. 7 of the list.", "See 7 of the list."),
        ("It does not open at nine.", "At nine it isn't open."),
        ("商店周一不开门。", "商店周一不开门。"),
    ],
)
def test_what_is_denied_and_counted_alike_stays_supported(
    evidence_text: str, sentence: str
) -> None:
    assert (lexical_support(evidence_text, sentence) or 0) >= 0.5
