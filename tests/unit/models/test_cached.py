"""The encoder over a model: order, prefixes, identical texts once, cached vectors, counts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ccrag.config import EncoderSettings
from ccrag.errors import InvariantError, ModelError
from ccrag.models.base import Matrix, OnProgress, encoder_identity
from ccrag.models.cache import VectorCache
from ccrag.models.cached import TEXTS_PER_CALL, CachedEncoder, ModelOutput
from tests.fakes import LengthModel


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors.sqlite")


def encoder(
    model: LengthModel, cache: VectorCache | None = None, *, passage: str = "", query: str = ""
) -> CachedEncoder:
    settings = EncoderSettings(passage_prefix=passage, query_prefix=query)
    return CachedEncoder(model, settings, cache=cache)


@pytest.mark.parametrize("cached", [True, False])
def test_vectors_come_in_the_order_of_the_texts(cache: VectorCache, cached: bool) -> None:
    model = LengthModel()
    texts = ["ccc", "a", "ccc", "", "bb"]
    found = encoder(model, cache if cached else None).encode_passages(texts)
    np.testing.assert_array_equal(found.vectors, model.rows(texts))
    assert found.vectors.dtype == np.float32
    assert model.read == ["ccc", "bb", "a", ""]  # each once, longest first


def test_no_texts_give_no_rows_and_no_call(cache: VectorCache) -> None:
    model = LengthModel()
    assert encoder(model, cache).encode_queries([]).vectors.shape == (0, 2)
    assert model.read == []


def test_a_text_is_encoded_once_for_ever_and_keeps_its_bytes(cache: VectorCache) -> None:
    first = encoder(LengthModel(), cache).encode_passages(["a", "bb"])
    again = LengthModel(drift=1e-7)  # as in another batch
    second = encoder(again, cache).encode_passages(["bb", "new", "a"])
    assert again.read == ["new"]
    assert second.vectors[[2, 0]].tobytes() == first.vectors.tobytes()
    assert (first.cached, second.cached) == (0, 2)


def test_another_process_that_wrote_meanwhile_was_first(cache: VectorCache) -> None:
    class Slow(LengthModel):
        def encode(
            self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress
        ) -> ModelOutput:
            encoder(LengthModel(), cache).encode_passages(texts)
            return super().encode(texts, prefix=prefix, on_progress=on_progress)

    found = encoder(Slow(drift=0.5), cache).encode_passages(["a"])
    np.testing.assert_array_equal(found.vectors, LengthModel().rows(["a"]))


def test_prefixes_are_put_before_and_cached_separately(cache: VectorCache) -> None:
    model = LengthModel()
    both = encoder(model, cache, passage="passage: ", query="query: ")
    passages, queries = both.encode_passages(["a"]).vectors, both.encode_queries(["a"]).vectors
    assert model.read == ["passage: a", "query: a"]
    np.testing.assert_array_equal(passages, model.rows(["passage: a"]))
    np.testing.assert_array_equal(queries, model.rows(["query: a"]))


def test_identity_holds_what_makes_a_passage_another_vector() -> None:
    stated = encoder_identity(encoder(LengthModel(), passage="p: ", query="q: "))
    assert stated == {
        "model": "length",
        "revision": "1",
        "dimension": "2",
        "normalised": "yes",
        "precision": "fp32",
        "passage_prefix": "p: ",
    }


def test_truncated_texts_are_counted_also_when_cached(cache: VectorCache) -> None:
    counting = encoder(LengthModel(), cache)
    texts = ["long text", "abc", "long text"]
    assert counting.encode_passages(texts).truncated == 2
    assert counting.encode_passages(["long text"]).truncated == 1
    counts = counting.counts
    assert (counts.encoded, counts.cached, counts.truncated) == (2, 1, 2)
    assert counts.cached_share == 1 / 3


def test_progress_counts_all_texts_so_far(cache: VectorCache) -> None:
    heard: list[int] = []
    reporting = CachedEncoder(
        LengthModel(), EncoderSettings(), cache=cache, on_progress=heard.append
    )
    reporting.encode_passages(["a", "b"])
    reporting.encode_passages(["a", "c"])
    assert heard == [2, 2, 3, 4]


def test_an_interruption_loses_one_slice_at_most(cache: VectorCache) -> None:
    texts = ["x" * length for length in range(TEXTS_PER_CALL + 5)]
    with pytest.raises(KeyboardInterrupt):
        encoder(LengthModel(fails_after=1), cache).encode_passages(texts)
    resumed = LengthModel()
    assert encoder(resumed, cache).encode_passages(texts).cached == TEXTS_PER_CALL
    assert len(resumed.read) == 5


def test_a_lone_surrogate_reaches_the_model_as_a_question_mark() -> None:
    model = LengthModel()
    encoder(model).encode_passages(["a\ud800b"])
    assert model.read == ["a?b"]


def test_vectors_of_another_shape_are_a_bug() -> None:
    class Short(LengthModel):
        def rows(self, texts: Sequence[str], prefix: str = "") -> Matrix:
            return super().rows(texts, prefix)[:, :1]

    with pytest.raises(InvariantError, match=r"shape \(1, 1\) for 1 texts; expected 2 columns"):
        encoder(Short()).encode_passages(["a"])


def test_a_vector_that_is_no_number_is_not_cached(cache: VectorCache) -> None:
    with pytest.raises(ModelError, match="'length' gave a vector that holds no number"):
        encoder(LengthModel(drift=float("nan")), cache).encode_passages(["a"])
    assert len(cache) == 0
