from math import log
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.evidence import (
    CandidateSentence,
    as_evidence,
    best_first,
    candidate_sentences,
    lexical_scores,
    order_scores,
)
from ccrag.text.sections import is_heading
from ccrag.types import Evidence, Passage
from tests.unit.stages import passage


def sentences_of(
    passages: tuple[Passage, ...], *, sentences_per_passage: int = 5
) -> tuple[CandidateSentence, ...]:
    return candidate_sentences(
        passages, sentences_per_passage=sentences_per_passage, is_heading=is_heading
    )


def shown(
    *passages: Passage,
    query_text: str = "melting ice",
    scorer: Literal["order", "lexical"] = "lexical",
    sentences_per_passage: int = 5,
) -> tuple[Evidence, ...]:
    candidates = sentences_of(passages, sentences_per_passage=sentences_per_passage)
    scores = (
        order_scores(candidates) if scorer == "order" else lexical_scores(query_text, candidates)
    )
    told = [candidate for candidate in candidates if not candidate.heading]
    return as_evidence(best_first(told, scores), scores)


FIRST = passage("a", sentences=["Snow falls. ", "Ice melts.\n", "Ice is cold. "], start=100)
SECOND = passage("b", sentences=["  Rivers run.", " Melting ice!"])


def test_lexical_scores_are_idf_weighted_coverage() -> None:
    # Five sentences; "melt" is in 2, "ice" in 3.
    melt, ice = log(1 + (5 - 2 + 0.5) / (2 + 0.5)), log(1 + (5 - 3 + 0.5) / (3 + 0.5))
    found = shown(FIRST, SECOND)
    assert [(e.evidence_id, e.text) for e in found] == [
        ("e1", "Ice melts."),
        ("e2", "Melting ice!"),
        ("e3", "Ice is cold."),
    ]
    assert [e.score for e in found] == pytest.approx([1.0, 1.0, ice / (melt + ice)])


def test_spans_are_trimmed_and_walk_back_to_the_document() -> None:
    [first, second, _] = shown(FIRST, SECOND)
    assert (first.start, first.end) == (112, 122)
    assert FIRST.text[first.start - 100 : first.end - 100] == first.text
    assert (second.passage_id, second.doc_id, second.start, second.end) == ("b", "b", 14, 26)


def test_order_keeps_the_passages_and_scores_by_rank() -> None:
    found = shown(SECOND, FIRST, scorer="order")
    assert [(e.text, e.score) for e in found] == [
        ("Rivers run.", 1 / 1),
        ("Melting ice!", 1 / 1),
        ("Snow falls.", 1 / 2),
        ("Ice melts.", 1 / 2),
        ("Ice is cold.", 1 / 2),
    ]


def test_ties_go_by_rank_then_position() -> None:
    same = passage("z", sentences=["Ice. ", "Ice."]), passage("a", "Ice.")
    assert [(e.passage_id, e.start) for e in shown(*same)] == [("z", 0), ("z", 5), ("a", 0)]


def test_a_span_in_two_overlapping_passages_counts_once() -> None:
    one = passage("p1", sentences=["Ice one. ", "Ice two. "], doc_id="d")
    two = passage("p2", sentences=["Ice two. ", "Ice three."], doc_id="d", start=9)
    found = shown(two, one, scorer="order")
    assert [(e.passage_id, e.text) for e in found] == [
        ("p2", "Ice two."),
        ("p2", "Ice three."),
        ("p1", "Ice one."),
    ]


def test_only_the_first_sentences_of_a_passage_are_considered() -> None:
    assert [e.text for e in shown(FIRST, sentences_per_passage=2)] == ["Ice melts."]


def test_blank_sentences_do_not_count_among_the_first() -> None:
    blank = passage("a", sentences=["\n\n", "Ice.", " Snow."])
    assert [e.text for e in shown(blank, scorer="order", sentences_per_passage=1)] == ["Ice."]


@pytest.mark.parametrize("query_text", ["", "what is it", "zebra"])
def test_no_shared_term_no_evidence(query_text: str) -> None:
    assert shown(FIRST, SECOND, query_text=query_text) == ()
    assert shown(query_text=query_text) == ()


def test_scores_may_come_from_outside() -> None:
    candidates = sentences_of((FIRST,))
    scores = {candidates[0].key: -3.0, candidates[2].key: -1.0}
    found = as_evidence(best_first(candidates, scores), scores)
    assert [(e.evidence_id, e.text, e.score) for e in found] == [
        ("e1", "Ice is cold.", -1.0),
        ("e2", "Snow falls.", -3.0),
    ]


@given(st.lists(st.text("ab .\n\u3000é😀", max_size=8), max_size=6), st.integers(0, 50))
def test_evidence_is_the_documents_text_without_outer_space(pieces: list[str], start: int) -> None:
    whole = passage("a", sentences=pieces, start=start)
    for found in shown(whole, scorer="order", sentences_per_passage=9):
        assert found.text == whole.text[found.start - start : found.end - start]
        assert found.text == found.text.strip() != ""


@given(st.lists(st.sampled_from(["ice", "snow", "melting ice", "ice ice"]), max_size=6))
def test_lexical_scores_are_shares(texts: list[str]) -> None:
    passages = [passage(f"p{at}", text) for at, text in enumerate(texts)]
    candidates = sentences_of(tuple(passages))
    assert all(0 < score <= 1 for score in lexical_scores("melting ice", candidates).values())


@pytest.mark.parametrize(
    "heading",
    [
        'The "assert" statement\n**********************\n',
        "=======\nMelting\n=======\n",
        "# Melting ice\n\n",
        "### Melting ice ###\n",
        "Melting ice\n\n",
        "*****\n",
        "• \n",
    ],
)
@pytest.mark.parametrize("scorer", ["order", "lexical"])
def test_a_heading_is_no_sentence(heading: str, scorer: Literal["order", "lexical"]) -> None:
    section = ("Water", "Melting ice")
    under = passage("a", sentences=[heading, "Ice melts in May."], section=section)
    found = shown(under, scorer=scorer, sentences_per_passage=1)
    assert [e.text for e in found] == ["Ice melts in May."]


def test_a_title_that_is_all_the_text_is_a_sentence() -> None:
    assert [e.text for e in shown(passage("a", "Melting ice", title="Melting ice"))] == [
        "Melting ice"
    ]


def test_a_question_on_its_own_line_goes_with_its_reply() -> None:
    lines = [
        "When does it open?\n",
        "At nine.\n\n",
        "Is it cold?\n\n",
        "Ice melts. ",
        "Why? ",
        "So.",
    ]
    found = sentences_of((passage("a", sentences=lines),), sentences_per_passage=9)
    assert [c.text for c in found] == [
        "When does it open?\nAt nine.",
        "Is it cold?",  # a blank line parts them
        "Ice melts.",
        "Why?",  # inside a line it may be the writer's own
        "So.",
    ]


def test_headings_are_marked_and_take_no_place() -> None:
    under = passage("a", sentences=["# Melting ice\n\n", "Ice melts. ", "Snow."])
    [heading, first] = sentences_of((under,), sentences_per_passage=1)
    assert (heading.heading, first.text, first.heading) == (True, "Ice melts.", False)
