"""Runs of sentences: neighbours, scores, and how the budget is spread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.retrieval.fusion import reciprocal_ranks
from ccrag.retrieval.linked import (
    LinkedRules,
    Pool,
    choose_runs,
    combine,
    joined,
    opener,
    with_mentions,
)
from ccrag.types import Passage, Span, make_passage_id
from tests.unit.stages import passage


def count(text: str) -> int:
    return len(text.split())


def of(doc_id: str, *sentences: str, start: int = 0, section: tuple[str, ...] = ()) -> Passage:
    return passage(
        f"{doc_id}{start}", doc_id=doc_id, sentences=sentences, start=start, section=section
    )


A = of("a", "a one. ", "a two. ", "a three. ", "a four.")
B = of("b", "b one. ", "b two.")
C = of("c", "c one.")
RULES = LinkedRules(max_tokens=None, spread=0.0, bonus=0.0, max_share=1.0)


def scores_of(pool: Pool, **by_text: float) -> dict[tuple[str, int, int], float]:
    """Scores by the letters of a sentence, e.g. `a_two`."""
    return {s.key: by_text.get(s.text.strip(" .").replace(" ", "_"), 0.0) for s in pool.sentences}


def chosen(pool: Pool, rules: LinkedRules, *unit: str, **by_text: float) -> str:
    scores = scores_of(pool, **by_text)
    found = choose_runs(pool, scores, rules, count, unit=frozenset(unit))
    return "; ".join("".join(s.text for s in run).strip() for run in found.values())


def test_a_run_is_a_sentence_between_its_neighbours() -> None:
    pool = Pool([A, B], window=1)
    runs = ["".join(s.text for s in pool.run(sentence)) for sentence in pool.sentences]
    assert runs[0] == "a one. a two. "
    assert runs[1] == "a one. a two. a three. "
    assert runs[4] == "b one. b two."
    assert pool.run_text(pool.sentences[0]) == "a one. a two."


def test_runs_end_at_sections_and_where_passages_are_missing() -> None:
    after = of("a", "a five.", start=A.end, section=("S",))
    far = of("a", "a nine.", start=A.end + 100)
    pool = Pool([A, after, far], window=3)
    texts = {s.text: "".join(n.text for n in pool.run(s)) for s in pool.sentences}
    assert texts["a four."] == A.text
    assert texts["a five."] == "a five."
    assert texts["a nine."] == "a nine."


def test_sentences_of_overlapping_passages_are_there_once_and_blank_ones_not_at_all() -> None:
    overlap = of("a", "a four. ", "a five.", start=A.sentences[-1].start)
    pool = Pool([A, overlap, of("d", " \n")], window=1)
    assert [s.text for s in pool.sentences][3:] == ["a four. ", "a five."]
    assert pool.run_text(pool.sentences[3]) == "a three. a four. a five."


def test_passages_in_a_row_touch_although_the_space_between_them_is_in_neither() -> None:
    after = passage("a1", doc_id="a", sentences=["a five."], start=A.end + 1, ordinal=1)
    later = passage("a2", doc_id="a", sentences=["a six."], start=after.end + 1, ordinal=3)
    pool = Pool([A, after, later], window=1)
    five = pool.sentences[4]
    assert pool.run_text(five) == "a four. a five."
    assert [p.text for p in joined(pool.run(five))] == ["a four.", "a five."]


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    pool = Pool([A, C], window=0)
    one, two, three, four, c = (s.key for s in pool.sentences)
    lists = [{one: 0.5, two: 0.9}, {c: 1.0, two: 1.0}]
    found = combine(lists, {"a0": 1}, pool, k=10)
    assert found == pytest.approx(
        {
            one: 1 / 11 + 1 / 12,
            two: 1 / 11 + 1 / 11 + 1 / 11,
            three: 1 / 11,
            four: 1 / 11,
            c: 0 + 1 / 12,  # ties by place: a before c; its passage is not ranked
        }
    )
    assert opener(found) == two
    assert opener({}) is None
    assert reciprocal_ranks({}, k=10) == {}


def test_mentions_raise_what_is_close_to_the_opener() -> None:
    pool = Pool([B], window=0)
    one, two = (s.key for s in pool.sentences)
    assert with_mentions({one: 1.0, two: 1.0}, {two: 0.3}, weight=0.5, k=10) == {
        one: 1.0,
        two: 1 + 0.5 / 11,
    }


def test_the_best_are_taken_until_the_budget_is_used_and_a_shorter_one_may_follow() -> None:
    pool = Pool([A, B, C], window=1)
    rules = LinkedRules(max_tokens=8, spread=0, bonus=0, max_share=1)
    assert chosen(pool, rules, a_two=1.0, b_one=0.9, c_one=0.8) == "a one. a two. a three.; c one."
    tight = LinkedRules(max_tokens=4, spread=0, bonus=0, max_share=1)
    assert chosen(pool, tight, a_two=1.0, b_one=0.9) == "b one. b two."


def test_a_sentence_read_as_a_neighbour_opens_no_further_run() -> None:
    pool = Pool([A], window=1)
    rules = LinkedRules(max_tokens=6, spread=0, bonus=0, max_share=1)
    assert chosen(pool, rules, a_one=1.0, a_two=0.9) == "a one. a two."


def test_spread_reads_more_documents() -> None:
    pool = Pool([A, B], window=0)
    rules = LinkedRules(max_tokens=4, spread=0.0, bonus=0, max_share=1)
    assert chosen(pool, rules, a_one=1.0, a_three=0.9, b_one=0.6) == "a one. a three."
    spread = LinkedRules(max_tokens=4, spread=0.6, bonus=0, max_share=1)
    assert chosen(pool, spread, a_one=1.0, a_three=0.9, b_one=0.6) == "a one.; b one."  # .9 / 1.6


def test_the_unit_of_the_best_passage_has_a_bonus_once_a_document() -> None:
    pool = Pool([A, B, C], window=0)
    rules = LinkedRules(max_tokens=4, spread=0, bonus=0.5, max_share=1)
    by_text = {"a_one": 1.0, "c_one": 0.8, "b_one": 0.7, "b_two": 0.7}
    assert chosen(pool, rules, **by_text) == "a one.; c one."
    assert chosen(pool, rules, "b", **by_text) == "b one.; a one."
    assert chosen(pool, LinkedRules(6, 0, 0.5, 1), "b", **by_text) == "b one.; a one.; c one."


def test_no_document_takes_more_than_its_share() -> None:
    pool = Pool([A, B], window=0)
    rules = LinkedRules(max_tokens=6, spread=0, bonus=0, max_share=0.5)
    assert chosen(pool, rules, a_one=1.0, a_two=0.9, b_one=0.1) == "a one.; b one."


def test_joined_sentences_are_passages_of_their_document() -> None:
    pool = Pool([A], window=0)
    one, two, _, four = pool.sentences
    first, second = joined([one, two, four])
    assert (first.text, second.text) == ("a one. a two. ", "a four.")
    for made in (first, second):
        assert made.text == A.text[made.start : made.end]
        assert "".join(made.slice(span) for span in made.sentences) == made.text
        assert made.passage_id == make_passage_id("a", Span(made.start, made.end), made.text)
    assert joined([]) == []


@given(
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
    st.integers(0, 20),
    st.floats(0, 2),
    st.floats(0.1, 1),
)
def test_budget_and_shares_hold_and_nothing_is_read_twice(
    values: list[float], budget: int, spread: float, max_share: float
) -> None:
    pool = Pool([A, B, C], window=1)
    scores = {s.key: value for s, value in zip(pool.sentences, values, strict=True)}
    found = choose_runs(pool, scores, LinkedRules(budget, spread, 0.5, max_share), count)
    sizes = {doc_id: sum(count(s.text) for s in run) for doc_id, run in found.items()}
    assert sum(sizes.values()) <= budget
    assert all(size <= max_share * budget for size in sizes.values())
    for run in found.values():
        keys = [s.key for s in run]
        assert keys == sorted(set(keys))
