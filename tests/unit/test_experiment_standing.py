"""When a run's folder is reused."""

from pathlib import Path

import pytest

from ccrag.experiment.standing import Standing, standing

FILES = ("responses.jsonl", "run.trec", "ir-metadata.yml")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "provenance.json").write_bytes(
        b'{"ccrag":"0","run":"abc","queries":[\n{"query_id":"q"}\n]}\n'
    )
    return tmp_path


def test_nothing_there_is_new(tmp_path: Path) -> None:
    assert standing(tmp_path / "none", "abc") is Standing.NEW
    assert standing(tmp_path, "abc") is Standing.NEW


def test_the_same_run_is_reused_and_another_is_not(finished: Path) -> None:
    assert standing(finished, "abc") is Standing.FINISHED
    assert standing(finished, "abd") is Standing.CHANGED


@pytest.mark.parametrize("missing", FILES)
def test_a_run_without_one_of_its_files_is_not_reused(finished: Path, missing: str) -> None:
    (finished / missing).unlink()
    assert standing(finished, "abc") is Standing.CHANGED


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"not json", b'{"ccrag":"0","queries":[\n]}', b'{"run":"abc"']
)
def test_provenance_that_names_no_run_is_not_reused(finished: Path, content: bytes) -> None:
    (finished / "provenance.json").write_bytes(content)
    assert standing(finished, "abc") is Standing.CHANGED


@pytest.mark.parametrize(
    ("journal", "expected"),
    [
        (b'{"run":"abc"}\n{"query_id":"q"}\n', Standing.UNFINISHED),
        (b'{"run":"abd"}\n', Standing.CHANGED),
        (b'{"run":"ab', Standing.CHANGED),
        (b"", Standing.CHANGED),
    ],
)
def test_a_journal_goes_before_all_else(finished: Path, journal: bytes, expected: Standing) -> None:
    (finished / "journal.part").write_bytes(journal)
    assert standing(finished, "abc") is expected
