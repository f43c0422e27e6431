"""Tables between rules, by the places of their glyphs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.readers.lines import Glyph, Line, without_numbers
from ccrag.corpus.readers.ruled import Rule, lines_with_tables
from tests.pdf import pdf

COLUMN = 100


def row(
    text: str, baseline: float, *, size: float = 10, mono: bool = False, left: float = 50
) -> Iterator[Glyph]:
    """Letters and blanks half as wide as high; a tab goes on at the next hundred points."""
    at = left
    for character in text:
        if character == "\t":
            at = left + COLUMN * ((at - left) // COLUMN + 1)
            yield Glyph(" ", size, False, mono, at, at, baseline, False, False)
            continue
        hyphen = character == "\u00ad"
        ink = not character.isspace() and not hyphen
        yield Glyph(character, size, False, mono, at, at + (size / 2) * ink, baseline, hyphen, ink)
        at += size / 2
    yield Glyph("\n", size, False, mono, at, at, baseline, False, False)


def page(*rows: str, top: float = 700) -> list[Glyph]:
    return [glyph for at, text in enumerate(rows) for glyph in row(text, top - 12 * at)]


def rules(*heights: float, left: float = 48, right: float = 360) -> list[Rule]:
    return [Rule(left, right, height) for height in heights]


def cells(lines: list[Line]) -> list[tuple[str, ...]]:
    return [line.cells for line in lines if line.row]


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines if not line.row]


def test_rows_and_columns_between_rules() -> None:
    glyphs = page("Before it.", "Model\tBLEU\tCost", "base\t27.3\t3.3", "big\t\t2.3", "After it.")
    lines = lines_with_tables(glyphs, rules(698, 686, 660))
    assert cells(lines) == [("Model", "BLEU", "Cost"), ("base", "27.3", "3.3"), ("big", "", "2.3")]
    assert (lines[0].text, lines[-1].text) == ("Before it.", "After it.")


def test_without_rules_nothing_is_known_to_be_a_table() -> None:
    glyphs = page("Model\tBLEU", "base\t27.3")
    for few in ([], rules(711), rules(711, left=0) + rules(680, left=100)):
        assert cells(lines_with_tables(glyphs, few)) == []


def test_a_cell_may_go_on_in_the_next_rows() -> None:
    glyphs = page(
        "Part\tRole\tWhat it does",
        "formula\tfirst\ttakes a formula and",
        "\t\tgives a list of its par\u00ad",
        "\t\tts",
        "loss\tsecond\tgives a number",
    )
    assert cells(lines_with_tables(glyphs, rules(711, 698, 640))) == [
        ("Part", "Role", "What it does"),
        ("formula", "first", "takes a formula and gives a list of its parts"),
        ("loss", "second", "gives a number"),
    ]


def test_a_row_of_a_group_is_a_row() -> None:
    glyphs = page("Group\tName\tValue", "one\ta\t1", "\tb\t2")
    assert cells(lines_with_tables(glyphs, rules(711, 698, 670)))[2] == ("", "b", "2")


def test_scripts_and_large_operators_stay_in_their_row() -> None:
    glyphs = [
        *page("Symbol\tSize", "q\tcolumns", "r\trows"),
        *row("k", 692, size=6, left=56),
        *row("2", 679, size=6, left=56),
    ]
    found = cells(lines_with_tables(glyphs, rules(711, 698, 670)))
    assert found == [("Symbol", "Size"), ("q k", "columns"), ("r 2", "rows")]


def test_heads_over_several_columns() -> None:
    glyphs = page("\tA head over both of them here", *["n\t1\t2"] * 7)
    found = cells(lines_with_tables(glyphs, rules(711, 698, 600)))
    assert found[0] == ("", "A head over both of them here", "")
    assert found[1:] == [("n", "1", "2")] * 7


def test_blanks_of_a_typewriter_part_no_cells() -> None:
    glyphs = [
        glyph
        for at, text in enumerate(["a b\tmean", "cc d\tmedian", "x yy\tmode"])
        for glyph in row(text, 700 - 12 * at, size=12, mono=True)
    ]
    assert cells(lines_with_tables(glyphs, rules(712, 670)))[0] == ("a b", "mean")


def test_two_tables_one_above_the_other() -> None:
    glyphs = page("a\tb", "1\t2", "Table 2: The other one and no more.", "c\td", "3\t4")
    lines = lines_with_tables(glyphs, rules(711, 685, 675, 640))
    assert cells(lines) == [("a", "b"), ("1", "2"), ("c", "d"), ("3", "4")]
    assert texts(lines) == ["Table 2: The other one and no more."]


def test_double_rules_count_once() -> None:
    glyphs = page("a\tb", "1\t2")
    assert len(cells(lines_with_tables(glyphs, rules(713, 711, 698, 680, 678)))) == 2


def test_text_in_two_columns_between_rules_stays_text() -> None:
    left = ["words that fill it" for _ in range(20)]
    glyphs = [glyph for at, t in enumerate(left) for glyph in row(t, 700 - 12 * at, left=50)]
    glyphs += [glyph for at, t in enumerate(left) for glyph in row(t, 700 - 12 * at, left=146)]
    assert cells(lines_with_tables(glyphs, rules(712, 460, right=240))) == []


def test_a_paragraph_between_rules_stays_text() -> None:
    glyphs = page("A paragraph of text between", "two rules, as notes are set,", "is no table.")
    assert cells(lines_with_tables(glyphs, rules(712, 670))) == []


def test_a_table_of_a_file(tmp_path: Path) -> None:
    lines = ["Results", "Model\tBLEU", "base\t27.3", "big\t28.4", "Text behind it."]
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([lines], rules=[1, 2, 4]))
    [document] = read_documents(find_files([path], LoadReport()))
    assert "| Model | BLEU |\n| base | 27.3 |\n| big | 28.4 |\n" in document.text


def numbered(*texts: str, first: int = 1) -> list[Line]:
    return [
        Line((str(at), text) if text else (str(at),), 10, False, False, 50, 300, 700 - 12 * at)
        for at, text in enumerate(texts, start=first)
    ]


def test_numbers_of_a_manuscripts_lines_go() -> None:
    pages = [numbered(*["text"] * 12, ""), numbered(*["more"] * 3, first=14)]
    bare = [[line.cells for line in lines] for lines in without_numbers(pages)]
    assert bare == [[("text",)] * 12, [("more",)] * 3]


@pytest.mark.parametrize(
    "pages",
    [
        [numbered(*["text"] * 5)],
        [[*numbered("a"), *numbered("b")] * 10],
        [[*numbered(*["a"] * 12), *[Line(("text",), 10, False, False, 50, 90, 1)] * 13]],
    ],
    ids=["few", "not in order", "not most lines"],
)
def test_other_numbers_stay(pages: list[list[Line]]) -> None:
    assert without_numbers(pages) == pages


def test_a_table_in_a_table_is_read_once() -> None:
    glyphs = page("Model\tBLEU\tCost", "base\t27.3\t3.3", "big\t28.4\t2.3")
    framed = rules(711, 698, 686, 670) + rules(711, 698, 686, right=200)
    assert len(cells(lines_with_tables(glyphs, framed))) == 3
    assert texts(lines_with_tables(glyphs, framed)) == []


def test_a_page_between_head_and_foot_rules_is_no_table() -> None:
    body = [f"short line {at}" for at in range(16)]
    glyphs = page("A head\t\t7", *body, *["one\t\t("] * 4)
    assert cells(lines_with_tables(glyphs, rules(711, 440))) == []
