"""Test that the import contract holds the modules that say they are pure."""

import ast
import re
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
HAS_PATHS = {"ccrag.corpus.faults", "ccrag.corpus.readers.registry"}
"""They hold paths as values, and `pathlib` is also what opens files."""
PARSES_URLS = {"ccrag.units.links", "ccrag.web.page.views"}
"""They use `urllib.parse`; the contract knows packages alone."""
OTHERS = {"ccrag.chat.transcript"}
"""It reads models of pydantic."""


def test_every_module_that_says_pure_is_under_the_contract() -> None:
    config = ConfigParser()
    config.read(ROOT / ".importlinter")
    held = config["importlinter:contract:pure"]["source_modules"].split()
    saying = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "ccrag").rglob("*.py")
        if re.search(r"\bPure(\.|:|$)", ast.get_docstring(ast.parse(path.read_text())) or "")
    }
    assert len(saying) > 50
    loose = {name for name in saying if not any(f"{name}.".startswith(f"{h}.") for h in held)}
    assert loose == HAS_PATHS | PARSES_URLS | OTHERS
