"""Files of all kinds: packed, of other kinds, of one name, and in folders."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ccrag.corpus.load import ErrorMode, LoadReport, find_files, read_documents
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits
from ccrag.corpus.scan import CorpusScan
from ccrag.errors import InputError
from ccrag.types import Document

RECORD = b'{"id": "a", "text": "words"}\n'


def put(path: Path, content: bytes = b"text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def load(
    *paths: Path,
    report: LoadReport | None = None,
    on_error: ErrorMode = "stop",
    sizes: SizeLimits = DEFAULT_SIZES,
) -> list[Document]:
    report = report or LoadReport()
    files = find_files(paths, report)
    return list(read_documents(files, report=report, on_error=on_error, sizes=sizes))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
@pytest.mark.parametrize(
    "name", ["d.jsonl", "d.jsonl.gz", "d.json", "d.txt", "d.txt.bz2", "d.html.xz"]
)
def test_compression_is_seen_by_its_bytes(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    content = {"d.jsonl": RECORD, "d.json": b"[" + RECORD + b"]"}
    plain = content.get(name.removesuffix(".gz"), b"words")
    [document] = load(put(tmp_path / name, pack(plain)))
    assert document.text.strip() == "words"
    assert document.doc_id in ("a", "d.txt", "d.html")


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.txt", "text")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("d.jsonl", _zip(), r"d\.jsonl: is a zip archive; unpack it: unzip d\.jsonl -d"),
        ("d.txt", b"\x28\xb5\x2f\xfd\x00", r"d\.txt: packed by zstd, .*: zstd -d d\.txt"),
        ("d.txt.gz", gzip.compress(b"x" * 99, mtime=0)[:-9], r"d\.txt\.gz: broken compressed file"),
        ("d.txt.bz2", bz2.compress(b"x" * 99)[:-9], r"d\.txt\.bz2: broken compressed file"),
        ("d.docx", _zip(), r"d\.docx: documents come from .*pandoc d\.docx -o d\.docx\.md"),
        ("d.xlsx", b"", r"soffice --headless --convert-to csv d\.xlsx"),
        ("d.parquet", b"", r"read_parquet\('d\.parquet'\)"),
        ("d.zip", b"", r"unzip d\.zip"),
        ("d.tar.gz", b"", r"tar -xf d\.tar\.gz"),
        ("d.tgz", b"", r"tar -xf d\.tgz"),
        ("README", b"a\0b", r"README: without suffix, no plain text; only plain text is read"),
        ("run", b"#!/bin/sh\n", r"run: program without suffix; only plain text is read"),
        ("d.bin", b"", r"d\.bin: documents come from [^;]*$"),
    ],
)
def test_what_is_not_read_says_how_to_convert_it(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        load(put(tmp_path / name, content))
    assert "\n" not in str(raised.value)


def test_unpacking_is_bounded(tmp_path: Path) -> None:
    sizes = SizeLimits(page=1_000, record=1_000)
    bomb = put(tmp_path / "a.txt.gz", gzip.compress(b"x" * 10_000_000))
    with pytest.raises(InputError, match=r"a\.txt\.gz: more than 1,000 bytes when unpacked"):
        load(bomb, sizes=sizes)
    many = put(tmp_path / "b.jsonl.gz", gzip.compress(RECORD * 1_000))
    assert len(load(many, sizes=sizes)) == 1_000
    line = put(tmp_path / "c.jsonl.gz", gzip.compress(RECORD + b"x" * 10_000_000))
    with pytest.raises(InputError, match=r"c\.jsonl\.gz: line 2 has more than 1,000 bytes"):
        load(line, sizes=sizes)
    report = LoadReport()
    assert len(load(tmp_path, report=report, on_error="skip", sizes=sizes)) == 1_001
    assert report.skipped == {"size": 2}


@pytest.mark.parametrize("suffix", [".rst", ".text", ".markdown", ".ndjson", ".TXT", ".xhtml"])
def test_other_names_of_the_same_kinds_are_read(tmp_path: Path, suffix: str) -> None:
    content = RECORD if suffix == ".ndjson" else b"<p>words</p>" if "h" in suffix else b"words"
    assert load(put(tmp_path / f"d{suffix}", content))[0].text.strip() == "words"


def test_names_that_repeat_become_paths_in_the_folder_named(tmp_path: Path) -> None:
    for name in ("docs/a/index.md", "docs/b/index.md.gz", "docs/b/unique.md", "docs/index.md"):
        put(tmp_path / name)
    report = LoadReport()
    found = [document.doc_id for document in load(tmp_path / "docs", report=report)]
    assert found == ["index.md", "a/index.md", "b/index.md", "unique.md"]
    assert report.path_ids == 2
    moved = tmp_path / "elsewhere"
    (tmp_path / "docs").rename(moved)
    assert [document.doc_id for document in load(moved)] == found


def test_paths_that_repeat_in_two_folders_are_as_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/index.md", "b/index.md", "c.md"):
        put(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for paths in (["a", "b", "c.md"], ["a/index.md", "b/index.md", "c.md"]):
        found = [document.doc_id for document in load(*map(Path, paths))]
        assert found == ["a/index.md", "b/index.md", "c.md"]


def test_the_report_of_a_folder_counts_what_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    for name in ("a.txt", ".hidden.txt", ".git/b.txt", "c.docx", "d.docx", "e.log"):
        put(folder / name)
    put(folder / "binary", b"\x7fELF\0")
    put(folder / "packed.gz", gzip.compress(b"#!/bin/sh\n"))
    put(tmp_path / "other" / "f.txt")
    (folder / "link").symlink_to(tmp_path / "other")
    (folder / "again.txt").symlink_to(folder / "a.txt")
    os.mkfifo(folder / "pipe.txt")
    report = LoadReport()
    assert [document.doc_id for document in load(folder, folder, report=report)] == ["a.txt"]
    assert report.lines() == [
        "1 document from 1 file (text: 1 full_text)",
        "3 files named or linked to again: read once",
        "hidden files and folders left out: 4",
        "files of other kinds left out: 4 .docx, 2 .log, 2 link to a folder, 2 no regular file, "
        "2 program without suffix, 2 without suffix, no plain text",
        "  to read .docx: pandoc FILE -o FILE.md",
        "  to read .log: rename it to .txt if it is plain text",
    ]


@pytest.mark.parametrize("name", ["README", "copyright", "53068", "README.gz", "LISEZ-MOI"])
def test_plain_text_without_suffix_is_read(tmp_path: Path, name: str) -> None:
    content = "Größe".encode("utf-16") if name == "LISEZ-MOI" else "Größe".encode()
    put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    for given in (tmp_path, tmp_path / name):
        [document] = load(given)
        assert (document.doc_id, document.text) == (name.removesuffix(".gz"), "Größe")


def test_a_page_without_text_is_reported_and_loses_no_other(tmp_path: Path) -> None:
    put(tmp_path / "a.txt")
    empty = put(tmp_path / "app.html", b"<html><script>run()</script></html>")
    report = LoadReport()
    assert [document.doc_id for document in load(tmp_path, report=report)] == ["a.txt"]
    assert report.skipped == {"no text": 1}
    assert report.lines()[-2:] == [
        "records skipped: 1 no text; the first:",
        f"  {empty}: the page holds no text; is it made by a script?",
    ]
    with pytest.raises(InputError, match=r"app\.html: the page holds no text"):
        load(empty)
    put(tmp_path / "app2.html", b"<html><script>run()</script></html>")
    (tmp_path / "a.txt").unlink()
    with pytest.raises(InputError, match=r"no documents in .*2 no text; .*app\.html: the page"):
        CorpusScan([tmp_path])


def test_a_file_that_cannot_be_read_is_one_of_those_skipped(tmp_path: Path) -> None:
    put(tmp_path / "a.txt")
    (tmp_path / "b.txt").symlink_to(tmp_path / "gone.txt")
    put(tmp_path / "c.jsonl.gz", gzip.compress(RECORD * 9)[:-9])
    with pytest.raises(InputError, match=r"b\.txt: cannot be read: No such file"):
        load(tmp_path)
    report = LoadReport()
    assert load(tmp_path, report=report, on_error="skip")[0].doc_id == "a.txt"
    assert report.skipped == {"file": 2}


def test_a_folder_with_nothing_to_read_says_what_lies_there(tmp_path: Path) -> None:
    put(tmp_path / "a.docx")
    with pytest.raises(InputError, match=r"no documents in .* left out: 1 \.docx"):
        CorpusScan([tmp_path])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"one\rtwo\r", "one\ntwo\n"),
        (b"one\r\ntwo\r\n", "one\r\ntwo\r\n"),
        ("Größe".encode("cp1252") + b" und Farbe f\xfcr K\xe4ufer", "Größe und Farbe für Käufer"),
        ("Größe".encode("utf-16"), "Größe"),
    ],
)
def test_text_files_are_read_as_they_were_written(
    tmp_path: Path, content: bytes, text: str
) -> None:
    assert load(put(tmp_path / "d.txt", content))[0].text == text


def test_the_title_in_front_matter_is_the_documents(tmp_path: Path) -> None:
    path = put(tmp_path / "d.md", b"---\ntitle: A book\n---\n# Chapter\n")
    assert load(path)[0].title == "A book"
