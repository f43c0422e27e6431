"""What a run's folder holds: the same run, another one, or nothing."""

from pathlib import Path

import orjson
import pytest

from ccrag.errors import InputError
from ccrag.runs.status import RunState, kept_entries, other_run, run_status

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
    assert run_status(tmp_path / "none", "abc").state is RunState.NEW
    assert run_status(tmp_path, "abc").state is RunState.NEW


def test_the_same_run_is_reused_and_another_is_not(finished: Path) -> None:
    assert run_status(finished, "abc").state is RunState.FINISHED
    assert run_status(finished, "abd").state is RunState.OTHER


@pytest.mark.parametrize("missing", FILES)
def test_a_run_without_one_of_its_files_is_not_reused(finished: Path, missing: str) -> None:
    (finished / missing).unlink()
    status = run_status(finished, "abc")
    assert status.state is RunState.INCOMPLETE
    assert status.blocks
    assert f"{missing} is missing" in str(other_run(finished, status))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"not json", b'{"ccrag":"0","queries":[\n]}', b'{"run":"abc"']
)
def test_provenance_that_names_no_run_is_not_reused(finished: Path, content: bytes) -> None:
    (finished / "provenance.json").write_bytes(content)
    assert run_status(finished, "abc").state is RunState.OTHER


@pytest.mark.parametrize(
    ("journal", "expected"),
    [
        (b'{"run":"abc"}\n{"query_id":"q"}\n', RunState.UNFINISHED),
        (b'{"run":"abd"}\n', RunState.OTHER),
        (b'{"run":"ab', RunState.FINISHED),
        (b"", RunState.FINISHED),
    ],
)
def test_a_journal_goes_before_all_else(finished: Path, journal: bytes, expected: RunState) -> None:
    (finished / "journal.part").write_bytes(journal)
    assert run_status(finished, "abc").state is expected


def test_failed_queries_leave_a_run_unfinished_though_its_journal_is_gone(finished: Path) -> None:
    failed = b'{"run":"abc","failures":[{"query_id":"q2","error":"x"}],"queries":[\n]}\n'
    (finished / "provenance.json").write_bytes(failed)
    assert run_status(finished, "abc").state is RunState.UNFINISHED


@pytest.mark.parametrize("name", [*FILES, "predictions.jsonl"])
def test_files_of_no_known_run_are_not_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"by hand")
    status = run_status(tmp_path, "abc")
    assert status.state is RunState.OTHER
    assert f"{name} is there without provenance.json" in str(other_run(tmp_path, status))


def test_the_error_names_what_differs_and_no_more_than_four(finished: Path) -> None:
    theirs = {
        "version": "0",
        "queries": "a",
        "pipeline": {"select": {"passages": 3}, "name": "x", "summary": "s"},
        "output": {"team_id": "t"},
    }
    head = orjson.dumps({"run": "abc", "identity": theirs})
    (finished / "provenance.json").write_bytes(head[:-1] + b',"queries":[\n]}\n')
    here = {
        "version": "0",
        "queries": "b",
        "calibration": "c",
        "pipeline": {"select": {"passages": 5}, "name": "y", "summary": "other"},
        "output": {"team_id": "u"},
    }
    status = run_status(finished, "abd", parts=here)
    assert status.differs == (
        "name 'x' (here 'y')",
        "select.passages 3 (here 5)",
        "output.team_id 't' (here 'u')",
        "the queries or their candidates",
        "the calibration",
    )
    message = str(other_run(finished, status))
    assert "select.passages 3 (here 5)" in message
    assert "; and 1 more; use another --out, or --overwrite" in message


def test_entries_come_back_from_the_files_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "responses.jsonl").write_bytes(b'{"r":1}\n{"r":2}\n')
    (tmp_path / "run.trec").write_text("q2 Q0 d 1 1.0 t\nq2 Q0 e 2 0.5 t\n")
    (tmp_path / "provenance.json").write_bytes(
        b'{"run":"abc","queries":[\n{"query_id":"q1"},\n{"query_id":"q2"}\n]}\n'
    )
    first, second = kept_entries(tmp_path, "responses.jsonl")
    assert (first["record"], first["trec"]) == ({"r": 1}, [])
    assert second["trec"] == ["q2 Q0 d 1 1.0 t", "q2 Q0 e 2 0.5 t"]
    (tmp_path / "responses.jsonl").write_bytes(b'{"r":1}\n')
    with pytest.raises(InputError, match="different queries; --overwrite"):
        list(kept_entries(tmp_path, "responses.jsonl"))
