"""
Window chunking: passages of whole sentences under a cap of words. Pure: no I/O, no settings.

The cap always holds. A longer sentence is split, at clause punctuation if possible; its chunks are
then sentences of their own. Documents that are passages already are left whole.
"""

from collections.abc import Iterator, Sequence

from ccrag.chunking.chunks import SentenceChunker, passages_of, sentences_by_section
from ccrag.types import Document, Passage, Span

CHUNKER_VERSION = 2
"""Part of an index's fingerprint: raise it when the same text would give other passages."""


def _windows(
    sentences: Sequence[Span], chunker: SentenceChunker, *, max_words: int, overlap: int
) -> Iterator[Sequence[Span]]:
    """Yield the windows over one section's sentences; those above the cap are split first."""
    if chunker.holds(sentences):
        yield sentences
        return
    chunks, weights = zip(*chunker.chunks(sentences), strict=True)
    for first, last in _ranges(weights, max_words=max_words, overlap=overlap):
        yield chunks[first:last]


def _ranges(weights: Sequence[int], *, max_words: int, overlap: int) -> Iterator[tuple[int, int]]:
    """
    Yield half-open index ranges of consecutive weights, each within the cap and each with a new
    last.

    A range repeats up to `overlap` of the weights before it, fewer where the next would not fit.
    """
    start = end = total = 0
    while end < len(weights):
        while end < len(weights) and (end == start or total + weights[end] <= max_words):
            total += weights[end]
            end += 1
        yield start, end
        if end == len(weights):
            return
        start = max(end - overlap, start + 1)
        total = sum(weights[start:end])
        while start < end and total + weights[end] > max_words:
            total -= weights[start]
            start += 1


def window_passages(
    document: Document, *, max_words: int, overlap_sentences: int, edges: int = 0
) -> list[Passage]:
    """
    Return consecutive sentences of `document` up to `max_words`, never across a section.

    Each window starts `overlap_sentences` before the end of the one before it, fewer where the
    next sentence would not fit. Every character that is not white space is in some passage;
    a text of white space has none.

    Args:
        max_words: cap of a passage, by `passage_words`.
        edges: citation edges that touch the document, copied to each passage.
    """
    chunker = SentenceChunker(document.text, max_words=max_words)
    runs = (
        (path, window)
        for path, sentences in sentences_by_section(document.text)
        for window in _windows(sentences, chunker, max_words=max_words, overlap=overlap_sentences)
    )
    return passages_of(document, runs, edges=edges)


def whole_passages(document: Document, *, edges: int = 0) -> list[Passage]:
    """
    Return `document` as one passage, however long; a text of white space has none.

    Sections are ignored: headings are sentences, and the passage's path is ().
    """
    sections = sentences_by_section(document.text)
    sentences = [sentence for _, found in sections for sentence in found]
    return passages_of(document, [((), sentences)] if sentences else (), edges=edges)
