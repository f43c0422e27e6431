"""The commands of README and docs run, and every command and pipeline is named there."""

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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]+))?\)")
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def readme_commands() -> list[list[str]]:
    lines = [line for block in CONSOLE.findall(TEXT) for line in block.splitlines()]
    return [shlex.split(line.removeprefix("$ ccrag "), comments=True) for line in lines]


def test_it_names_every_command_and_pipeline() -> None:
    for name in commands():
        assert f"ccrag {name}" in TEXT, name
    assert all(f"`{name}`" in TEXT for name in pipeline_names())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for name, section in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / name
        assert target.is_file(), name
        titles = re.findall(r"(?m)^#+ (.+)$", target.read_text(encoding="utf-8"))
        assert not section or section in {title.lower().replace(" ", "-") for title in titles}


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
