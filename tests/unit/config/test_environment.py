"""Programs that ccrag starts see no key of its environment."""

from pathlib import Path

import pytest

from ccrag.config.environment import environment
from ccrag.corpus.readers import latex
from ccrag.engine.node import jars, java
from ccrag.errors import NodeError

PLANTED = "a-key-that-nobody-may-see"


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file where the program `tool` beside it writes its environment."""
    tool = tmp_path / "tool"
    tool.write_text('#!/bin/sh\nenv > "$(dirname "$0")/shown"\necho \'javac 17\'\n')
    tool.chmod(0o700)
    for name in ("CCRAG_PROVIDER__API_KEY", "OPENAI_API_KEY", "AWS_SECRET", "PASSWORD"):
        monkeypatch.setenv(name, PLANTED)
    return tmp_path / "shown"


def test_the_environment_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    monkeypatch.setenv("JAVA_HOME", "/java")
    assert PLANTED not in environment("JAVA_HOME").values()
    assert environment("JAVA_HOME")["JAVA_HOME"] == "/java"


def test_java_tools_get_no_key(shown: Path) -> None:
    tool = str(shown.with_name("tool"))
    assert java._major_version(tool) == 17
    assert PLANTED not in shown.read_text()
    shown.unlink()
    jars._run([tool], failure="it fails")
    assert PLANTED not in shown.read_text()
    with pytest.raises(NodeError, match="it fails"):
        jars._run(["/bin/false"], failure="it fails")


def test_pandoc_gets_no_key(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latex, "_pandoc", lambda: str(shown.with_name("tool")))
    latex._converted("words")
    assert PLANTED not in shown.read_text()
