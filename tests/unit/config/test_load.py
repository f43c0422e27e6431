from pathlib import Path

import pytest

from ccrag.config.load import load_settings, pipeline_names, read_pipeline
from ccrag.errors import ConfigError


def test_later_layers_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = tmp_path / "mine.toml"
    toml.write_text("[fusion]\nrrf_k = 10\n[rerank]\nshortlist = 5\n[select]\npassages = 3\n")
    monkeypatch.setenv("CCRAG_RERANK__SHORTLIST", "7")
    monkeypatch.setenv("CCRAG_SELECT__PASSAGES", "8")
    settings = load_settings(toml, ["select.passages=9"])
    assert settings.name == "mine"
    assert settings.fusion.rrf_k == 10
    assert settings.rerank.shortlist == 7
    assert settings.select.passages == 9
    assert settings.answer.max_sentences == 5


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("rerank.shortlst=3", "unknown setting rerank.shortlst"),
        ("rerankk.shortlist=3", "unknown setting rerankk"),
        ("rerank.shortlist=0", "setting rerank.shortlist: Input should be greater"),
        ("rerank.shortlist", "expected section.key=value"),
        ("rerank.method=papr", "setting rerank.method: Input should be 'none'"),
    ],
)
def test_bad_overrides_are_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(None, [override])


@pytest.mark.parametrize("variable", ["CCRAG_RERNK__SHORTLIST", "CCRAG_RERANK__SHORTLST"])
def test_a_misspelt_variable_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "7")
    with pytest.raises(ConfigError, match="unknown setting"):
        load_settings()


def test_strings_need_no_quotes_and_lists_are_toml() -> None:
    settings = load_settings(None, ["rerank.method=published-code", 'variants.use=["original"]'])
    assert settings.rerank.method == "published-code"
    assert settings.variants.use == ("original",)


def test_the_password_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_ENGINE__PASSWORD", "hunter2")
    assert "hunter2" not in repr(load_settings())


def test_a_bad_secret_does_not_leak_into_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_ENGINE__TIMEOUT_S", "hunter2")
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", pipeline_names())
def test_every_packaged_pipeline_loads_and_says_what_it_is(name: str) -> None:
    settings = load_settings(name)
    assert settings.name == name
    assert settings.summary


def test_without_a_name_it_is_best_or_what_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CCRAG_PIPELINE")
    monkeypatch.setattr("ccrag.config.defaults.installed_extras", lambda: {"neural", "minilm"})
    assert load_settings().name == "best"
    monkeypatch.setenv("CCRAG_PIPELINE", "dense")
    assert load_settings().name == "dense"
    assert load_settings("hybrid").name == "hybrid"
    monkeypatch.setenv("CCRAG_PIPELINES", "dense")
    with pytest.raises(ConfigError, match="unknown setting CCRAG_PIPELINES"):
        load_settings()


def test_the_control_pair_differs_in_nothing_but_its_name() -> None:
    default, caes = load_settings("default"), load_settings("caes-rag-rrf")
    hidden = {"name", "summary"}
    assert default.model_dump(exclude=hidden) == caes.model_dump(exclude=hidden)


def test_an_unknown_pipeline_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no pipeline 'nope'; there are .*single-query-bm25"):
        load_settings("nope")


def test_a_broken_pipeline_file_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[fusion\n")
    with pytest.raises(ConfigError, match=r"broken\.toml: not valid TOML"):
        load_settings(broken)
    with pytest.raises(ConfigError, match="no pipeline file"):
        load_settings(tmp_path / "missing.toml")


@pytest.mark.parametrize("name", pipeline_names())
def test_each_pipeline_says_who_writes_its_answers(name: str) -> None:
    assert read_pipeline(name)["answer"]["generator"] in ("extractive", "llm")
