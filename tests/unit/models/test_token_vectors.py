"""Vectors of single tokens, by a small transformer made here."""

import numpy as np
import pytest

from ccrag.config import EncoderSettings
from ccrag.errors import ModelError
from ccrag.models import token_vectors
from ccrag.models.cached import CachedEncoder
from ccrag.models.encoder import load_encoder
from ccrag.models.token_vectors import token_encoder_of
from tests.fakes import LengthModel
from tests.tiny_models import DIMENSION, make_tiny_encoder

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> CachedEncoder:
    folder = make_tiny_encoder(tmp_path_factory.mktemp("tiny"), max_tokens=6)
    return load_encoder(EncoderSettings(model=str(folder), cache=False))


def test_a_unit_vector_for_each_of_the_texts_own_tokens(encoder: CachedEncoder) -> None:
    one, none = token_encoder_of(encoder).token_vectors(["wing lift drag", ""])
    assert (one.ids.shape, one.vectors.shape) == ((3,), (3, DIMENSION))
    assert np.linalg.norm(one.vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert (none.ids.shape, none.vectors.shape) == ((0,), (0, DIMENSION))


def test_what_a_text_gets_depends_on_nothing_else(encoder: CachedEncoder) -> None:
    alone = token_encoder_of(encoder).token_vectors(["wing lift"])[0]
    among = token_encoder_of(encoder).token_vectors(["a flow of heat", "wing lift", "plate"])[1]
    assert np.array_equal(alone.vectors, among.vectors)


def test_a_token_is_read_in_its_surroundings(encoder: CachedEncoder) -> None:
    here, there = token_encoder_of(encoder).token_vectors(["wing lift", "plate lift"])
    assert here.ids[1] == there.ids[1]
    assert not np.allclose(here.vectors[1], there.vectors[1])


def test_of_a_long_text_the_beginning_is_read(encoder: CachedEncoder) -> None:
    long, short = token_encoder_of(encoder).token_vectors(["a of the wing lift", "a of the wing"])
    assert np.array_equal(long.ids, short.ids)


def test_recent_texts_are_cached_up_to_the_limit(
    encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_vectors, "CACHED_TOKENS", 4)
    tokens = token_encoder_of(encoder)
    first = tokens.token_vectors(["wing lift"])[0]
    assert tokens.token_vectors(["wing lift", "plate"])[0] is first
    tokens.token_vectors(["heat transfer"])
    again = tokens.token_vectors(["wing lift"])[0]
    assert again is not first
    assert np.array_equal(again.vectors, first.vectors)


def test_an_encoder_without_tokens_is_refused() -> None:
    settings = EncoderSettings()
    with pytest.raises(ModelError, match="'length' gives no vectors of single tokens; set"):
        token_encoder_of(CachedEncoder(LengthModel(), settings, cache=None))
