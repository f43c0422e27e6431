"""Named collections of documents: how files and records come to belong to one."""

import json
from pathlib import Path

import pytest

from ccrag.corpus.load import MAX_COLLECTIONS, LoadReport, find_files, read_documents
from ccrag.corpus.scan import CorpusScan
from ccrag.errors import InputError


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    fiqa = write(tmp_path / "a.jsonl", {"_id": "f1", "text": "x"}, {"_id": "f2", "text": "y"})
    folder = tmp_path / "b"
    folder.mkdir()
    write(folder / "c.jsonl", {"_id": "g1", "text": "z"})
    return fiqa, folder


def test_documents_belong_to_the_collection_of_their_path(
    files: tuple[Path, Path],
) -> None:
    fiqa, folder = files
    with CorpusScan([fiqa, folder], collections={fiqa: "fiqa", folder: "govt"}) as scan:
        found = {d.doc_id: d.collection for d in scan.documents()}
        assert scan.report.collections == {"fiqa": 2, "govt": 1}
        assert "documents per collection: fiqa 2, govt 1" in scan.report.lines()
    assert found == {"f1": "fiqa", "f2": "fiqa", "g1": "govt"}


def test_the_collection_is_part_of_the_fingerprint(files: tuple[Path, Path]) -> None:
    fiqa, _ = files
    with CorpusScan([fiqa]) as plain, CorpusScan([fiqa], collections={fiqa: "x"}) as named:
        assert plain.fingerprint != named.fingerprint


def test_a_record_naming_another_collection_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", {"id": "a", "text": "x", "collection": "fiqa"})
    for given in ({}, {path: "fiqa"}):
        [document] = read_documents(find_files([path], LoadReport()), collections=given)
        assert document.collection == "fiqa"
    problem = r"d.jsonl:1: collection 'fiqa' in the record, 'govt' for the file"
    with pytest.raises(InputError, match=problem):
        list(read_documents(find_files([path], LoadReport()), collections={path: "govt"}))
    report = LoadReport()
    list(
        read_documents(
            find_files([path], LoadReport()),
            collections={path: "govt"},
            on_error="skip",
            report=report,
        )
    )
    assert report.skipped == {"field": 1}


def test_a_file_cannot_be_put_into_two_collections(files: tuple[Path, Path]) -> None:
    _, folder = files
    twice = {folder: "govt", folder / "c.jsonl": "fiqa"}
    with pytest.raises(InputError, match="is put into 'govt' and into 'fiqa'"):
        CorpusScan([folder], collections=twice)


def test_there_is_a_bound(tmp_path: Path) -> None:
    records = ({"id": n, "text": "x", "collection": f"c{n}"} for n in range(MAX_COLLECTIONS + 1))
    with pytest.raises(InputError, match="more than 1000 collections"):
        CorpusScan([write(tmp_path / "d.jsonl", *records)])
