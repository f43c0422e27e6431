"""Documents into passages and their vectors, many documents to one call of the encoder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ccrag.chunking.block_windows import block_passages
from ccrag.chunking.semantic import (
    VectorsOf,
    chunk_sentences,
    group_semantic,
    group_topic_shift,
)
from ccrag.chunking.windows import whole_passages, window_passages
from ccrag.concurrency import StillWanted
from ccrag.config import ChunkingSettings
from ccrag.engine.build import ChunkedDocument, PassageVectors
from ccrag.errors import ModelError
from ccrag.models.base import Encoded, Encoder
from ccrag.text.markup import searched_fields, text_of_passages
from ccrag.types import Passage

CHARS_PER_CALL = 400_000
"""Text handed to the encoder at once: enough to sort by length, little enough to keep going."""

TEXTS_PER_CHECK = 32
"""Texts encoded between two checks that the work is still wanted: some tenths of a second."""

T = TypeVar("T")


@dataclass(slots=True)
class EncodingCounts:
    """Texts that the encoder was called with while documents were chunked."""

    texts: int = 0
    cached: int = 0
    """Texts whose vectors were in the cache."""
    truncated: int = 0
    """Texts of which the model read only the beginning."""

    def add(self, encoded: Encoded) -> PassageVectors:
        """Count one call; returns its vectors."""
        self.texts += len(encoded.vectors)
        self.cached += encoded.cached
        self.truncated += encoded.truncated
        return encoded.vectors


def chunked_documents(
    documents: Iterable[ChunkedDocument],
    settings: ChunkingSettings,
    encoder: Encoder | None,
    *,
    with_vectors: bool,
    counts: EncodingCounts | None = None,
    still_wanted: StillWanted | None = None,
) -> Iterator[ChunkedDocument]:
    """
    Chunk `documents` as `settings` say, in order, and encode their passages if asked to.

    Args:
        documents: without passages, with all else that goes into the index.
        counts: updated with the calls of the encoder.
        still_wanted: called between small batches of the encoder, which others can use meanwhile;
            None: large batches, which are quicker.

    Raises:
        ModelError: the method or the vectors need an encoder and there is none.
    """
    counts = counts or EncodingCounts()
    if settings.method in ("semantic", "topic-shift"):
        vectors_of = _vectors_of(encoder, f"{settings.method} chunking", counts, still_wanted)
        chunked = _chunk_by_meaning(documents, settings, vectors_of)
    else:
        chunked = (_chunk_by_form(item, settings) for item in documents)
    if not with_vectors:
        return chunked
    text_of = text_of_passages(is_plain=settings.plain)
    vectors_of = _vectors_of(encoder, "a vector index", counts, still_wanted)
    return _with_vectors(chunked, text_of, vectors_of)


def _vectors_of(
    encoder: Encoder | None, what: str, counts: EncodingCounts, still_wanted: StillWanted | None
) -> VectorsOf:
    if encoder is None:
        raise ModelError(f"{what} needs an encoder; see the setting encoder.model")
    if still_wanted is None:
        return lambda texts: counts.add(encoder.encode_passages(texts))

    def encode(texts: Sequence[str]) -> PassageVectors:
        # An empty call first: no texts give `(0, dim)`, and `concatenate` needs one array.
        done = [counts.add(encoder.encode_passages(()))]
        for first in range(0, len(texts), TEXTS_PER_CHECK):
            still_wanted()
            done.append(counts.add(encoder.encode_passages(texts[first : first + TEXTS_PER_CHECK])))
        return np.concatenate(done)

    return encode


def _chunk_by_form(item: ChunkedDocument, settings: ChunkingSettings) -> ChunkedDocument:
    """Return the document with passages that need no vectors: whole, windows or blocks."""
    document, edges = item.document, item.edges
    if settings.method == "none":
        return item._replace(passages=whole_passages(document, edges=edges))
    if settings.method == "window":
        passages = window_passages(
            document,
            max_words=settings.max_words,
            overlap_sentences=settings.overlap_sentences,
            edges=edges,
        )
        return item._replace(passages=passages)
    passages = block_passages(
        document,
        max_chars=settings.max_chars,
        overlap_chars=settings.overlap_chars,
        max_table_chars=settings.max_table_chars,
        edges=edges,
    )
    return item._replace(passages=passages, searched=searched_fields(passages))


def _chunk_by_meaning(
    documents: Iterable[ChunkedDocument], settings: ChunkingSettings, vectors_of: VectorsOf
) -> Iterator[ChunkedDocument]:
    """Yield the documents with passages that end where the vectors of sentences change."""
    sentences = (
        (item, chunk_sentences(item.document, max_words=settings.max_words)) for item in documents
    )
    for batch in _batches(sentences, size=lambda pair: len(pair[0].document.text)):
        vectors = vectors_of([text for _, chunks in batch for text in chunks.texts])
        first = 0
        for item, chunks in batch:
            last = first + len(chunks.texts)
            own, edges = vectors[first:last], item.edges
            if settings.method == "semantic":
                threshold = settings.semantic_threshold
                passages = group_semantic(chunks, own, threshold=threshold, edges=edges)
            else:
                threshold = settings.topic_shift_threshold
                passages = group_topic_shift(chunks, own, threshold=threshold, edges=edges)
            yield item._replace(passages=passages)
            first = last


def _with_vectors(
    chunked: Iterable[ChunkedDocument], text_of: Callable[[Passage], str], vectors_of: VectorsOf
) -> Iterator[ChunkedDocument]:
    for batch in _batches(chunked, size=lambda item: len(item.document.text)):
        texts = [text_of(passage) for item in batch for passage in item.passages]
        vectors = vectors_of(texts)
        first = 0
        for item in batch:
            last = first + len(item.passages)
            yield item._replace(vectors=vectors[first:last])
            first = last


def _batches(items: Iterable[T], *, size: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield consecutive items of about `CHARS_PER_CALL` together."""
    batch: list[T] = []
    held = 0
    for item in items:
        batch.append(item)
        held += size(item)
        if held >= CHARS_PER_CALL:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
