"""Which passages a pipeline needs: the index-time part of its settings, and how they are cut."""

from collections.abc import Callable

from ccrag.config import ChunkingSettings, PipelineSettings
from ccrag.corpus.chunking import CHUNKER_VERSION, window_passages
from ccrag.engine.names import Recipe
from ccrag.types import Document, Passage

PUBLISHED_K1_B = (1.5, 0.75)

Chunker = Callable[[Document, int], list[Passage]]
"""Cuts a document; the number is its citation edges."""


def recipe_of(settings: PipelineSettings) -> Recipe:
    """The recipe a pipeline needs; settings that act at query time do not change it."""
    chunking, bm25 = settings.chunking, settings.bm25
    name = f"{chunking.method}-{chunking.max_words}w-{chunking.overlap_sentences}o"
    if (bm25.k1, bm25.b) != PUBLISHED_K1_B:
        name += f"-k{bm25.k1:g}-b{bm25.b:g}"
    parameters = {
        "chunking": chunking.model_dump_json(),
        "chunker_version": str(CHUNKER_VERSION),
        "k1": repr(bm25.k1),
        "b": repr(bm25.b),
    }
    return Recipe(name, tuple(sorted(parameters.items())), bm25.k1, bm25.b)


def chunker_of(settings: ChunkingSettings) -> Chunker:
    """The function that cuts one document as `settings` say."""

    def cut(document: Document, edges: int) -> list[Passage]:
        return window_passages(
            document,
            max_words=settings.max_words,
            overlap_sentences=settings.overlap_sentences,
            edges=edges,
        )

    return cut
