"""What the load report says is lost."""

from dataclasses import asdict
from pathlib import Path

import pytest

from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.readers.page import Loss, ReadPage
from ccrag.corpus.report import MAX_EXAMPLES, MAX_LOST_SHARE, MIN_LOST_WORDS

PATH = Path("a.html")
WORDS = 1_000


def page(words: int, *losses: Loss, words_in_file: int = WORDS, pages: int = 0) -> ReadPage:
    return ReadPage("", "word " * words, tuple(range(pages)), words_in_file, losses)


@pytest.mark.parametrize(
    ("read", "warnings"),
    [
        (page(WORDS), []),
        (page(1_100), []),
        (page(int(WORDS * (1 - MAX_LOST_SHARE))), []),
        (page(900), ["a.html: 10% of the words are not in the text (900 of 1,000 are)"]),
        (page(0), ["a.html: 100% of the words are not in the text (0 of 1,000 are)"]),
        (page(700, Loss("navigation", 300, "words", intended=True)), []),
        (
            page(500, Loss("navigation", 300, "words", intended=True)),
            ["a.html: 29% of the words are not in the text (500 of 700 are)"],
        ),
        (page(10 - MIN_LOST_WORDS + 1, words_in_file=10), []),
        (page(WORDS, Loss("scripts", 9, "parts", intended=True)), []),
        (page(WORDS, Loss("comments", 9, "parts")), []),
        (
            page(WORDS, Loss("pages without text", 8, "pages", "pages 2-9"), pages=10),
            ["a.html: 8 of 10 pages without text (pages 2-9)"],
        ),
        (page(WORDS, Loss("pages without text", 1, "pages", "page 2"), pages=100), []),
        (
            page(WORDS, Loss("bytes that are not UTF-8", 900, "bytes", "byte 7")),
            ["a.html: 900 bytes that are not UTF-8 (byte 7)"],
        ),
        (page(WORDS, Loss("bytes that are not UTF-8", 1, "bytes", "byte 7")), []),
    ],
)
def test_a_loss_beyond_a_few_percent_is_a_warning(read: ReadPage, warnings: list[str]) -> None:
    report = LoadReport()
    report.add_page(PATH, read)
    assert report.warnings == warnings
    assert report.warned == len(warnings)


def test_losses_are_added_up_by_kind() -> None:
    report = LoadReport()
    report.add_page(
        PATH, page(700, Loss("navigation", 300, "words", intended=True), Loss("none", 0, "parts"))
    )
    report.add_page(PATH, page(999, Loss("navigation", 1, "words", intended=True)))
    report.add_page(
        Path("b.txt"), page(WORDS, Loss("bytes that are not UTF-8", 1, "bytes", "byte 7"))
    )
    assert report.lines()[1:] == [
        "left out on purpose: navigation: 301 words in 2 files",
        "lost: bytes that are not UTF-8: 1 in 1 file, first b.txt byte 7",
    ]
    assert (report.words_in_file, report.words_read) == (2_699, 2_699)
    assert [asdict(lost) for lost in report.losses.values()] == [
        {
            "kind": "navigation",
            "count": 301,
            "unit": "words",
            "intended": True,
            "files": 2,
            "first": "a.html",
        },
        {
            "kind": "bytes that are not UTF-8",
            "count": 1,
            "unit": "bytes",
            "intended": False,
            "files": 1,
            "first": "b.txt byte 7",
        },
    ]


def test_only_the_first_warnings_are_stored() -> None:
    report = LoadReport()
    for number in range(MAX_EXAMPLES + 5):
        report.add_page(Path(f"{number}.html"), page(0))
    assert (report.warned, len(report.warnings)) == (MAX_EXAMPLES + 5, MAX_EXAMPLES)
    assert report.lines()[-1] == "warning: 5 more of these"


def test_names_and_kinds_are_bounded() -> None:
    report = LoadReport()
    for number in range(3_000):
        report.add_fields({f"field {number}": 1, "id": 1})
        report.add_page(PATH, page(1, Loss(f"kind {number}", 1, "parts"), words_in_file=1))
    assert len(report.field_names) <= 2_000
    assert len(report.losses) <= 1_001
    assert sum(lost.count for lost in report.losses.values()) == 3_000


def test_undecodable_bytes_are_reported_with_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    path.write_bytes("Größere Änderungen".encode() + b"\xff" + "Maß für Öl".encode())
    report = LoadReport()
    [document] = read_documents(find_files([path], report), report=report)
    assert document.text == "Größere Änderungen\ufffdMaß für Öl"
    assert f"lost: bytes that are not UTF-8: 1 in 1 file, first {path} byte 21" in report.lines()


def test_an_empty_document_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" \n")
    (tmp_path / "b.txt").write_text("words")
    report = LoadReport()
    list(read_documents(find_files([tmp_path], report), report=report))
    assert report.lines()[1:] == [f"1 document without text, first {tmp_path / 'a.txt'}"]
