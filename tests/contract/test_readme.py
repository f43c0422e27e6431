"""The README's commands run, and it names every command and pipeline."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.layers import pipeline_names
from tests.contract.test_command_line import commands
from tests.provider import serving
from tests.unit.batches import quote

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def readme_commands() -> list[list[str]]:
    lines = [line for block in CONSOLE.findall(README) for line in block.splitlines()]
    return [shlex.split(line.removeprefix("$ ccrag "), comments=True) for line in lines]


def test_it_names_every_command_and_pipeline() -> None:
    for name in commands():
        assert f"ccrag {name}" in README, name
    assert all(f"`{name}`" in README for name in pipeline_names())


@contextmanager
def own_node() -> Iterator[None]:
    """Whatever starts the embedded node meanwhile, it ends with this."""
    try:
        yield
    finally:
        CliRunner().invoke(app, ["node", "down"])


@pytest.mark.integration
@pytest.mark.usefixtures("node_runtime")
def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = ROOT / "examples" / "python-reference" / "build.py"
    subprocess.run([sys.executable, str(build), str(tmp_path)], check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CCRAG_NODE__DATA", str(tmp_path / "node"))
    with serving(quote) as provider, own_node():
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        for words in readme_commands():
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"ccrag {shlex.join(words)}\n{result.output}"
