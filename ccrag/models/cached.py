"""An encoder over a model: prefixes, identical texts once, cached vectors, counts and progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from ccrag.config import EncoderSettings
from ccrag.errors import InvariantError, ModelError
from ccrag.models.base import Encoded, Matrix, OnProgress, no_op
from ccrag.models.cache import CachedVector, VectorCache, key_of

TEXTS_PER_CALL = 1024
"""Texts handed to the model at once: enough to sort by length; what an interruption can lose."""


class ModelOutput(NamedTuple):
    """The vectors of distinct texts."""

    vectors: Matrix
    """`(n_texts, dim)` float32, unit rows."""
    truncated: Sequence[bool]
    """One per text: True if the model read only its beginning."""


class TextModel(Protocol):
    """A model that encodes distinct texts; need not be safe for several threads."""

    @property
    def model_id(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def options(self) -> Mapping[str, str]: ...

    def encode(self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress) -> ModelOutput:
        """Encode each of `texts` behind `prefix`."""
        ...

    def details(self) -> dict[str, str]:
        """Return further facts about the model for a person, by name; may load it."""
        ...


@dataclass(slots=True)
class Counts:
    """Texts that an encoder was called with so far; each distinct text of a call counts once."""

    encoded: int = 0
    cached: int = 0
    truncated: int = 0

    @property
    def total(self) -> int:
        """Return all texts."""
        return self.encoded + self.cached

    @property
    def cached_share(self) -> float:
        """Return the share of texts served from the cache, 0 to 1; of no texts: 0."""
        return self.cached / max(1, self.total)


class CachedEncoder:
    """
    The encoder that commands use.

    A text that occurs twice, or was ever encoded with the same model and options, is not encoded
    again and has the same bytes as a vector. Without a cache that holds within one call only.
    """

    def __init__(
        self,
        model: TextModel,
        settings: EncoderSettings,
        *,
        cache: VectorCache | None,
        on_progress: OnProgress = no_op,
    ) -> None:
        self.model = model
        self.model_id = model.model_id
        self.revision = model.revision
        self.dimension = model.dimension
        self.cache = cache
        self.counts = Counts()
        self.options = {**model.options, "passage_prefix": settings.passage_prefix}
        self._query_prefix = settings.query_prefix
        self._passage_prefix = settings.passage_prefix
        self._on_progress = on_progress
        self._lock = Lock()

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of passages or sentences; no texts give `(0, dim)`."""
        return self._encode(texts, self._passage_prefix)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of queries; no texts give `(0, dim)`."""
        return self._encode(texts, self._query_prefix)

    def _encode(self, texts: Sequence[str], prefix: str) -> Encoded:
        if not texts:
            return Encoded(np.empty((0, self.dimension), dtype=np.float32))
        keys = [key_of(prefix, text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        before = {} if self.cache is None else self.cache.fetch(list(by_key))
        with self._lock:
            unknown = {key: text for key, text in by_key.items() if key not in before}
            known = before | self._encode_unknown(unknown, prefix)
            self.counts.cached += len(before)
            self.counts.encoded += len(known) - len(before)
            self.counts.truncated += sum(vector.truncated for vector in known.values())
            self._on_progress(self.counts.total)
        row_of = {key: row for row, key in enumerate(known)}
        rows = np.frombuffer(b"".join(cached.vector for cached in known.values()), dtype="<f4")
        return Encoded(
            rows.reshape(len(known), self.dimension)[[row_of[key] for key in keys]],
            truncated=sum(known[key].truncated for key in keys),
            cached=sum(key in before for key in keys),
        )

    def _encode_unknown(self, texts: Mapping[bytes, str], prefix: str) -> dict[bytes, CachedVector]:
        """Encode and cache texts, those of similar length together."""
        known: dict[bytes, CachedVector] = {}
        ordered = sorted(texts, key=lambda key: (-len(texts[key]), texts[key]))
        # Each slice is cached before the next is encoded: an interruption loses one slice only.
        for first in range(0, len(ordered), TEXTS_PER_CALL):
            keys = ordered[first : first + TEXTS_PER_CALL]
            done = self.counts.total + first
            # Tokenizers refuse lone surrogates: they become "?".
            well_formed = [texts[key].encode("utf-8", "replace").decode("utf-8") for key in keys]
            output = self.model.encode(
                well_formed,
                prefix=prefix,
                on_progress=partial(self._report, done),
            )
            known |= self._store(keys, output)
        return known

    def _store(self, keys: Sequence[bytes], output: ModelOutput) -> dict[bytes, CachedVector]:
        """
        Return the cached vectors of `keys` after adding `output`: another process may have been
        first, and its vectors stay.
        """
        vectors = np.ascontiguousarray(output.vectors, dtype="<f4")
        if vectors.shape != (len(keys), self.dimension):
            raise InvariantError(
                f"{self.model_id!r} gave vectors of shape {vectors.shape} for {len(keys)} texts; "
                f"expected {self.dimension} columns"
            )
        if not np.isfinite(vectors).all():
            raise ModelError(f"{self.model_id!r} gave a vector that holds no number")
        fresh = {
            key: CachedVector(row.tobytes(), bool(cut))
            for key, row, cut in zip(keys, vectors, output.truncated, strict=True)
        }
        if self.cache is None:
            return fresh
        self.cache.add(fresh)
        return self.cache.fetch(keys)

    def _report(self, before: int, done: int) -> None:
        self._on_progress(before + done)
