from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.evidence import CandidateSentence, candidate_sentences
from ccrag.answering.merit import MAX_PASSED, Merit, by_merit, merits
from ccrag.answering.wellformed import Defect
from tests.unit.stages import passage


def sentences(*texts: str) -> list[CandidateSentence]:
    whole = passage("a", sentences=[f"{text} " for text in texts])
    return list(candidate_sentences([whole], sentences_per_passage=99, is_heading=lambda *_: False))


def merit_of(question: str, *texts: str, min_words: int = 12) -> dict[str, Merit]:
    found = sentences(*texts)
    by_key = merits(question, found, {}, min_words=min_words, max_words=45)
    return {sentence.text: by_key[sentence.key] for sentence in found}


def order(*given_merits: Merit, at_most: int = 10) -> list[int]:
    """Places of the sentences, of which the first is scored best, in the order chosen."""
    found = sentences(*(f"number {at}" for at in range(len(given_merits))))
    by_key = {sentence.key: merit for sentence, merit in zip(found, given_merits, strict=True)}
    return [found.index(chosen) for chosen in by_merit(found, by_key, at_most=at_most)]


SHORT: tuple[Defect, ...] = ("short",)
CAPTION: tuple[Defect, ...] = ("caption",)


@pytest.mark.parametrize(
    ("given_merits", "expected"),
    [
        ((), []),
        ((Merit(0.2), Merit(0.9)), [0, 1]),  # without defects the score decides
        ((Merit(1.0, SHORT), Merit(0.84)), [0, 1]),  # 1 * (1 - .15) = .85
        ((Merit(1.0, SHORT), Merit(0.86)), [1, 0]),
        ((Merit(1.0, CAPTION), Merit(0.41)), [1, 0]),  # 1 * (1 - .6) = .4
        ((Merit(1.0, CAPTION), Merit(0.39)), [0, 1]),
        ((Merit(1.0, CAPTION), Merit(0.9, SHORT), Merit(0.1)), [1, 0, 2]),
        ((Merit(1.0, SHORT), Merit(1.0, SHORT)), [0, 1]),
        ((Merit(0.0, SHORT), Merit(0.0)), [1, 0]),
    ],
)
def test_a_defect_lets_past_what_answers_nearly_as_well(
    given_merits: tuple[Merit, ...], expected: list[int]
) -> None:
    assert order(*given_merits) == expected


def test_no_sentence_is_passed_by_more_than_some() -> None:
    many = [Merit(1.0, CAPTION), *[Merit(0.9)] * 20]
    assert order(*many).index(0) == MAX_PASSED


def test_costs_multiply() -> None:
    assert Merit(1.0, ("short", "caption")).worth == pytest.approx((1 - 0.15) * (1 - 0.6))


merit_values = st.builds(
    Merit, st.floats(0, 1), st.lists(st.sampled_from(["short", "caption"]), max_size=2).map(tuple)
)


@given(st.lists(merit_values, max_size=14), st.integers(1, 14))
def test_nothing_is_lost_and_equal_form_keeps_its_order(found: list[Merit], at_most: int) -> None:
    chosen = order(*found, at_most=at_most)
    assert len(chosen) == min(at_most, len(found))
    plain = [at for at in chosen if found[at].cost == 0]
    assert all(one < other for one, other in pairwise(plain))
    if len(found) <= at_most:
        assert sorted(chosen) == list(range(len(found)))
        assert all(place - at <= MAX_PASSED for place, at in enumerate(chosen))


def test_relevance_is_the_share_of_the_best() -> None:
    found = merit_of(
        "What is the maximum daily dose?",
        "The maximum daily dose is 4 grams.",
        "Never combine it with alcohol.",
    )
    dose, alcohol = found.values()
    assert (dose.relevance, dose.defects) == (1.0, ("short",))
    assert alcohol.relevance == 0.0


def test_without_words_in_common_meaning_decides() -> None:
    found = sentences("Die Dosis beträgt vier Gramm.", "Nie mit Alkohol.")
    cosines = {found[0].key: 0.6, found[1].key: -0.1}
    by_key = merits("最大剂量", found, cosines, min_words=3, max_words=None)
    assert [by_key[sentence.key].relevance for sentence in found] == [1.0, 0.0]
    assert merits("?", found, {}, min_words=3, max_words=None)[found[0].key].relevance == 0.0
