"""The state file and the lock."""

import json
from pathlib import Path

import pytest

from ccrag.engine.node.state import (
    Launch,
    NodeState,
    exclusive,
    forget_state,
    read_state,
    renew_secret,
    write_state,
)
from ccrag.errors import NodeError


def launch(data: Path) -> Launch:
    return Launch(4711, 1700000000.25, 512, data)


def node(data: Path) -> NodeState:
    return NodeState(4711, 1700000000.25, 512, data, "http://127.0.0.1:9200", "2.19.6")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    for state in (launch(tmp_path), node(tmp_path)):
        write_state(state)
        assert read_state(tmp_path) == state
    assert [path.name for path in tmp_path.iterdir()] == ["node.json"]


def test_the_file_holds_pid_start_time_and_url(tmp_path: Path) -> None:
    write_state(node(tmp_path))
    fields = json.loads((tmp_path / "node.json").read_text())
    assert (fields["pid"], fields["started"]) == (4711, 1700000000.25)
    assert fields["url"] == "http://127.0.0.1:9200"


def test_the_port_is_the_urls(tmp_path: Path) -> None:
    assert node(tmp_path).port == 9200


def test_without_a_file_there_is_no_state(tmp_path: Path) -> None:
    forget_state(tmp_path)
    assert read_state(tmp_path) is None
    assert read_state(tmp_path / "absent") is None


def test_a_moved_data_folder_keeps_its_state(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    write_state(node(tmp_path / "old"))
    (tmp_path / "old").rename(tmp_path / "new")
    assert read_state(tmp_path / "new") == node(tmp_path / "new")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": 1', '{"pid": 1, "colour": "red"}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "node.json").write_text(text)
    with pytest.raises(NodeError, match=r"node\.json is damaged"):
        read_state(tmp_path)


def test_the_lock_is_exclusive_and_ends_with_the_block(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with (
        exclusive(folder, timeout_s=1, doing="testing"),
        pytest.raises(NodeError, match=r"another ccrag command is testing in .*folder"),
        exclusive(folder, timeout_s=0.1, doing="testing"),
    ):
        pass
    with exclusive(folder, timeout_s=0.1, doing="testing"):
        pass


def test_a_new_folder_is_the_owners_only(tmp_path: Path) -> None:
    with exclusive(tmp_path / "data", timeout_s=1, doing="testing"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(NodeError, match=r"cannot write to .*/file/data"),
        exclusive(tmp_path / "file" / "data", timeout_s=1, doing="testing"),
    ):
        pass


def test_a_secret_is_new_each_time_and_its_owners_only(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    (tmp_path / "node.secret").symlink_to(elsewhere)
    renew_secret(tmp_path)
    first = node(tmp_path).secret()
    renew_secret(tmp_path)
    assert node(tmp_path).secret() != first
    assert len(first) >= 43
    assert node(tmp_path).secret_file.stat().st_mode & 0o777 == 0o600
    assert elsewhere.read_text() == "kept"
    forget_state(tmp_path)
    with pytest.raises(NodeError, match=r"without a secret: run `ccrag node down`"):
        node(tmp_path).secret()


@pytest.mark.parametrize("name", ["node.json", "node.secret"])
def test_files_of_another_user_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()  # what not even root can read as a file
    with pytest.raises(NodeError, match=rf"cannot read .*{name} .*--data"):
        read_state(tmp_path) if name == "node.json" else node(tmp_path).secret()
