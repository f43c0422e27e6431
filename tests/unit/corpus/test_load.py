"""Documents from files and folders."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ccrag.corpus.ledger import Ledger
from ccrag.corpus.load import ErrorMode, LoadReport, find_files, read_documents
from ccrag.errors import InputError
from ccrag.types import Document

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        data = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return path

    return write_file


def load(
    *paths: Path, on_error: ErrorMode = "stop", report: LoadReport | None = None
) -> list[Document]:
    report = LoadReport() if report is None else report
    ledger = Ledger()
    try:
        files = find_files(paths, report)
        return list(read_documents(files, on_error=on_error, report=report, ledger=ledger))
    finally:
        ledger.close()


RECORDS = [
    {"id": "a", "title": "T, one", "text": 'x "y"\n z ', "year": "1999", "links": ["b", "c"]},
    {"id": "b", "title": "", "text": "ä 😀 e\u0301 \u200d\r\n\u00a0", "year": "", "links": []},
]
EXPECTED = [
    Document("a", "T, one", 'x "y"\n z ', "1999", ("b", "c")),
    Document("b", "", "ä 😀 e\u0301 \u200d\r\n\u00a0"),
]
TABLE = (
    'id,title,text,year,links\na,"T, one","x ""y""\n z ",1999,b; c\n'
    'b,,"ä 😀 e\u0301 \u200d\r\n\u00a0",,\n'
)
CONTENTS = {
    "d.jsonl": "\n".join(map(json.dumps, RECORDS)) + "\n\n",
    "d.json": json.dumps(RECORDS, indent=1),
    "e.json": json.dumps({"version": 1, "documents": RECORDS}),
    "d.csv": TABLE,
}


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_documents(write: Write, name: str, zipped: bool) -> None:
    assert load(write(name + ".gz" * zipped, CONTENTS[name])) == EXPECTED


@pytest.mark.parametrize("name", CONTENTS)
def test_a_byte_order_mark_is_left_out_and_noted(write: Write, name: str) -> None:
    report = LoadReport()
    path = write(name, b"\xef\xbb\xbf" + CONTENTS[name].encode())
    assert load(path, report=report) == EXPECTED
    assert report.with_bom == [path]


@pytest.mark.parametrize(
    ("content", "title"), [("# Head #\nbody\n", "Head"), ("no head\r\n", "page")]
)
def test_a_page_is_one_document(write: Write, content: str, title: str) -> None:
    assert load(write("in/page.md", content)) == [Document("page.md", title, content)]
    assert load(write("page.txt.gz", content)) == [Document("page.txt", title, content)]


def test_folders_are_read_in_sorted_order(write: Write, tmp_path: Path) -> None:
    for name in ("b.txt", *(f"a/{x}.txt" for x in "zymcda"), ".hidden.txt", ".git/x.txt"):
        write(name, "text")
    write("a/picture.png", b"\x89PNG")
    report = LoadReport()
    assert [d.doc_id for d in load(tmp_path, report=report)] == [f"{x}.txt" for x in "bacdmyz"]
    assert (report.files, report.unsupported) == (7, {".png": 1})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, r"none\.jsonl: no such file"),
        ("d.doc", "x", r"d\.doc: documents come from \.jsonl"),
        ("d.json", '{"a": [], "b": []}', "exactly one list"),
        ("d.json", '"text"', "expected a JSON list"),
        ("d.json", '{"id": 1}\n{"id": 2}', r"d\.json:2: not valid JSON.*\.jsonl file"),
        ("d.json", b'[{"id": "\xff"}]', "not UTF-8: byte 0xff"),
        (
            "d.csv",
            "id;text\n1;x\n",
            r"d\.csv:1: the header is one cell, 'id;text': commas sep",
        ),
        ("d.csv", "id,id\n1,2\n", r"d\.csv:1: the header names 'id' twice"),
        ("d.csv", b"id,\xff\n1,2\n", r"d\.csv:1: not UTF-8"),
    ],
)
def test_unusable_files_stop_even_when_skipping(
    write: Write, tmp_path: Path, name: str, content: str | bytes | None, message: str
) -> None:
    path = tmp_path / name if content is None else write(name, content)
    with pytest.raises(InputError, match=message):
        load(path, on_error="skip")


@pytest.mark.parametrize("data", [b"not gzip", gzip.compress(b'{"id": 1}', mtime=0)[:-9]])
def test_a_broken_gzip_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"d\.jsonl\.gz:"):
        load(path)


GOOD = '{"id": "good", "text": "t"}'


@pytest.mark.parametrize(
    ("name", "content", "message", "fault"),
    [
        ("d.jsonl", f"{{broken\n{GOOD}", r"d\.jsonl:1: not valid JSON", "syntax"),
        ("d.jsonl", f"\n[1]\n{GOOD}", r"d\.jsonl:2: expected a JSON object, got a list", "syntax"),
        ("d.jsonl", f'{{"id": NaN}}\n{GOOD}', r"d\.jsonl:1: not valid JSON", "syntax"),
        ("d.jsonl", b'{"id": "\xff"}\n' + GOOD.encode(), r":1: not UTF-8.*offset 8", "encoding"),
        ("d.jsonl", f'{{"id": "\\ud800"}}\n{GOOD}', ":1: holds a lone surrogate", "encoding"),
        ("d.json", f'[{{"id": 1, "text": "\\udc00"}}, {GOOD}]', "record 1: holds a l", "encoding"),
        ("d.json", f"[7, {GOOD}]", r"d\.json: record 1: expected a JSON object", "syntax"),
        ("d.csv", "id,text\na\ngood,t\n", r"d\.csv:2: 1 cells where the header has 2", "syntax"),
        ("d.csv", 'id,text\n"a"b,c\ngood,t\n', r"d\.csv:2: not a valid table row", "syntax"),
        ("d.csv", b"id,text\na,\xff\ngood,t\n", r"d\.csv:2: not UTF-8", "encoding"),
        ("d.csv", 'id,text\n"a\nb",c\ngood,t\n', r"d\.csv:2: id 'a\\nb' holds a contr", "id"),
        (
            "d.jsonl",
            f'{GOOD}\n{{"id": "good"}}',
            r":2: id 'good' again, first at .*:1",
            "duplicate",
        ),
        ("a\x01.txt", "text", "the file's name 'a.x01.txt' holds a control", "id"),
        ("d.txt", b"%PDF-1.7", r"d\.txt: is no text but a \.pdf file", "syntax"),
    ],
)
def test_a_broken_record_stops_or_is_skipped(
    write: Write, name: str, content: str | bytes, message: str, fault: str
) -> None:
    path = write(name, content)
    with pytest.raises(InputError, match=message) as raised:
        load(path)
    assert raised.value.path == path
    report = LoadReport()
    kept = load(path, on_error="skip", report=report)
    assert [d.doc_id for d in kept] == ([] if name.endswith("txt") else ["good"])
    assert report.skipped == {fault: 1}
    assert report.examples == [str(raised.value)]


def test_of_several_documents_with_one_id_the_first_wins(write: Write) -> None:
    first = write("1.json", '[{"id": 7, "text": "first"}]')
    second = write("2.jsonl", '{"id": "7", "text": "second"}\n{"id": "7", "text": "third"}')
    report = LoadReport()
    assert [d.text for d in load(first, second, on_error="skip", report=report)] == ["first"]
    assert report.skipped == {"duplicate": 2}
    assert report.examples[0].endswith(f"{second}:1: id '7' again, first at {first}: record 1")


def test_examples_of_skipped_records_are_few(write: Write) -> None:
    report = LoadReport()
    load(write("d.jsonl", "{\n" * 50), on_error="skip", report=report)
    assert (report.skipped, len(report.examples)) == ({"syntax": 50}, 20)


def test_the_report_says_what_happened(write: Write, tmp_path: Path) -> None:
    write("d.jsonl", '{"id": 1}\n{"id": 2, "abstract": "a"}\n{"id": 3, "abstract": "b"}\nx')
    write("d.png", "")
    report = LoadReport()
    load(tmp_path, on_error="skip", report=report)
    assert report.lines() == [
        "3 documents from 1 file (text: 2 abstract, 1 none)",
        f"1 document without text, first {tmp_path / 'd.jsonl'}:1",
        "files of other kinds left out: 1 .png",
        "  to read .png: ocrmypdf --image-dpi 300 FILE FILE.pdf",
        "records skipped: 1 syntax; the first:",
        f"  {report.examples[0]}",
    ]


def test_a_cell_may_hold_a_whole_book(write: Write) -> None:
    book = "word " * 400_000
    assert load(write("d.csv", f"id,text\n1,{book}\n"))[0].text == book
