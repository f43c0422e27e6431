import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import InvariantError
from ccrag.retrieval.duplicates import drop_near_duplicates
from ccrag.retrieval.select import cover_years, select
from ccrag.types import Hit, Note, Passage
from tests.unit.stages import by_id, ids, passage, ranking

NUMBERS = "one two three four five six seven eight nine ten"


def distinct(*passages: Passage, threshold: float = 0.9) -> tuple[list[str], list[str]]:
    """Ids kept and messages, of passages ranked in this order."""
    order = ranking(*(p.passage_id for p in passages))
    kept, notes = drop_near_duplicates(order, by_id(*passages), threshold=threshold)
    return ids(kept), [note.message for note in notes]


def chosen(
    *passages: Passage,
    max_passages: int = 20,
    max_per_document: int | None = None,
    near_duplicate: float = 0.9,
    temporal_coverage: bool = False,
    max_words: int | None = None,
) -> tuple[list[str], tuple[Note, ...]]:
    hits, notes = select(
        ranking(*(p.passage_id for p in passages)),
        passages=by_id(*passages),
        max_passages=max_passages,
        max_per_document=max_per_document,
        near_duplicate=near_duplicate,
        temporal_coverage=temporal_coverage,
        max_words=max_words,
    )
    return ids(hits), notes


def test_the_same_text_in_two_documents_is_read_once_and_named() -> None:
    kept, messages = distinct(passage("b", NUMBERS), passage("a", f"  {NUMBERS.upper()}."))
    assert kept == ["b"]
    assert messages == ["passage 'a' not read: near-duplicate of 'b'"]


def test_the_threshold_is_jaccard_of_three_word_shingles() -> None:
    # "a b c d e" has abc bcd cde, "a b c d x" has abc bcd cdx: 2 shared of 4.
    pair = passage("p", "aa bb cc dd ee"), passage("q", "aa bb cc dd xx")
    assert distinct(*pair, threshold=2 / 4)[0] == ["p"]
    assert distinct(*pair, threshold=0.51)[0] == ["p", "q"]


def test_short_texts_must_be_equal() -> None:
    kept, _ = distinct(
        passage("a", "ice melts"),
        passage("b", "Ice  melts"),
        passage("c", "ice"),
        passage("d", "±"),
        passage("e", "§"),
    )
    assert kept == ["a", "c", "d", "e"]


def test_the_first_twin_is_named_and_a_dropped_one_hides_nothing() -> None:
    # q repeats p, r repeats q alone: with q unread, r is news.
    kept, messages = distinct(
        passage("p", "aa bb cc dd ee"),
        passage("q", "aa bb cc dd xx"),
        passage("r", "yy bb cc dd xx"),
        threshold=0.5,
    )
    assert kept == ["p", "r"]
    assert messages == ["passage 'q' not read: near-duplicate of 'p'"]


def test_nothing_to_drop() -> None:
    assert distinct() == ([], [])
    assert distinct(passage("a", "")) == (["a"], [])


def test_each_year_is_seen_once_early() -> None:
    years = {"a": "2020", "b": "2020-05", "c": None, "d": "1990", "e": "1990", "f": "2001"}
    passages = [passage(name, name, date=date) for name, date in years.items()]
    order = ranking(*years)
    assert ids(cover_years(order.hits, by_id(*passages))) == ["a", "d", "f", "b", "c", "e"]
    assert cover_years((), {}) == ()
    assert chosen(*passages, temporal_coverage=True, max_passages=3)[0] == ["a", "d", "f"]
    assert chosen(*passages, max_passages=3)[0] == ["a", "b", "c"]


def test_document_limit_passes_over_and_says_so() -> None:
    passages = [
        passage(name, name, doc_id=doc_id)
        for name, doc_id in {"a": "d1", "b": "d1", "c": "d2", "d": "d1"}.items()
    ]
    kept, notes = chosen(*passages, max_per_document=1)
    assert kept == ["a", "c"]
    assert notes[0] == Note("select", "passage 'b' not read: document 'd1' already has 1 passages")
    assert len(notes) == 2


def test_word_budget_is_never_passed_and_a_shorter_one_may_fit() -> None:
    passages = [passage("a", "one two three"), passage("b", "four five six"), passage("c", "seven")]
    kept, notes = chosen(*passages, max_words=4)
    assert kept == ["a", "c"]
    assert [note.message for note in notes] == ["passage 'b' not read: 3 + 3 words, budget 4"]
    assert chosen(passage("z", "深度学习模型"), max_words=4)[0] == []


def test_duplicates_do_not_use_up_places() -> None:
    passages = [passage("a", NUMBERS), passage("b", NUMBERS), passage("c", "other words here")]
    assert chosen(*passages, max_passages=2)[0] == ["a", "c"]
    assert chosen()[0] == []


def test_a_passage_that_was_not_fetched_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="'a' is ranked but its text was not fetched"):
        drop_near_duplicates([Hit("a", "a", 1.0)], {}, threshold=0.9)


@given(st.lists(st.sampled_from(["ice", "snow", NUMBERS, NUMBERS + " eleven"]), max_size=8))
def test_read_and_noted_together_are_the_ranking(texts: list[str]) -> None:
    passages = [passage(f"p{at}", text) for at, text in enumerate(texts)]
    kept, notes = chosen(*passages, near_duplicate=0.8)
    noted = [note.message.split("'")[1] for note in notes]
    assert sorted(kept + noted) == [p.passage_id for p in passages]
