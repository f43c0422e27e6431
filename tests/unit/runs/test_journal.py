from pathlib import Path

import pytest

from ccrag.errors import InputError
from ccrag.runs.journal import Journal


def entries(path: Path, run: str = "r1") -> list[dict[str, object]]:
    with Journal(path, run_digest=run) as journal:
        return list(journal.entries(iter(["c", "b", "a"])))


def write(path: Path, *query_ids: str) -> None:
    with Journal(path, run_digest="r1") as journal:
        for query_id in query_ids:
            journal.append({"query_id": query_id, "n": len(query_id)})


def test_entries_come_back_in_the_order_asked_and_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write(path, "a")
    write(path, "b")
    assert [entry["query_id"] for entry in entries(path)] == ["b", "a"]


@pytest.mark.parametrize("torn", [1, 5, 20])
def test_a_torn_last_line_is_cut_off_and_written_again(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "journal"
    write(path, "a", "b")
    path.write_bytes(path.read_bytes()[:-torn])
    write(path, "c")
    assert [entry["query_id"] for entry in entries(path)] == ["c", "a"]


@pytest.mark.parametrize("left", [0, 1, 9])
def test_a_torn_first_line_is_a_journal_not_begun(tmp_path: Path, left: int) -> None:
    path = tmp_path / "journal"
    write(path)
    path.write_bytes(path.read_bytes()[:left])
    write(path, "a")
    assert [entry["query_id"] for entry in entries(path)] == ["a"]


def test_the_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write(path, "a")
    with pytest.raises(InputError, match="an unfinished run with other settings"):
        Journal(path, run_digest="r2")
    assert [entry["query_id"] for entry in entries(path)] == ["a"]


def test_entries_are_kept_by_any_field_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    for state in ("planned", "sent"):
        with Journal(tmp_path / "parts", run_digest="r1", key="part") as journal:
            journal.append({"part": "p1", "state": state})
            journal.append({"part": "p2", "state": "planned"})
    with Journal(tmp_path / "parts", run_digest="r1", key="part") as journal:
        assert list(journal.keys()) == ["p1", "p2"]
        assert [entry["state"] for entry in journal.entries(journal.keys())] == ["sent", "planned"]
