"""Test that the list of all settings holds each one, by the name that `--set` takes."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.config import Settings
from ccrag.config.load import load_settings, pipeline_names
from ccrag.config.reference import described_settings, pipeline_toml, settings_page
from ccrag.errors import ConfigError

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_every_setting_is_listed_once_with_its_default() -> None:
    listed = {setting.name: setting for setting in described_settings()}
    expected = {
        f"{section}.{field}": value
        for section, held in Settings()
        if isinstance(held, BaseModel)
        for field, value in held.model_dump(mode="json").items()
    }
    assert {name: setting.default for name, setting in listed.items()} == expected
    assert load_settings("default", [f"serve.port={listed['serve.port'].default}"])
    assert listed["serve.port"].meaning == "0: a free one."


def test_meanings_are_one_line_that_stands_alone() -> None:
    for setting in described_settings():
        assert setting.meaning, setting
        assert "\n" not in setting.meaning
        assert not re.search(r"[Tt]his and|so is the next|^The same\b", setting.meaning), setting


def test_the_list_takes_no_pipeline_and_no_override() -> None:
    """It prints defaults; values of a pipeline would be left out without a word."""
    for more in (["best"], ["--set", "serve.port=1"], ["--changed"]):
        told = CliRunner().invoke(app, ["pipelines", "--settings", *more])
        assert told.exit_code == 1
        assert "leave out all else" in told.output


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("name", pipeline_names())
def test_a_printed_pipeline_is_the_same_pipeline(name: str, changed: bool, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    weights = ["fusion.weights={'bm25:original'=2.0}"] if name == "hybrid" else []
    settings = load_settings(name, ['answer.abstention="None: # \\"no\\"."', *weights])
    path.write_text(pipeline_toml(settings, changed=changed))
    assert load_settings(path).model_dump() == settings.model_dump()


def test_every_setting_stands_under_its_meaning() -> None:
    printed = pipeline_toml(load_settings("best"))
    assert len(re.findall(r"^(?:\w+ = |# \w+ is (?:un)?set)", printed, re.MULTILINE)) == 1 + len(
        list(described_settings())
    )
    assert "# Damping constant; not a depth.\nrrf_k = 60\n" in printed
    changed = pipeline_toml(load_settings("best"), changed=True)
    assert "rrf_k" not in changed
    assert "document_ratio = 0.2" in changed


def test_secrets_are_not_printed() -> None:
    settings = load_settings("best", ["engine.password=12345678", "provider.api_key=true"])
    assert settings.engine.password is not None
    assert settings.engine.password.get_secret_value() == "12345678"
    printed = pipeline_toml(settings)
    assert "# password is set; a secret is not printed\n" in printed
    assert "12345678" not in printed


def test_the_page_of_settings_is_the_one_in_docs() -> None:
    assert PAGE.read_text(encoding="utf-8") == settings_page()


@pytest.mark.parametrize(
    ("override", "near"),
    [
        ("rernk.method=none", "unknown setting rernk, did you mean rerank"),
        ("rerank.metod=none", "unknown setting rerank.metod, did you mean rerank.method"),
        ("zzzzzz.q=1", "unknown setting zzzzzz; `ccrag pipelines --settings` prints all"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(override: str, near: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(near)):
        load_settings("best", [override])
    with pytest.raises(ConfigError, match="no pipeline 'hybird', did you mean hybrid"):
        load_settings("hybird")


def test_a_wrong_line_of_a_pipeline_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for text, told in (
        ('[rerank]\nmethod="none"\n[evidence]\nscorr="x"\n', "mine.toml:4: unknown setting evid"),
        ('\n[rerank]\nmethod = "nne"\n', "mine.toml:3: setting rerank.method: Input should be"),
        ('summry = "x"\n', "mine.toml:1: unknown setting summry, did you mean summary"),
        ("[rernk]\nmethod = 1\n", "mine.toml:1: unknown setting rernk"),
        ("[rerank]\nmethod = 'none'\n[retrieval]\nlists = []\n", "mine.toml"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError) as raised:
            load_settings(path)
        assert told in str(raised.value) or "combination" in str(raised.value), text
