"""
Vectors of single tokens, by the encoder that also makes those of texts.

They are many (a passage has some two hundred), so those of a query's shortlist are cached in memory
alone. Those of passages that are read are cached on disk too, in half precision: 150 kB a passage
at 384 dimensions. torch is imported when the first text is encoded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ccrag.concurrency import in_order
from ccrag.errors import ModelError
from ccrag.models.base import TokenVectors
from ccrag.models.cache import CachedVector, VectorCache, key_of
from ccrag.models.cached import CachedEncoder
from ccrag.models.threads import one_thread_per_operation
from ccrag.models.transformer import ModelInput, TransformerModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

CACHED_TOKENS = 100_000
"""The most tokens that are cached for later queries: 150 MB at 384 dimensions."""


class TokenEncoder(Protocol):
    """Gives the tokens of texts with a vector each; safe to call from several threads."""

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text's token vectors; a text that is too long is truncated."""
        ...

    def passage_tokens(self, passages: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of passages in half precision; they may be cached on disk."""
        ...


def token_encoder_of(encoder: CachedEncoder) -> TransformerTokens:
    """
    Return token vectors of the model that `encoder` uses; it is loaded once for both.

    Raises:
        ModelError: it is of a kind that has none.
    """
    if isinstance(encoder.model, TransformerModel):
        cache = None
        if encoder.cache is not None:
            identity = {**encoder.model.identity(), "tokens": "float16"}
            cache = VectorCache.of(encoder.cache.path.parent, encoder.model_id, identity)
        return TransformerTokens(encoder.model, cache)
    raise ModelError(
        f"the encoder {encoder.model_id!r} gives no vectors of single tokens; set "
        "rerank.signal_tokens=0 and rerank.signal_sentence_tokens=0, or use another encoder"
    )


class _Recent(OrderedDict[str, TokenVectors]):
    """The token vectors of the texts that were used last, up to `CACHED_TOKENS` tokens."""

    tokens = 0

    def put(self, text: str, vectors: TokenVectors) -> None:
        """Add or renew a text, and drop those that were used longest ago."""
        if text not in self:
            self.tokens += len(vectors.ids)
        self[text] = vectors
        self.move_to_end(text)
        while self.tokens > CACHED_TOKENS and len(self) > 1:
            _, oldest = self.popitem(last=False)
            self.tokens -= len(oldest.ids)


class TransformerTokens:
    """
    The last layer of a transformer, token by token.

    Each text passes the model alone, so that its vectors do not depend in their last bits on which
    texts were asked for with it.
    """

    def __init__(self, model: TransformerModel, cache: VectorCache | None = None) -> None:
        self._model = model
        self._cache = cache
        self._texts, self._passages = _Recent(), _Recent()
        self._lock = Lock()

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text's token vectors; texts seen lately are not encoded again."""
        with self._lock:
            found = {text: self._texts[text] for text in texts if text in self._texts}
            unknown = [text for text in dict.fromkeys(texts) if text not in found]
            found |= zip(unknown, self._encoded(unknown), strict=True)
            for text, tokens in found.items():
                self._texts.put(text, tokens)
        return [found[text] for text in texts]

    def passage_tokens(self, passages: Sequence[str]) -> list[TokenVectors]:
        """
        Return the token vectors of passages, from memory, from disk or made now.

        All are rounded to half precision, so that it does not matter where they come from.

        Raises:
            ModelError: the cache on disk cannot be used.
        """
        keys = {text: key_of("", text) for text in dict.fromkeys(passages)}
        with self._lock:
            found = {text: self._passages[text] for text in keys if text in self._passages}
            missing = [text for text in keys if text not in found]
            stored = self._cache.fetch([keys[t] for t in missing]) if self._cache else {}
            found |= {t: _unpacked(stored[keys[t]].vector) for t in missing if keys[t] in stored}
            new = [text for text in missing if text not in found]
            packed = {t: _packed(v) for t, v in zip(new, self._encoded(new), strict=True)}
            found |= {text: _unpacked(data) for text, data in packed.items()}
            if self._cache is not None and packed:
                self._cache.add({keys[t]: CachedVector(d, False) for t, d in packed.items()})
            for text, tokens in found.items():
                self._passages.put(text, tokens)
        return [found[text] for text in passages]

    def _encoded(self, texts: Sequence[str]) -> Iterator[TokenVectors]:
        """Yield the vectors of each text, in order; each core encodes a text of its own."""
        if texts:
            run = partial(_forward, self._model.loaded())
            with one_thread_per_operation() as workers:
                yield from in_order(run, self._tokenised(texts), workers=workers)

    def _tokenised(self, texts: Sequence[str]) -> Iterator[ModelInput]:
        for text in texts:  # here and not in the workers: a tokenizer is for one thread
            yield self._model.loaded().tokenizer(
                [text],
                truncation=True,
                max_length=self._model.max_tokens,
                return_special_tokens_mask=True,
                return_offsets_mapping=True,
                return_tensors="pt",
            )


def _forward(model: SentenceTransformer, features: ModelInput) -> TokenVectors:
    import torch
    from torch.nn import functional

    offsets = features.pop("offset_mapping")[0]
    inputs = {name: value.to(model.device) for name, value in features.items()}
    own = ~inputs.pop("special_tokens_mask")[0].bool()
    with torch.inference_mode():
        hidden = model[0].auto_model(**inputs).last_hidden_state[0]
        unit = functional.normalize(hidden[own].float(), dim=-1)
    return TokenVectors(
        inputs["input_ids"][0][own].cpu().numpy(),
        unit.cpu().numpy(),
        offsets[own.cpu()].numpy(),
    )


def _packed(tokens: TokenVectors) -> bytes:
    """Return token vectors as bytes: their shape, ids, offsets, and vectors in half precision."""
    head = np.array(tokens.vectors.shape, dtype="<i4")
    parts = (head, tokens.ids.astype("<i4"), tokens.offsets.astype("<i4"))
    return b"".join(part.tobytes() for part in parts) + tokens.vectors.astype("<f2").tobytes()


def _unpacked(data: bytes) -> TokenVectors:
    """Return the token vectors of `_packed`, as float32 again."""
    count, dim = np.frombuffer(data, dtype="<i4", count=2).tolist()
    numbers = np.frombuffer(data, dtype="<i4", count=3 * count, offset=8).astype(np.int64)
    vectors = np.frombuffer(data, dtype="<f2", offset=8 + 12 * count).astype(np.float32)
    return TokenVectors(
        numbers[:count], vectors.reshape(count, dim), numbers[count:].reshape(count, 2)
    )
