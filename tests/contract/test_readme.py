"""The commands of README and docs run, and every command and pipeline is named there."""

import json
import os
import re
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.config.load import pipeline_names
from tests.contract.test_command_line import commands
from tests.provider import serving
from tests.unit.batches import quote

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]+))?\)")
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands_of(text: str) -> list[list[str]]:
    """The commands of the console blocks, in order, each as its words."""
    lines = [line for block in CONSOLE.findall(text) for line in block.splitlines()]
    return [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]


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
        for program, *words in commands_of(TEXT):
            if program == "pip":
                continue  # all extras are installed where all tests run
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"ccrag {shlex.join(words)}\n{result.output}"


class LightEnvironment:
    """A fresh virtual environment that holds ccrag without any extra."""

    def __init__(self, folder: Path, work: Path) -> None:
        venv.create(folder, with_pip=True)
        self._bin, self._work = folder / "bin", work
        foreign = ("CCRAG_", "PYTHON", "VIRTUAL_ENV", "COV_")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(foreign)}
        self._env = {**kept, "CCRAG_NODE__DATA": str(work / "node")}
        self.install("")

    def install(self, extra: str) -> None:
        """Install this checkout, with an extra."""
        quiet = ["-q", "--disable-pip-version-check"]
        done = self.run("pip", "install", *quiet, f"{ROOT}{extra}")
        assert done.returncode == 0, done.stderr

    def run(self, program: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run one of its programs to its end."""
        return subprocess.run(
            [self._bin / program, *words],
            cwd=self._work,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The address of `ccrag serve`."""
        with subprocess.Popen(
            [self._bin / "ccrag", "serve", "--port", "0"],
            cwd=self._work,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                yield server.stdout.readline().decode().strip() if server.stdout else ""
            finally:
                server.terminate()


@pytest.mark.integration
@pytest.mark.slow
@pytest.mark.usefixtures("node_runtime")
def test_it_holds_line_by_line_in_a_light_environment(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    work = tmp_path_factory.mktemp("light")
    light = LightEnvironment(tmp_path_factory.mktemp("venv"), work)
    light.run("python", str(ROOT / "examples" / "python-reference" / "build.py"), ".")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = ""
    try:
        for program, *words in commands_of(readme):
            if program == "pip":
                [missing] = words[1:]
                continue
            done = light.run(program, *words)
            said = f"ccrag {shlex.join(words)}\n{done.stdout}{done.stderr}"
            assert "Traceback" not in done.stderr, said
            if done.returncode:  # only what comes after an extra is named may want it, and says so
                assert missing, said
                assert "pip install 'ccrag[" in done.stderr, said
        [program] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        done = light.run("python", "-c", program)
        assert "bridge 0 30 The bridge was opened in 1931." in done.stdout, done.stderr
        refused = light.run("ccrag", "serve", "--port", "0")
        assert "ccrag[web]" in refused.stderr, refused.stderr
        light.install("[web]")
        page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
        [question] = re.findall(r"-d '(\{.*?\})'", page)
        with light.serving() as url:
            answer = httpx2.post(f"{url}/api/ask", json=json.loads(question), timeout=60).json()
        assert answer["pipeline"] == "lexical", answer
        assert answer["references"], answer
    finally:
        light.run("ccrag", "node", "down")
