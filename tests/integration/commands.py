"""Commands as a user gives them, in this process."""

from pathlib import Path
from typing import Any

import orjson
from typer.testing import CliRunner, Result

from ccrag.cli import app


def ccrag(*arguments: object, code: int = 0, lines: str | bytes = "") -> Result:
    """What a command did that read `lines` from a pipe; it must end with `code`."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=lines)
    assert result.exit_code == code, result.output
    return result


def provenance(out: Path) -> dict[str, Any]:
    """What a run tells of itself."""
    content: dict[str, Any] = orjson.loads((out / "provenance.json").read_bytes())
    return content
