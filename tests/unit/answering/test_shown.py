"""Everything that was read as evidence, by sentence or by paragraph."""

import pytest

from ccrag.answering.shown import best_runs, everything
from ccrag.text.sections import is_heading
from ccrag.types import SentenceKey
from tests.unit.stages import passage

ONE = passage("1", sentences=["First. ", "Second.\n \n", "Third. ", " \n", "Fourth."], doc_id="a")
AGAIN = passage("2", sentences=["Fourth.\n\n", "Fifth."], doc_id="a", start=ONE.sentences[-1].start)
OTHER = passage("3", sentences=["Elsewhere."], doc_id="b")


def texts(paragraphs: bool) -> list[tuple[str, str, str]]:
    found = everything([ONE, AGAIN, OTHER], {}, paragraphs=paragraphs, is_heading=is_heading)
    return [(item.evidence_id, item.passage_id, item.text) for item in found]


def test_sentences_each_once_without_white_space() -> None:
    assert texts(False) == [
        ("e1", "1", "First."),
        ("e2", "1", "Second."),
        ("e3", "1", "Third."),
        ("e4", "1", "Fourth."),
        ("e5", "2", "Fifth."),
        ("e6", "3", "Elsewhere."),
    ]


def test_paragraphs_end_at_blank_lines_and_passages() -> None:
    assert texts(True) == [
        ("e1", "1", "First. Second."),
        ("e2", "1", "Third."),
        ("e3", "1", "Fourth."),
        ("e4", "2", "Fifth."),
        ("e5", "3", "Elsewhere."),
    ]


def test_spans_are_the_documents_and_scores_the_best_of_a_piece() -> None:
    start = ONE.sentences[1].start
    scores = {("a", 0, 6): 0.2, ("a", start, start + 7): 0.9}
    first, second, *_ = everything([ONE], scores, paragraphs=True, is_heading=is_heading)
    assert (first.start, first.end, first.score) == (0, start + 7, 0.9)
    assert second.score == 0.0
    assert ONE.text[first.start : first.end] == first.text
    assert everything([], {}, paragraphs=True, is_heading=is_heading) == ()


@pytest.mark.parametrize("paragraphs", [False, True])
def test_a_heading_alone_is_no_piece(paragraphs: bool) -> None:
    headed = passage("h", sentences=["# Ice\n\n", "It melts.\n\n", "***\n"])
    found = everything([headed], {}, paragraphs=paragraphs, is_heading=is_heading)
    assert [item.text for item in found] == ["It melts."]


def shown(scores: dict[SentenceKey, float], *, window: int, max_tokens: int) -> list[str]:
    passages = [ONE, AGAIN, OTHER]
    only = best_runs(
        passages, scores, window=window, max_tokens=max_tokens, count=lambda text: len(text.split())
    )
    found = everything(passages, scores, paragraphs=False, is_heading=is_heading, only=only)
    return [item.text for item in found]


def test_runs_take_the_best_first_with_their_neighbours() -> None:
    second, elsewhere = ("a", 7, 14), ("b", 0, 10)
    scores = {second: 0.9, elsewhere: 0.5}
    assert shown(scores, window=1, max_tokens=3) == ["First.", "Second.", "Third."]
    assert shown(scores, window=1, max_tokens=4) == ["First.", "Second.", "Third.", "Elsewhere."]
    assert shown(scores, window=0, max_tokens=9) == ["Second.", "Elsewhere."]
    # a run that does not fit gives way to a worse one that does
    assert shown(scores, window=1, max_tokens=2) == ["Elsewhere."]
    assert shown({}, window=1, max_tokens=9) == []
