"""Features of a query's way, in figures that can be worked out by hand."""

from collections.abc import Sequence
from math import log, log1p

import pytest

from ccrag.answering.answerability import AnswerabilityInput, features
from ccrag.types import Passage, Ranking, Turn
from tests.unit.stages import passage, ranking

EMPTY = Ranking("q1", "rrf", ())
OF_TURNS = {"turns", "length", "said-before", "leans-back"}


def seen(
    question: str = "blue whales",
    *,
    turn: str | None = None,
    turns: tuple[Turn, ...] = (),
    lists: Sequence[Ranking] = (),
    bm25: Sequence[Sequence[float]] = (),
    cosines: Sequence[Sequence[float]] | None = (),
    final: Ranking = EMPTY,
    shortlist: Sequence[Passage] = (),
    read: Sequence[Passage] | None = None,
    evidence: Sequence[str] = (),
    closest: float | None = 0.0,
) -> AnswerabilityInput:
    return AnswerabilityInput(
        question=question,
        turn=question if turn is None else turn,
        turns=turns,
        leans_back=False,
        lists=lists,
        bm25=bm25,
        cosines=cosines,
        ranking=final,
        shortlist=shortlist,
        read=shortlist if read is None else read,
        evidence=evidence,
        closest=closest,
    )


def test_a_typical_way() -> None:
    first, second = ranking("a", "b", "c"), ranking("b", "a", "d")
    found = features(
        seen(
            lists=[first, second],
            bm25=[[10.0, 8.0, 6.0, 4.0, 2.5, 1.0]],
            cosines=[[0.8, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]],
            final=ranking("a", "b"),
            closest=0.7,
        )
    )
    assert found["bm25-top"] == pytest.approx(log1p(10))
    assert found["bm25-drop"] == pytest.approx((10 - 2.5) / 10)
    assert found["dense-top"] == 0.8
    assert found["dense-drop"] == pytest.approx(0.8 - (0.5 + 0.4 + 0.3 + 0.2 + 0.1) / 5)
    assert found["first-agreed"] == pytest.approx((1 / 1 + 1 / 2) / 2)
    assert found["agreement"] == pytest.approx(2 / 3)
    assert found["sentence-top"] == 0.7


def test_several_lists_of_a_source_are_averaged() -> None:
    found = features(seen(bm25=[[3.0], [1.0, 1.0, 1.0, 1.0, 0.5]], cosines=[[0.4], [0.2, 0.1]]))
    assert found["bm25-top"] == pytest.approx((log1p(3) + log1p(1)) / 2)
    assert found["bm25-drop"] == pytest.approx((1.0 + 0.5) / 2)
    assert found["dense-top"] == pytest.approx(0.3)
    assert found["dense-drop"] == pytest.approx((0.0 + 0.1) / 2)


def test_nothing_found_is_zero_everywhere() -> None:
    found = features(seen(lists=[EMPTY, EMPTY], bm25=[[]], cosines=[[]]))
    assert {name: value for name, value in found.items() if name not in OF_TURNS} == dict.fromkeys(
        found.keys() - OF_TURNS, 0.0
    )


def test_a_question_without_terms_and_no_lists() -> None:
    found = features(seen("what is it", shortlist=[passage("a", "Whales are blue.")]))
    assert set(found.values()) == {0.0}


def test_a_lone_list_agrees_with_itself() -> None:
    found = features(seen(lists=[ranking("a")], final=ranking("a")))
    assert (found["agreement"], found["first-agreed"]) == (1.0, 1.0)


def test_ties_and_one_hit() -> None:
    tied = features(seen(bm25=[[2.0] * 6], cosines=[[0.5] * 6]))
    assert (tied["bm25-drop"], tied["dense-drop"]) == (0.0, 0.0)
    one = features(seen(bm25=[[2.0]], cosines=[[0.5]]))
    assert (one["bm25-drop"], one["dense-drop"]) == (1.0, 0.0)


def test_a_list_that_lacks_the_first_passage_does_not_agree() -> None:
    found = features(seen(lists=[ranking("b"), ranking("a")], final=ranking("a")))
    assert (found["first-agreed"], found["agreement"]) == (0.5, 0.0)


def test_features_depend_on_what_the_pipeline_has() -> None:
    bare = features(seen(cosines=None, closest=None))
    assert {"dense-top", "dense-drop", "sentence-top"}.isdisjoint(bare)
    whole = features(seen())
    assert whole.keys() - bare.keys() == {"dense-top", "dense-drop", "sentence-top"}


def test_covered_terms_are_weighted_by_idf_over_the_shortlist() -> None:
    both, one, none = passage("a", "Blue whales."), passage("b", "Blue."), passage("c", "Red.")
    blue = log1p((3 - 2 + 0.5) / (2 + 0.5))
    whale = log1p((3 - 1 + 0.5) / (1 + 0.5))
    found = features(
        seen(shortlist=[both, one, none], read=[one, none], evidence=["Whales sing.", "Blue."])
    )
    assert found["read-covers"] == found["passage-covers"] == pytest.approx(blue / (blue + whale))
    assert found["sentence-covers"] == pytest.approx(whale / (blue + whale))
    assert features(seen(shortlist=[one, both]))["passage-covers"] == 1.0


def test_the_best_passage_is_not_all_passages() -> None:
    found = features(seen(shortlist=[passage("a", "Blue."), passage("b", "Whales.")]))
    assert found["read-covers"] == 1.0
    assert found["passage-covers"] == pytest.approx(0.5)


def test_of_a_dialogue_the_turn_as_it_was_put_is_looked_at_as_well() -> None:
    turns = (Turn("user", "Do blue whales sing?"), Turn("agent", "They do."), Turn("user", "Loud?"))
    found = features(
        seen("food\nblue whales", turn="And food, whales?", turns=turns, evidence=["Blue whales."])
    )
    assert found["turn-sentence-covers"] == pytest.approx(1 / 2)
    assert found["sentence-covers"] == pytest.approx(2 / 3)
    assert found["turns"] == pytest.approx(log(3))
    assert found["length"] == pytest.approx(log(3))
    assert found["said-before"] == pytest.approx(1 / 2)
    assert found["leans-back"] == 0.0
