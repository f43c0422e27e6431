"""
Encoding against plain `SentenceTransformer.encode` on the same texts, and what the cache serves.

Texts are passages of the development collections where they lie beside the project, else of the
benchmarks' own corpus. Rounds of both alternate and the best of each counts, so that other work on
the machine disturbs neither alone.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpus import write_corpus
from ccrag.config import ChunkingSettings, EncoderSettings
from ccrag.corpus.scan import CorpusScan
from ccrag.engine.build import ChunkedDocument
from ccrag.indexing.passages import chunked_documents
from ccrag.models.base import Encoder, Matrix
from ccrag.models.cache import VectorCache
from ccrag.models.cached import CachedEncoder
from ccrag.models.folder import ModelFolder
from ccrag.models.static import StaticTextModel
from ccrag.models.transformer import TransformerModel, open_transformer

if TYPE_CHECKING:
    from model2vec import StaticModel

DATA = Path(__file__).parents[2] / "shared" / "data"
COLLECTIONS = ("longeval-rag", "cranfield")
TEXTS = 256
ROUNDS = 3
STATIC_DIMENSION = 256
SEED = 13


def report(folder: Path) -> Iterator[tuple[str, str]]:
    """Rows of the table: what was measured, and the figure; `folder` takes temporary files."""
    files = [DATA / name / "documents.jsonl" for name in COLLECTIONS]
    if not all(path.exists() for path in files):
        files = [write_corpus(folder / "texts.jsonl", 300)]
    passages = [text for path in files for text in cut_texts(path, ChunkingSettings())]
    texts = random.Random(SEED).sample(passages, TEXTS)
    model = open_transformer(EncoderSettings())
    static = static_model(model)
    yield "passages to encode", f"{len(texts)} of {len(passages):,}"
    yield from _rates(model, static, texts, passages)
    for path in files:
        yield from _shares(static, path, folder)


def cut_texts(
    path: Path, chunking: ChunkingSettings, encoder: Encoder | None = None
) -> Iterator[str]:
    """The passages of a collection."""
    with CorpusScan([path]) as scan:
        documents = (ChunkedDocument(document, 0) for document in scan.documents())
        for cut in chunked_documents(documents, chunking, encoder, with_vectors=False):
            yield from (passage.text for passage in cut.passages)


def static_model(model: TransformerModel) -> StaticTextModel:
    """An encoder over `random_static`."""
    return StaticTextModel(ModelFolder(Path("random"), "random", str(SEED)), random_static(model))


def random_static(model: TransformerModel) -> "StaticModel":
    """A static model of random vectors with `model`'s tokenizer: as fast as a distilled one."""
    from model2vec import StaticModel

    tokenizer = model.loaded().tokenizer.backend_tokenizer
    size = (tokenizer.get_vocab_size(), STATIC_DIMENSION)
    vectors = np.random.default_rng(SEED).standard_normal(size, dtype=np.float32)
    return StaticModel(vectors, tokenizer)


def _rates(
    model: TransformerModel, static: StaticTextModel, texts: list[str], passages: list[str]
) -> Iterator[tuple[str, str]]:
    plain = model.loaded()
    plain.encode(texts[:4])  # the first call is slow
    converted = open_transformer(EncoderSettings(backend="openvino"))
    _encode(converted, texts[:32])  # converts
    runs = _best_runs(
        lambda: plain.encode(texts),
        lambda: _encode(model, texts),
        lambda: _encode(converted, texts),
        lambda: _encode(static, passages),
    )
    expected, plain_s = runs[0]
    yield "plain SentenceTransformer.encode, fp32", f"{len(texts) / plain_s:.1f} passages/s"
    for backend, (found, seconds) in zip(("torch", "openvino"), runs[1:3], strict=True):
        cosines = (expected * found).sum(axis=1)
        ours = f"ccrag, {backend}"
        yield f"{ours}, fp32, nothing cached", f"{len(texts) / seconds:.1f} passages/s"
        yield f"{ours}: ratio (aim: at least 2)", f"{plain_s / seconds:.2f}"
        figure = f"{cosines.mean():.6f} / {cosines.min():.6f}"
        yield f"{ours}: cosine with plain, mean (aim: at least .999) / least", figure
    static_rate = len(passages) / runs[3][1]
    yield "static encoder", f"{static_rate:,.0f} passages/s"
    yield "static: ratio (aim: at least 50)", f"{static_rate * plain_s / len(texts):,.0f}"


def _encode(model: TransformerModel | StaticTextModel, texts: Sequence[str]) -> Matrix:
    return CachedEncoder(model, EncoderSettings(), cache=None).encode_passages(texts).vectors


def _best_runs(*states: Callable[[], Matrix]) -> list[tuple[Matrix, float]]:
    """What each way gives, and its shortest time; all of them in every round."""
    rounds = [[_timed(state) for state in states] for _ in range(ROUNDS)]
    return [min(runs, key=lambda run: run[1]) for runs in zip(*rounds, strict=True)]


def _timed(state: Callable[[], Matrix]) -> tuple[Matrix, float]:
    began = perf_counter()
    found = state()
    return found, perf_counter() - began


def _shares(model: StaticTextModel, path: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """What a second index takes from the cache; which model fills it does not matter."""
    again = (
        ("window of 140 words, then of 100", [ChunkingSettings(), ChunkingSettings(max_words=100)]),
        ("semantic, then topic-shift", [_by_meaning("semantic"), _by_meaning("topic-shift")]),
    )
    for what, chunkings in again:
        cache = VectorCache(folder / f"{path.parent.name}-{what}.sqlite")
        for chunking in chunkings:
            encoder = CachedEncoder(model, EncoderSettings(), cache=cache)
            encoder.encode_passages(list(cut_texts(path, chunking, encoder)))
        share = f"{encoder.counts.cached_share:.0%} of {encoder.counts.total:,} texts"
        yield f"{path.parent.name}: {what}: cached", share


def _by_meaning(method: str) -> ChunkingSettings:
    return ChunkingSettings.model_validate({"method": method})
