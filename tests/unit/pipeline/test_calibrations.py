"""Calibrations in files, and for which pipelines they may decide."""

from dataclasses import replace
from pathlib import Path

import pytest

from ccrag.answering.calibration import Calibration, Weight
from ccrag.config.load import load_settings
from ccrag.errors import ConfigError, InputError
from ccrag.pipeline.calibrations import (
    calibration_label,
    check_made_with,
    load_calibration,
    made_with,
    write_calibration,
)
from ccrag.pipeline.factory import calibration_of
from ccrag.pipeline.packaged import packaged_names

BM25 = "single-query-bm25"


def calibration(*overrides: str, pipeline: str = BM25) -> Calibration:
    settings = load_settings(pipeline, overrides)
    weights = {"turns": Weight(0.5, 1.0, 2.0)}
    return Calibration(pipeline, made_with(settings), weights, -1.0, None, {"queries": 3})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    write_calibration(calibration(), path)
    assert load_calibration(str(path)) == calibration()
    assert load_calibration("none") is None


def test_its_label_names_the_file_and_its_content(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    write_calibration(calibration(), path)
    first = calibration_label(str(path))
    write_calibration(replace(calibration(), intercept=0.0), path)
    assert first.startswith("mine@")
    assert first != calibration_label(str(path))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"no calibration 'mtrg'; there are none, mtrag; or give"):
        load_calibration("mtrg")


def test_a_file_that_is_not_there_or_is_something_else(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    with pytest.raises(ConfigError, match="cannot be read"):
        load_calibration(str(path))
    path.write_text('{"weights": 3}')
    with pytest.raises(ConfigError, match=r"mine.json is not a calibration; set answer"):
        load_calibration(str(path))
    weights = {"turns": Weight(0.5, 0.0, 2.0)}
    write_calibration(replace(calibration(), weights=weights), path)
    with pytest.raises(ConfigError, match="a scale is not above 0"):
        load_calibration(str(path))


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_calibration(calibration(), tmp_path)


@pytest.mark.parametrize(
    "override",
    ["retrieval.depth=7", "bm25.title_weight=2", "select.passages=3", "rerank.shortlist=5"],
)
def test_a_setting_that_decides_features_is_refused(override: str) -> None:
    key = override.partition("=")[0]
    with pytest.raises(ConfigError, match=f"'c' was made with pipeline {BM25}, whose {key} is"):
        check_made_with("c", calibration(), load_settings(BM25, [override]))


def test_another_encoder_is_refused() -> None:
    made = calibration(pipeline="hybrid")
    other = load_settings("hybrid", ["encoder.model=static:mine"])
    with pytest.raises(
        ConfigError, match=r"whose encoder.model is sentence-tr\S+; that of hybrid is static:mine: "
    ):
        check_made_with("c", made, other)


@pytest.mark.parametrize(
    "override",
    [
        *("answer.max_sentences=2", "answer.abstain_from=.7", "retrieval.batch=3"),
        *("encoder.device=cpu", "llm.model=other", "answer.generator=llm", "vectors.mode=exact"),
    ],
)
def test_settings_without_a_part_in_features_may_differ(override: str) -> None:
    check_made_with("c", calibration(), load_settings(BM25, [override]))


def test_the_model_that_rewrites_has_a_part() -> None:
    made = calibration(pipeline="mtrag-llm")
    with pytest.raises(ConfigError, match=r"whose llm.model is gpt-4.1-mini; .* is other"):
        check_made_with("c", made, load_settings("mtrag-llm", ["llm.model=other"]))


def test_how_units_are_read_has_a_part_where_they_are() -> None:
    check_made_with("c", calibration(), load_settings(BM25, ["budget.max_tokens=500"]))
    made = calibration(pipeline="longrag")
    with pytest.raises(ConfigError, match=r"whose budget.max_tokens is \d+; that of \S+ is 500"):
        check_made_with("c", made, load_settings("longrag", ["budget.max_tokens=500"]))


def test_a_setting_of_a_later_version_had_its_default() -> None:
    made = calibration()
    known = {key: value for key, value in made.made_with.items() if key != "fusion.method"}
    earlier = replace(made, made_with=known)
    check_made_with("c", earlier, load_settings(BM25))
    with pytest.raises(ConfigError, match=r"fusion.method is rrf; that of \S+ is highest"):
        check_made_with("c", earlier, load_settings(BM25, ["fusion.method=highest"]))


@pytest.mark.parametrize("name", packaged_names("calibrations"))
def test_the_packaged_ones_fit_the_pipelines_they_are_named_after(name: str) -> None:
    settings = load_settings(name, [f"answer.answerability={name}"])
    found = calibration_of(settings)
    assert found is not None
    assert found.pipeline == name
