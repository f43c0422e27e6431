"""What every command promises: help with an example, and a quick start."""

import subprocess
import sys
from typing import Any

import pytest
import typer.main

from ccrag.cli import app

HEAVY = {
    *("torch", "opensearchpy", "sentence_transformers", "bm25s", "numpy", "pydantic"),
    *("fastapi", "starlette", "uvicorn", "mcp", "prometheus_client"),
}


def commands() -> dict[str, Any]:
    root: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, command in root.commands.items():
        for sub, inner in getattr(command, "commands", {"": command}).items():
            found[f"{name} {sub}".strip()] = inner
    return found


@pytest.mark.parametrize("name", commands())
def test_every_command_says_what_it_does_with_an_example(name: str) -> None:
    command = commands()[name]
    assert command.help.splitlines()[0].endswith((".", ":")) or "." in command.help
    assert f"Example: ccrag {name}" in command.help
    for parameter in command.params:
        assert parameter.name == "help" or getattr(parameter, "help", None), parameter.name


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from ccrag.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"
