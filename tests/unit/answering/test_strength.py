import pytest

from ccrag.answering.strength import strength_of

DOSE = "The maximum daily dose is 4 grams."
AMONG = [DOSE, "The sea is cold.", "Wind blows."]


def test_words_that_are_missing_are_named_as_they_were_asked() -> None:
    found = strength_of(
        "Who won the world cups in 1998?", ["The cups are hot."], among=[*AMONG, "A cup.", "Cups."]
    )
    assert (found.level, found.missing) == ("weak", ("won", "world", "1998"))
    assert found.reason == (
        "1 of 4 content words of the question stand in it, without 'won', 'world', '1998'"
    )


@pytest.mark.parametrize(
    ("question", "closest", "level"),
    [
        ("What is the maximum daily dose?", None, "strong"),
        ("Who won the world cup?", None, "weak"),
        ("Who won the world cup?", 0.39, "weak"),
        ("Who won the world cup?", 0.4, "strong"),  # other words for it
        ("What is the maximum daily dose?", 0.1, "strong"),
        ("每日最大剂量是多少？", 0.7, "strong"),
        ("what is it", None, "weak"),
    ],
)
def test_levels(question: str, closest: float | None, level: str) -> None:
    assert strength_of(question, [DOSE], among=AMONG, closest=closest).level == level


def test_no_evidence() -> None:
    found = strength_of("maximum dose", [], among=[])
    assert (found.level, found.covered, found.missing) == ("none", 0.0, ("maximum", "dose"))


def test_rare_words_weigh_more() -> None:
    among = ["dose one", "dose two", "dose three", "limit"]
    common = strength_of("dose limit", ["dose"], among=among).covered
    rare = strength_of("dose limit", ["limit"], among=among).covered
    assert common < 0.5 < rare
    assert common + rare == pytest.approx(1.0)


def test_an_answer_without_evidence_says_what_was_looked_at() -> None:
    nothing, read = strength_of("dose", [], among=[]), strength_of("dose", [], among=AMONG)
    assert (nothing.level, nothing.reason) == (
        "none",
        "no evidence: no passage of the candidates was found",
    )
    assert read.reason == f"no evidence: none was taken from the {len(AMONG)} passages read"
