"""Running heads are told from text by the pages around them."""

import pytest

from ccrag.corpus.readers.lines import Line
from ccrag.corpus.readers.running_heads import part_running_heads

BODY = ("Dams hold back water", "and locks lift ships over", "the weir beside them", "day by day")
HEAD, FOOT = 780.0, 30.0


def line(text: str, baseline: float, *, size: float = 10, bold: bool = False) -> Line:
    return Line((text,), size, bold, False, 50, 50 + 5 * len(text), baseline)


def page(*edges: Line, number: int = 0) -> list[Line]:
    body = [line(f"{text} {'abcde'[number % 5]}", 700 - 12 * at) for at, text in enumerate(BODY)]
    return sorted([*edges, *body], key=lambda shown: -shown.baseline)


def left_out(pages: list[list[Line]]) -> list[list[str]]:
    kept, heads = part_running_heads(pages)
    assert [len(a) + len(b) for a, b in zip(kept, heads, strict=True)] == list(map(len, pages))
    return [[shown.text for shown in lines] for lines in heads]


def test_heads_of_one_chapter_in_a_long_file() -> None:
    pages = [page(number=at) for at in range(40)]
    for at in range(10, 14):
        pages[at] = page(line(f"Chapter 3. Locks {at + 4}", HEAD, bold=True), number=at)
    found = left_out(pages)
    assert found[10:14] == [[f"Chapter 3. Locks {number}"] for number in range(14, 18)]
    assert sum(map(len, found)) == 4


def test_heads_on_left_and_right_pages_differ() -> None:
    pages = [
        page(
            line(
                f"{at} THE BOOK OF DAMS" if at % 2 else f"{at}.1 Section {'abcdefgh'[at]} {at}",
                HEAD,
            )
        )
        for at in range(8)
    ]
    assert all(left_out(pages))


@pytest.mark.parametrize(
    "form", ["{}", "- {} -", "Page {} of 9", "第 {} 页", "A-{}", "{} | Manual of Dams", "3-{}"]
)
def test_page_numbers_of_any_form(form: str) -> None:
    pages = [page(line(form.format(at + 7), FOOT, size=8), number=at) for at in range(5)]
    assert left_out(pages) == [[form.format(at + 7)] for at in range(5)]


def test_roman_numbers() -> None:
    pages = [page(line(roman, FOOT)) for roman in ("iii", "iv", "v", "vi")]
    assert left_out(pages) == [["iii"], ["iv"], ["v"], ["vi"]]


def test_a_constant_head_is_set_apart_from_the_text() -> None:
    apart = [page(line("Manual of Dams 2.0", HEAD), number=at) for at in range(5)]
    assert left_out(apart) == [["Manual of Dams 2.0"]] * 5
    table_head = [page(line("Name Length Height", 712), number=at) for at in range(5)]
    assert left_out(table_head) == [[]] * 5


def test_behind_a_line_that_stays_all_stay() -> None:
    pages = [
        page(line(f"Text {'abcde'[at]} only here", HEAD), line("Repeated", 740), number=at)
        for at in range(5)
    ]
    assert left_out(pages) == [[]] * 5


def test_a_heading_that_equals_the_head_stays() -> None:
    chapter = page(line("Locks", 740, size=10, bold=True), line("9", FOOT))
    pages = [chapter, *(page(line("Locks", HEAD), line(str(10 + at), FOOT)) for at in range(4))]
    assert left_out(pages) == [["9"], *(["Locks", str(10 + at)] for at in range(4))]


def test_larger_lines_are_content() -> None:
    slides = [page(line(f"Step {at}", HEAD, size=24), number=at) for at in range(5)]
    assert left_out(slides) == [[]] * 5


def test_footnotes_one_a_page_are_content() -> None:
    pages = [
        page(
            line(f"Chapter 1 {at + 5}", HEAD),
            line(f"{at + 20} For {word} see the river.", FOOT, size=8),
        )
        for at, word in enumerate(("dams", "locks", "weirs", "ships", "water"))
    ]
    assert left_out(pages) == [[f"Chapter 1 {at + 5}"] for at in range(5)]


def test_numbers_that_do_not_grow_with_the_page_are_content() -> None:
    pages = [page(line(str(total), 64), number=at) for at, total in enumerate((17, 80, 3, 55, 21))]
    assert left_out(pages) == [[]] * 5


def test_the_number_at_the_foot_of_a_chapters_first_page() -> None:
    pages = [page(line(f"Dams {at + 3}", HEAD), number=at) for at in range(6)]
    pages[3] = page(line("6", FOOT), number=3)
    assert left_out(pages)[3] == ["6"]


def test_a_section_title_on_one_page_that_stands_where_heads_do() -> None:
    pages = [page(line("The Book of Dams", HEAD), number=at) for at in range(6)]
    pages[3] = page(line("Weirs", HEAD), line("2 Weirs", 640, bold=True), number=3)
    assert left_out(pages)[3] == ["Weirs"]
    pages[3] = page(line("Weirs", HEAD), number=3)
    assert left_out(pages)[3] == []


@pytest.mark.parametrize("pages", [[], [[]], [page(line("1", FOOT))]])
def test_a_single_page_has_no_neighbours(pages: list[list[Line]]) -> None:
    assert not any(left_out(pages))


def test_a_page_number_may_be_close_to_the_text() -> None:
    pages = [page(line(str(at + 3), 650), number=at) for at in range(5)]
    assert left_out(pages) == [[str(at + 3)] for at in range(5)]


def test_footnotes_of_a_file_without_page_numbers_are_content() -> None:
    words = ("dams", "locks", "weirs", "ships", "water")
    notes = [line(f"{at + 20} For {word} see there.", FOOT) for at, word in enumerate(words)]
    assert left_out([page(note, number=at) for at, note in enumerate(notes)]) == [[]] * 5
