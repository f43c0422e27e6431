"""
Vectors of single tokens, by the encoder that also makes those of texts.

They are many (a passage has some two hundred), so they are cached in memory and not on disk; torch
is imported when the first text is encoded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from ccrag.concurrency import in_order
from ccrag.errors import ModelError
from ccrag.models.base import TokenVectors
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


def token_encoder_of(encoder: CachedEncoder) -> TransformerTokens:
    """
    Return token vectors of the model that `encoder` uses; it is loaded once for both.

    Raises:
        ModelError: it is of a kind that has none.
    """
    if isinstance(encoder.model, TransformerModel):
        return TransformerTokens(encoder.model)
    raise ModelError(
        f"the encoder {encoder.model_id!r} gives no vectors of single tokens; set "
        "rerank.signal_tokens=0 and rerank.signal_sentence_tokens=0, or use another encoder"
    )


class TransformerTokens:
    """
    The last layer of a transformer, token by token.

    Each text passes the model alone, so that its vectors do not depend in their last bits on which
    texts were asked for with it.
    """

    def __init__(self, model: TransformerModel) -> None:
        self._model = model
        self._cached: OrderedDict[str, TokenVectors] = OrderedDict()
        self._cached_tokens = 0
        self._lock = Lock()

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text's token vectors; texts seen lately are not encoded again."""
        with self._lock:
            found = {text: self._cached[text] for text in texts if text in self._cached}
            unknown = [text for text in dict.fromkeys(texts) if text not in found]
            found |= zip(unknown, self._encoded(unknown), strict=True)
            for text, tokens in found.items():
                self._remember(text, tokens)
        return [found[text] for text in texts]

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
                return_tensors="pt",
            )

    def _remember(self, text: str, tokens: TokenVectors) -> None:
        """Cache the vectors of a text, and drop those that were used longest ago."""
        if text not in self._cached:
            self._cached_tokens += len(tokens.ids)
        self._cached[text] = tokens
        self._cached.move_to_end(text)
        while self._cached_tokens > CACHED_TOKENS and len(self._cached) > 1:
            _, oldest = self._cached.popitem(last=False)
            self._cached_tokens -= len(oldest.ids)


def _forward(model: SentenceTransformer, features: ModelInput) -> TokenVectors:
    import torch
    from torch.nn import functional

    inputs = {name: value.to(model.device) for name, value in features.items()}
    own = ~inputs.pop("special_tokens_mask")[0].bool()
    with torch.inference_mode():
        hidden = model[0].auto_model(**inputs).last_hidden_state[0]
        unit = functional.normalize(hidden[own].float(), dim=-1)
    return TokenVectors(inputs["input_ids"][0][own].cpu().numpy(), unit.cpu().numpy())
