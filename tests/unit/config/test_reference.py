"""Test that the list of all settings holds each one, by the name that `--set` takes."""

import re

from pydantic import BaseModel
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.config import Settings
from ccrag.config.load import load_settings
from ccrag.config.reference import described_settings


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
        assert "\n" not in setting.meaning
        assert not re.search(r"[Tt]his and|so is the next|^The same\b", setting.meaning), setting


def test_the_list_takes_no_pipeline_and_no_override() -> None:
    """It prints defaults; values of a pipeline would be left out without a word."""
    for more in (["best"], ["--set", "serve.port=1"]):
        told = CliRunner().invoke(app, ["pipelines", "--settings", *more])
        assert told.exit_code == 1
        assert "leave out the pipeline and --set" in told.output
