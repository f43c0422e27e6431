from ccrag.retrieval.neighbours import neighbour_ordinals, with_neighbours
from ccrag.types import Passage
from tests.unit.stages import passage


def at(ordinal: int, *, doc_id: str = "d", section: str = "s") -> Passage:
    return passage(f"{doc_id}{ordinal}", doc_id=doc_id, ordinal=ordinal, section=(section,))


def arranged(selected: list[Passage], neighbours: list[Passage], width: int = 1) -> list[str]:
    return [p.passage_id for p in with_neighbours(selected, neighbours, width=width)]


def test_ordinals_on_each_side_without_what_is_there() -> None:
    assert neighbour_ordinals([at(5), at(6), at(0, doc_id="e")], width=1) == {
        "d": {4, 7},
        "e": {1},
    }
    assert neighbour_ordinals([at(1)], width=3) == {"d": {0, 2, 3, 4}}


def test_nothing_to_fetch() -> None:
    assert neighbour_ordinals([], width=1) == {}
    assert neighbour_ordinals([at(5)], width=0) == {}


def test_previous_passage_next() -> None:
    assert arranged([at(5), at(0, doc_id="e")], [at(6), at(1, doc_id="e"), at(4)]) == [
        "d4",
        "d5",
        "d6",
        "e0",
        "e1",
    ]


def test_overlapping_windows_repeat_nothing() -> None:
    assert arranged([at(5), at(7), at(6)], [at(4), at(8)]) == ["d4", "d5", "d6", "d7", "d8"]


def test_another_section_or_document_is_not_inserted() -> None:
    strangers = [at(4, section="t"), at(6, doc_id="e"), at(3)]
    assert arranged([at(5)], strangers, width=2) == ["d5"]


def test_width_bounds_what_was_fetched() -> None:
    fetched = [at(3), at(4), at(6), at(7)]
    assert arranged([at(5)], fetched, width=1) == ["d4", "d5", "d6"]
    assert arranged([at(5)], fetched, width=2) == ["d3", "d4", "d5", "d6", "d7"]
    assert arranged([at(5)], fetched, width=0) == ["d5"]


def test_nothing_selected_nothing_read() -> None:
    assert arranged([], [at(5)]) == []
