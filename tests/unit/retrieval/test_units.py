"""Units scored, chosen under a budget, cut, ordered; versions; passages under a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.retrieval.budget import count_tokens, within_budget
from ccrag.retrieval.units import (
    Chosen,
    best_at_both_ends,
    choose_units,
    cut_to_sections,
    newest_only,
    score_units,
)
from ccrag.types import Hit, Passage, Ranking, Unit, UnitPart
from tests.unit.stages import by_id, passage, ranking


def count(text: str) -> int:
    return len(text.split())


def part(doc_id: str, tokens: int = 10, *, ordinal: int = 0, unit_id: str = "u1") -> UnitPart:
    return UnitPart(unit_id, doc_id, ordinal, 0, 100, tokens)


def unit(unit_id: str, *parts: UnitPart) -> Unit:
    return Unit(unit_id, tuple(parts))


def scored(*hits: tuple[str, str, float]) -> tuple[Ranking, dict[str, Passage]]:
    passages = by_id(*(passage(pid, "text", doc_id=doc_id) for pid, doc_id, _ in hits))
    return Ranking.of("q", "rrf", [Hit(*hit) for hit in hits]), passages


UNITS = [unit("u1", part("a"), part("b", ordinal=1)), unit("u2", part("c"))]


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        (1, [("u1", 0.9), ("u2", 0.8)]),  # MaxP
        (3, [("u2", 0.8), ("u1", 0.5)]),  # (.9 + .5 + .1) / 3; one passage is its own mean
    ],
)
def test_units_are_scored_by_their_best_passages_and_counted_once(
    best: int, expected: list[tuple[str, float]]
) -> None:
    order, passages = scored(("1", "a", 0.9), ("2", "c", 0.8), ("3", "b", 0.5), ("4", "a", 0.1))
    found = score_units(UNITS, order, passages, best=best)
    assert [(item.unit.unit_id, round(item.score, 9)) for item in found] == expected
    assert next(i for i in found if i.unit.unit_id == "u1").passages == ("1", "3", "4")


def test_ties_go_by_unit_id_and_units_without_a_ranked_passage_have_no_score() -> None:
    order, passages = scored(("1", "c", 1.0), ("2", "a", 1.0))
    found = score_units([*UNITS, unit("u0", part("z"))], order, passages, best=1)
    assert [item.unit.unit_id for item in found] == ["u1", "u2"]
    assert score_units(UNITS, Ranking.of("q", "rrf", ()), {}, best=1) == []


def test_a_passage_counts_for_the_part_it_starts_in() -> None:
    first = UnitPart("u1", "a", 0, 0, 50, 5)
    second = UnitPart("u2", "a", 0, 50, 100, 5)
    passages = by_id(passage("p", "text", doc_id="a", start=50))
    order = Ranking.of("q", "rrf", [Hit("p", "a", 1.0)])
    found = score_units([unit("u1", first), unit("u2", second)], order, passages, best=1)
    assert [item.unit.unit_id for item in found] == ["u2"]


def choice(max_tokens: int | None, *, number: int = 9) -> list[Chosen]:
    order, passages = scored(("1", "b", 0.9), ("2", "c", 0.8), ("3", "a", 0.5))
    units = score_units(UNITS, order, passages, best=1)
    return choose_units(units, passages, count=number, max_tokens=max_tokens)


def described(chosen: list[Chosen]) -> list[tuple[list[str], str | None, int, tuple[str, ...]]]:
    return [
        (
            [p.doc_id for p in item.unit.parts],
            None if item.partly is None else item.partly.doc_id,
            item.room,
            item.left_out,
        )
        for item in chosen
    ]


WHOLE = (["a", "b"], None, 0, ())


@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [
        (None, [WHOLE, (["c"], None, 0, ())]),
        (30, [WHOLE, (["c"], None, 0, ())]),
        (25, [WHOLE, ([], "c", 5, ())]),  # the second is cut: 5 tokens are left for its document
        (20, [WHOLE]),  # no room is left
        (15, [(["b"], "a", 5, ())]),  # b holds the best passage
        (5, [([], "b", 5, ("a",))]),
    ],
)
def test_units_are_taken_while_they_fit_then_one_is_cut_at_documents(
    max_tokens: int | None, expected: list[object]
) -> None:
    assert described(choice(max_tokens)) == expected


def test_a_unit_after_one_that_was_cut_is_not_read_and_their_number_is_kept() -> None:
    assert [item.unit.unit_id for item in choice(15)] == ["u1"]
    assert [item.unit.unit_id for item in choice(None, number=1)] == ["u1"]


def test_parts_that_are_read_stand_in_the_units_order() -> None:
    [item] = choice(15)
    assert [p.doc_id for p in item.parts] == ["a", "b"]


def sections() -> list[Passage]:
    return [
        passage("1", "one two three", doc_id="a", section=("A",), ordinal=0, start=0),
        passage("2", "four five", doc_id="a", section=("A",), ordinal=1, start=13),
        passage("3", "six seven", doc_id="a", section=("B",), ordinal=2, start=22),
        passage("4", "eight", doc_id="a", section=("C",), ordinal=3, start=31),
    ]


@pytest.mark.parametrize(
    ("room", "ranks", "kept"),
    [
        (8, {}, ["1", "2", "3", "4"]),
        (7, {}, ["1", "2", "3"]),
        (5, {"3": 0}, ["3"]),  # B, then A would not fit whole: nothing behind it is read
        (7, {"3": 0}, ["1", "2", "3"]),
        (3, {"4": 0, "3": 1}, ["3", "4"]),
        (2, {"2": 0}, ["2"]),  # not even section A fits: its best passages
        (0, {"2": 0}, []),
    ],
)
def test_a_document_is_cut_at_sections_the_best_first(
    room: int, ranks: dict[str, int], kept: list[str]
) -> None:
    found = cut_to_sections(sections(), ranks, room=room, count=count)
    assert [p.passage_id for p in found] == kept
    assert cut_to_sections([], ranks, room=room, count=count) == []


def test_tokens_of_overlapping_passages_count_once() -> None:
    one = passage("1", "one two three", doc_id="a")
    overlapping = passage("2", "two three four", doc_id="a", start=4)
    elsewhere = passage("3", "two three", doc_id="b", start=4)
    assert count_tokens([overlapping, one, elsewhere], count) == 4 + 2
    assert count_tokens([one, passage("4", "two", doc_id="a", start=4)], count) == 3
    assert count_tokens([], count) == 0


def test_passages_that_do_not_fit_are_passed_over_and_noted() -> None:
    groups = [
        ("1", [passage("1", "one two three")]),
        ("2", [passage("2", "four five six")]),
        ("3", [passage("0", "x"), passage("3", "seven")]),
    ]
    kept, read, notes = within_budget(groups, max_tokens=5, count=count)
    assert (sorted(kept), sorted(read)) == (["1", "3"], ["0", "1", "3"])
    assert [note.message for note in notes] == ["passage '2' not read: 6 tokens with it, budget 5"]


def version(doc_id: str, date: str | None, name: str | None, of: str | None = "x") -> UnitPart:
    return UnitPart("u", doc_id, 0, 0, 1, 1, date=date, version_of=of, version=name)


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([version("a", "2020", "9"), version("b", "2021", "1")], ["b"]),
        ([version("a", None, "1.10"), version("b", None, "1.9")], ["a"]),  # numbers, not digits
        ([version("a", None, "2"), version("b", "1999", "1")], ["b"]),
        ([version("a", None, None), version("b", None, None)], ["b"]),
        ([version("a", None, "1"), version("b", None, "2", of="y")], ["a", "b"]),
        ([version("a", None, "1"), version("b", None, "2", of=None)], ["a", "b"]),
        ([], []),
    ],
)
def test_of_versions_the_newest_is_kept(parts: list[UnitPart], kept: list[str]) -> None:
    for order in (parts, parts[::-1]):
        found, notes = newest_only(order)
        assert sorted(p.doc_id for p in found) == kept
        assert len(notes) == len(parts) - len(kept)
    if notes:
        assert "is newer" in notes[0].message


def test_best_at_both_ends() -> None:
    assert best_at_both_ends([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert best_at_both_ends([1]) == [1]
    assert best_at_both_ends([]) == []


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(0, 120),
)
def test_what_is_chosen_never_exceeds_the_budget(sizes: list[int], budget: int) -> None:
    parts = [part(f"d{n}", size, ordinal=n, unit_id=f"u{n // 2}") for n, size in enumerate(sizes)]
    units = [
        unit(f"u{n}", *(p for p in parts if p.unit_id == f"u{n}"))
        for n in range(len(sizes) // 2 + 1)
    ]
    order = ranking(*(f"d{n}" for n in range(len(sizes))))
    passages = by_id(*(passage(f"d{n}", "text") for n in range(len(sizes))))
    found = score_units([u for u in units if u.parts], order, passages, best=1)
    chosen = choose_units(found, passages, count=99, max_tokens=budget)
    used = sum(item.unit.tokens + item.room for item in chosen)
    assert used <= budget or not chosen
    assert len({p.doc_id for item in chosen for p in item.parts}) == sum(
        len(item.parts) for item in chosen
    )
