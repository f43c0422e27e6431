"""A new reader is one file and one line; every reader of the table can be called."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ccrag
from ccrag.corpus.readers.registry import READERS, Reader, load_function, reader_of
from ccrag.corpus.readers.source import PageSource, RecordSource

TOY_READERS = {
    "toy.py": """
from ccrag.corpus.readers.page import ReadPage
from ccrag.corpus.readers.source import PageSource

def read_toy(source: PageSource) -> ReadPage:
    return ReadPage("Toy", source.data.decode()[:-1].removeprefix("PK\\3\\4").upper() + "\\n")
""",
    "toys.py": """
from ccrag.corpus.readers.source import RecordSource

def read_toys(source: RecordSource):
    with source.lines() as lines:
        for line in lines:
            yield lines.number, {"id": f"toy-{lines.number}", "text": line.decode().strip()}
""",
}
LINES = r"""
    Reader("toy:read_toy", (".toy",), signature=b"PK\x03\x04"),
    Reader("toys:read_toys", (".toys",), "records", "record"),
"""
USE = r"""
import gzip, sys
from pathlib import Path
from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.packed import DEFAULT_SIZES
from ccrag.corpus.readers.isolated import ReadLimits, read_isolated
from ccrag.errors import InputError

def say(problem):
    try:
        problem()
    except InputError as error:
        print(error)

def read(path, **options):
    report = LoadReport()
    for document in read_documents(find_files([path], report), report=report, **options):
        print(document.doc_id, document.title, document.text.strip())

Path("in").mkdir()
Path("in/a.toy").write_bytes(b"PK\3\4a pump\n")
Path("in/b.toy.gz").write_bytes(gzip.compress(b"a tank\n"))
Path("in/c.toys").write_text("one\ntwo\n")
read(Path("in"))
limits = ReadLimits(memory_mb=320, seconds=20)
print(read_isolated(Path("in/a.toy"), limits, still_wanted=lambda: None).documents[0].text.strip())
say(lambda: read(Path("in/a.toy"), sizes=DEFAULT_SIZES.at_most(5)))
Path("in/d.unknown").write_text("x")
say(lambda: find_files([Path("in/d.unknown")], LoadReport()))
"""


def test_a_new_reader_is_one_file_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "ccrag"
    shutil.copytree(Path(ccrag.__file__).parent, package, ignore=lambda *_: {"__pycache__"})
    readers = package / "corpus" / "readers"
    for name, content in TOY_READERS.items():
        (readers / name).write_text(content)
    table = (readers / "registry.py").read_text()
    assert table.count("READERS = (\n") == 1
    (readers / "registry.py").write_text(table.replace("READERS = (\n", f"READERS = ({LINES}"))
    done = subprocess.run(
        [sys.executable, "-P", "-c", USE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "a.toy Toy A PUMP",
        "b.toy Toy A TANK",
        "toy-1  one",
        "toy-2  two",
        "A PUMP",
        "in/a.toy: more than 5 bytes when unpacked, the most that is read; split it",
        "in/d.unknown: documents come from .toy, .toys, .jsonl, .ndjson, .json, .csv, .tsv, .md, "
        ".markdown, .txt, .text, .rst, .html, .htm, .xhtml, .pdf, .tex, plain or packed",
    ]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.function)
def test_every_registered_function_takes_a_source(reader: Reader) -> None:
    [source] = inspect.signature(load_function(reader.function)).parameters.values()
    assert source.annotation is (PageSource if reader.content == "page" else RecordSource)
    if reader.is_whole is not None:
        assert load_function(reader.is_whole)(b"") is False


def test_no_suffix_is_read_by_two_readers() -> None:
    suffixes = [suffix for reader in READERS for suffix in reader.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_a_suffix_in_capitals_or_packed_finds_its_reader() -> None:
    assert reader_of(Path("A.PDF.GZ")) is reader_of(Path("a.pdf"))
    assert reader_of(Path("a.docx")) is None
