"""Documents into passages and their vectors, many documents to one call of the encoder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ccrag.chunking.block_windows import block_passages
from ccrag.chunking.semantic import (
    DocumentChunks,
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
from ccrag.types import Document, Passage

CHARS_PER_CALL = 400_000
"""Text handed to the encoder at once: enough to sort by length, little enough to keep going."""

TEXTS_PER_CHECK = 32
"""Texts encoded between two checks that the work is still wanted: some tenths of a second."""

T = TypeVar("T")


@dataclass(slots=True)
class EncodingCounts:
    """What the encoder was asked while documents were cut."""

    texts: int = 0
    cached: int = 0
    """Texts whose vectors were known before."""
    truncated: int = 0
    """Texts of which the model read only the beginning."""

    def add(self, encoded: Encoded) -> PassageVectors:
        """Count one call; returns its vectors."""
        self.texts += len(encoded.vectors)
        self.cached += encoded.cached
        self.truncated += encoded.truncated
        return encoded.vectors


Counted = tuple[Document, int]
"""A document and the citation edges that touch it."""


def chunked_documents(
    documents: Iterable[Counted],
    settings: ChunkingSettings,
    encoder: Encoder | None,
    *,
    with_vectors: bool,
    counts: EncodingCounts | None = None,
    still_wanted: StillWanted | None = None,
) -> Iterator[ChunkedDocument]:
    """
    Cut `documents` as `settings` say, in order, and encode their passages if asked to.

    Args:
        counts: filled with what the encoder was asked.
        still_wanted: called between small batches of the encoder, which others can use meanwhile;
            None: large batches, which are quicker.

    Raises:
        ModelError: the method or the vectors need an encoder and there is none.
    """
    counts = counts or EncodingCounts()
    cut: Iterator[ChunkedDocument]
    if settings.method == "none":
        cut = (ChunkedDocument(d, edges, whole_passages(d, edges=edges)) for d, edges in documents)
    elif settings.method == "window":
        cut = (ChunkedDocument(d, edges, _windows(d, edges, settings)) for d, edges in documents)
    elif settings.method == "blocks":
        cut = (_by_blocks(d, edges, settings) for d, edges in documents)
    else:
        vectors_of = _vectors_of(encoder, f"{settings.method} chunking", counts, still_wanted)
        cut = _by_meaning(documents, settings, vectors_of)
    if not with_vectors:
        return cut
    text_of = text_of_passages(is_plain=settings.plain)
    return _with_vectors(cut, text_of, _vectors_of(encoder, "a vector index", counts, still_wanted))


def _vectors_of(
    encoder: Encoder | None, what: str, counts: EncodingCounts, still_wanted: StillWanted | None
) -> VectorsOf:
    if encoder is None:
        raise ModelError(f"{what} needs an encoder; see the setting encoder.model")
    if still_wanted is None:
        return lambda texts: counts.add(encoder.encode_passages(texts))

    def encode(texts: Sequence[str]) -> PassageVectors:
        done = [counts.add(encoder.encode_passages(()))]
        for first in range(0, len(texts), TEXTS_PER_CHECK):
            still_wanted()
            done.append(counts.add(encoder.encode_passages(texts[first : first + TEXTS_PER_CHECK])))
        return np.concatenate(done)

    return encode


def _windows(document: Document, edges: int, settings: ChunkingSettings) -> list[Passage]:
    return window_passages(
        document,
        max_words=settings.max_words,
        overlap_sentences=settings.overlap_sentences,
        edges=edges,
    )


def _by_blocks(document: Document, edges: int, settings: ChunkingSettings) -> ChunkedDocument:
    passages = block_passages(
        document,
        max_chars=settings.max_chars,
        overlap_chars=settings.overlap_chars,
        max_table_chars=settings.max_table_chars,
        edges=edges,
    )
    return ChunkedDocument(document, edges, passages, searched=searched_fields(passages))


def _by_meaning(
    documents: Iterable[Counted], settings: ChunkingSettings, vectors_of: VectorsOf
) -> Iterator[ChunkedDocument]:
    """Cut where the meaning changes, by vectors of the sentences."""
    cut = ((chunk_sentences(d, max_words=settings.max_words), edges) for d, edges in documents)
    for batch in _batches(cut, size=lambda item: len(item[0].document.text)):
        vectors = vectors_of([text for item, _ in batch for text in item.texts])
        first = 0
        for item, edges in batch:
            last = first + len(item.texts)
            passages = _group(item, vectors[first:last], edges, settings)
            yield ChunkedDocument(item.document, edges, passages)
            first = last


def _group(
    cut: DocumentChunks, vectors: PassageVectors, edges: int, settings: ChunkingSettings
) -> list[Passage]:
    if settings.method == "semantic":
        return group_semantic(cut, vectors, threshold=settings.semantic_threshold, edges=edges)
    return group_topic_shift(cut, vectors, threshold=settings.topic_shift_threshold, edges=edges)


def _with_vectors(
    cut: Iterable[ChunkedDocument], text_of: Callable[[Passage], str], vectors_of: VectorsOf
) -> Iterator[ChunkedDocument]:
    for batch in _batches(cut, size=lambda item: len(item.document.text)):
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
