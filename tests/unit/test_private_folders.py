"""What ccrag makes for what it was asked and what it answered is readable by its owner only."""

import os
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ccrag.batch.folder import locked
from ccrag.chat.session import new_file
from ccrag.config import ChatSettings
from ccrag.experiment.experiment import _check_folder
from ccrag.models.cache import VectorCache


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def _chat(folder: Path) -> None:
    new_file("dams", ChatSettings(folder=folder), now=datetime(2024, 1, 1, tzinfo=UTC))


def _batch(folder: Path) -> None:
    with locked(folder):
        pass


def _vectors(folder: Path) -> None:
    VectorCache(folder / "vectors.sqlite")


@pytest.mark.parametrize("make", [_chat, _batch, _vectors, _check_folder])
def test_a_folder_that_is_made_is_its_owners(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = tmp_path / "outer" / "made"
    make(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir(mode=0o755)
    _batch(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_no_module_makes_a_folder_that_others_can_read() -> None:
    """Each `mkdir` names its mode, but the two whose folders lie in one of mode 700."""
    package = Path(__file__).parents[2] / "ccrag"
    open_ones = {
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ".mkdir(" in line and "mode=0o700" not in line
    }
    assert open_ones == {
        "engine/node/jars.py: draft.mkdir()",
        "engine/node/launch.py: (data / name).mkdir(exist_ok=True)",
    }
