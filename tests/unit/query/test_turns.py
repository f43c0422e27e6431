"""Variants made of a dialogue's turns."""

import pytest

from ccrag.query.rewrite_rules import leans_back, rewritten, salient_phrases
from ccrag.query.turns import decayed_parts, turn_variants
from ccrag.types import Candidates, Query, Turn, Variant, WeightedText

ALL = ("rewrite", "decayed", "dialogue", "user-turns", "last-three", "last-two")
DECAY = (1.0, 0.5, 0.25)


def dialogue(question: str, *turns: str) -> Query:
    """Turns alternate, the user's first."""
    earlier = tuple(Turn("agent" if at % 2 else "user", text) for at, text in enumerate(turns))
    return Query("q", question, Candidates.of_collection("c"), earlier)


LONG = dialogue("Q5?", "Q1?", "A1.", "Q2?", "A2.", "Q3?", "A3.", "Q4?", "A4.")


def texts(query: Query, *use: str) -> dict[str, str]:
    return {v.name: v.text for v in turn_variants(query, use=use or ALL, decay=DECAY)}


def test_the_newest_turn_comes_first() -> None:
    assert texts(LONG) == {
        "last-two": "Q5?\nQ4?",
        "last-three": "Q5?\nQ4?\nQ3?",
        "user-turns": "Q5?\nQ4?\nQ3?\nQ2?\nQ1?",
        "dialogue": "Q5?\nA4.\nQ4?\nA3.\nQ3?\nA2.\nQ2?\nA1.\nQ1?",
        "decayed": "Q5?\nQ4?\nQ3?\nQ2?\nQ1?",
        "rewrite": "Q5?\nq4 q3",
    }


def test_only_what_is_asked_for_and_no_other_name_matters() -> None:
    assert list(texts(LONG, "original", "last-three", "keywords")) == ["last-three"]
    assert texts(LONG, "original") == {}


def test_a_lone_question_is_its_own_wording_in_each() -> None:
    found = turn_variants(dialogue("Why?"), use=ALL, decay=DECAY)
    assert {variant.text for variant in found} == {"Why?"}
    assert {variant.searched for variant in found} == {(WeightedText("Why?", 1.0),)}
    assert len(found) == len(ALL)


def test_blank_turns_are_no_turns() -> None:
    assert texts(dialogue("Q2?", " ", "A."), "last-two", "dialogue") == {
        "last-two": "Q2?",
        "dialogue": "Q2?\nA.",
    }


@pytest.mark.parametrize(
    ("decay", "parts"),
    [
        ((1.0, 0.5, 0.25), [("c", 1.0), ("b", 0.5), ("a\nz", 0.25)]),
        ((1.0, 0.5), [("c", 1.0), ("b\na\nz", 0.5)]),
        ((1.0, 0.5, 0.0), [("c", 1.0), ("b", 0.5)]),
        ((1.0,), [("c\nb\na\nz", 1.0)]),
        ((1.0, 0.5, 0.4, 0.3, 0.2), [("c", 1.0), ("b", 0.5), ("a", 0.4), ("z", 0.3)]),
    ],
)
def test_the_last_weight_is_that_of_all_older_turns(
    decay: tuple[float, ...], parts: list[tuple[str, float]]
) -> None:
    assert decayed_parts(["c", "b", "a", "z"], decay) == tuple(
        WeightedText(*part) for part in parts
    )


def test_decayed_is_one_variant_of_parts() -> None:
    [variant] = turn_variants(dialogue("b", "a"), use=["decayed"], decay=DECAY)
    assert variant == Variant("decayed", "b\na", (WeightedText("b", 1.0), WeightedText("a", 0.5)))
    assert variant.searched == variant.parts


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("What about its limits?", True),
        ("And how do nations issue long bonds?", True),
        ("How do I cancel it before the annual renewal date?", True),
        ("Regional differences", True),
        ("Which national parks allow overnight camping permits?", False),
        ("How do municipal bonds compare with corporate bonds over time?", False),
        ("Android phones with large batteries reviewed", False),
        ("", True),
    ],
)
def test_which_questions_lean_back(question: str, leans: bool) -> None:
    assert leans_back(question) is leans


def test_the_topic_of_the_dialogue_is_filled_in() -> None:
    query = dialogue(
        "What about its limits?",
        "How does speech recognition work in Watson Assistant?",
        "Watson Assistant sends the audio to a speech recognition service.",
    )
    assert rewritten(query.text, query.turns) == (
        "What about its limits?\nspeech recognition watson assistant"
    )


def test_a_question_that_leans_on_nothing_stays() -> None:
    query = dialogue("Which national parks allow overnight camping?", "Tell me about bonds.", "No.")
    assert rewritten(query.text, query.turns) == query.text
    assert rewritten("What about it?", ()) == "What about it?"


def test_what_the_agent_alone_said_is_no_phrase_but_what_it_took_up_counts_more() -> None:
    turns = dialogue("And then?", "Are bonds or stocks safer?", "Bonds; treasury notes too.").turns
    assert salient_phrases("And then?", turns) == ("bonds", "stocks safer")


def test_more_recent_turns_count_more_and_what_the_question_holds_does_not() -> None:
    turns = dialogue("", "Are bonds safe?", "Yes.", "Are stocks risky?", "Yes.").turns
    assert salient_phrases("And then?", turns) == ("stocks risky", "bonds safe")
    assert salient_phrases("And the risky stocks?", turns) == ("bonds safe",)


def test_small_talk_names_no_topic() -> None:
    turns = dialogue("", "Hi, please tell me more, thanks!", "Sure.").turns
    assert salient_phrases("And then?", turns) == ()
    assert rewritten("And then?", turns) == "And then?"
