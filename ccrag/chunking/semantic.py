"""
Chunking where the meaning changes: semantic and topic-shift passages. Pure.

Sentence vectors come from the caller; no model is loaded or chosen here. In two steps, so that the
sentences of many documents can be encoded in one call: `chunk_sentences`, then one of the two
`group_…` functions with the vectors of its `texts`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ccrag.chunking.chunks import SentenceChunker, passages_of, sentences_by_section
from ccrag.errors import InvariantError, ModelError
from ccrag.types import Document, Passage, SectionPath, Span

SEMANTIC_VERSION = 1
"""Part of an index's fingerprint: raise it when the same text and vectors give other passages."""

Vectors = npt.NDArray[np.float32]
"""`(n_sentences, dim)`, a row per text in the same order; rows need not be of unit length."""
VectorsOf = Callable[[Sequence[str]], Vectors]


class _Joins(Protocol):
    """A rule for which neighbouring sentences share a passage."""

    def __call__(self, vectors: npt.NDArray[np.float64], start: int, at: int) -> bool:
        """Tell whether sentence `at` of a section joins those from `start` to just before it."""
        ...


@dataclass(frozen=True, slots=True)
class SectionChunks:
    """One section's sentences, those above the cap split, and the weight of each in words."""

    path: SectionPath
    sentences: tuple[Span, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DocumentChunks:
    """A document's sentences, ready to be encoded and then grouped."""

    document: Document
    sections: tuple[SectionChunks, ...]
    max_words: int

    @property
    def texts(self) -> list[str]:
        """Return the texts to encode, in order, without white space at their ends."""
        text = self.document.text
        spans = (span for section in self.sections for span in section.sentences)
        return [text[start:end].strip() for start, end in spans]


def chunk_sentences(document: Document, *, max_words: int) -> DocumentChunks:
    """Return the sentences of `document` by section; none if its text is white space."""
    chunker = SentenceChunker(document.text, max_words=max_words)
    sections = []
    for path, sentences in sentences_by_section(document.text):
        spans, weights = zip(*chunker.chunks(sentences), strict=True)
        sections.append(SectionChunks(path, spans, weights))
    return DocumentChunks(document, tuple(sections), max_words)


def group_semantic(
    chunks: DocumentChunks, vectors: Vectors, *, threshold: float, edges: int = 0
) -> list[Passage]:
    """
    Return passages that each sentence joins while it is close to what they already hold.

    A sentence joins while cosine(its vector, mean of the passage's sentence vectors) >= threshold,
    and the passage stays within the cap of `chunks`. A vector of zeros has cosine 0 with any other.

    Args:
        vectors: those of `chunks.texts`.
        edges: citation edges that touch the document, copied to each passage.

    Raises:
        InvariantError: not one vector per text.
        ModelError: a vector is not finite.
    """

    def joins(vectors: npt.NDArray[np.float64], start: int, at: int) -> bool:
        return _cosine(vectors[at], vectors[start:at].mean(axis=0)) >= threshold

    return _group(chunks, vectors, joins, edges=edges)


def group_topic_shift(
    chunks: DocumentChunks, vectors: Vectors, *, threshold: float, edges: int = 0
) -> list[Passage]:
    """
    Return passages that end where neighbouring sentences differ.

    A passage ends where 1 - cosine(neighbouring sentence vectors) > threshold, or where the next
    sentence would exceed the cap of `chunks`. Arguments and errors as for `group_semantic`.
    """

    def joins(vectors: npt.NDArray[np.float64], start: int, at: int) -> bool:
        return 1 - _cosine(vectors[at - 1], vectors[at]) <= threshold

    return _group(chunks, vectors, joins, edges=edges)


def _group(chunks: DocumentChunks, vectors: Vectors, joins: _Joins, *, edges: int) -> list[Passage]:
    doc_id = chunks.document.doc_id
    count = sum(len(section.sentences) for section in chunks.sections)
    if len(vectors) != count:
        raise InvariantError(f"document {doc_id!r}: {len(vectors)} vectors for {count} sentences")
    if not np.isfinite(vectors).all():
        raise ModelError(
            f"document {doc_id!r}: the encoder gave a vector that is not finite; use another model"
        )
    return passages_of(chunks.document, _runs(chunks, vectors, joins), edges=edges)


def _runs(
    chunks: DocumentChunks, vectors: Vectors, joins: _Joins
) -> Iterator[tuple[SectionPath, Sequence[Span]]]:
    first = 0
    for section in chunks.sections:
        last = first + len(section.sentences)
        # In float64, so that rounding does not decide a comparison with the threshold.
        in_section = partial(joins, vectors[first:last].astype(np.float64))
        for start, end in _ranges(section.weights, in_section, max_words=chunks.max_words):
            yield section.path, section.sentences[start:end]
        first = last


def _ranges(
    weights: Sequence[int], joins: Callable[[int, int], bool], *, max_words: int
) -> Iterator[tuple[int, int]]:
    """
    Yield half-open ranges that tile `weights`, each grown while the next fits the cap and joins.
    """
    start, total = 0, weights[0]
    for at in range(1, len(weights)):
        if total + weights[at] > max_words or not joins(start, at):
            yield start, at
            start, total = at, 0
        total += weights[at]
    yield start, len(weights)


def _cosine(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / norm if norm else 0.0
