"""From a query to its wordings, their vectors, and the first lists that are asked for."""

from collections.abc import Iterable, Sequence

import numpy as np

from ccrag.config import PipelineSettings
from ccrag.engine import bodies
from ccrag.engine.bodies import Vector
from ccrag.errors import InputError, ModelError
from ccrag.models.base import Encoder
from ccrag.pipeline.retrievers import Ask, request_bodies
from ccrag.pipeline.rewriting import asks_for_rewrites
from ccrag.pipeline.signal_reranking import signal_weights
from ccrag.pipeline.state import Way
from ccrag.query.turns import turn_variants
from ccrag.query.variants import keywords, make_variants
from ccrag.types import JSON, Part, Query, Variant


def put_wordings(way: Way, settings: PipelineSettings) -> None:
    """Give `way` its keywords, its wordings, and the one that stands for the question."""
    use = settings.variants
    way.keywords = keywords(way.query.text, max_keywords=use.max_keywords, min_chars=use.min_chars)
    way.variants = _wordings(way, use.use, settings)
    if "dense" in settings.retrieval.lists:
        way.dense_variants = _wordings(way, use.dense, settings)
    put_question(way, settings)
    for variant in way.variants:
        if bodies.is_cut(variant.searched):
            way.note(
                "variants",
                f"{variant.name} is long: its first {bodies.MAX_TOKENS} tokens are searched "
                "(a token is a word, a CJK character or an emoji)",
            )


def put_question(way: Way, settings: PipelineSettings) -> None:
    """Give `way` the wording that stands for the question."""
    question, *_ = _wordings(way, (settings.variants.question,), settings)
    way.question = question.text


def _wordings(way: Way, names: Sequence[str], settings: PipelineSettings) -> tuple[Variant, ...]:
    use, query = settings.variants, way.query
    plain = make_variants(
        query.text, use=names, max_keywords=use.max_keywords, min_chars=use.min_chars
    )
    of_turns = turn_variants(query, use=names, decay=use.decay, rewrites=way.rewrites)
    return (*plain, *of_turns)


def encode_wordings(
    ways: Sequence[Way], settings: PipelineSettings, encoder: Encoder | None
) -> None:
    """
    Give each way the vectors that a stage compares with something; all texts in one call.

    Raises:
        ModelError: vectors are needed and there is no encoder.
    """
    if not needs_query_vectors(settings):
        return
    if encoder is None:
        raise ModelError(f"pipeline {settings.name} needs an encoder")
    texts = {
        text: None
        for way in ways
        for text in (way.question, *(p.text for v in way.dense_variants for p in v.searched))
    }
    vectors = dict(zip(texts, encoder.encode_queries(list(texts)).vectors, strict=True))
    for way in ways:
        way.vector = vectors[way.question]
        way.vectors = {v.name: _mean(v.searched, vectors) for v in way.dense_variants}


def _mean(parts: Iterable[Part], vectors: dict[str, Vector]) -> Vector:
    """
    Return the weighted mean of the parts' vectors at unit length.

    Its cosine with a passage orders passages as the weighted sum of the parts' cosines does.
    """
    total = np.sum([part.weight * vectors[part.text] for part in parts], axis=0)
    norm = float(np.linalg.norm(total))
    return np.asarray(total / norm if norm else total, dtype=np.float32)


def asks_of(way: Way, settings: PipelineSettings) -> list[Ask]:
    """Return the first lists of a query; the original's best passages come whole, for feedback."""
    texts = settings.feedback.passages if settings.feedback.enabled else 0
    asks: list[Ask] = []
    for source in settings.retrieval.lists:
        if source == "bm25":
            asks += [
                Ask(way.query, variant, texts=texts if variant.name == "original" else 0)
                for variant in way.variants
            ]
        elif source == "dense":
            asks += [
                Ask(way.query, variant, source, way.vectors.get(variant.name))
                for variant in way.dense_variants
            ]
        else:
            asks.append(Ask(way.query, Variant("original", way.query.text), source))
    return asks


def needs_query_vectors(settings: PipelineSettings) -> bool:
    """Tell whether a stage compares a vector of the query with something."""
    by_signal = settings.rerank.method == "signals" and not {"dense", "sentence"}.isdisjoint(
        signal_weights(settings)
    )
    by_run = settings.select.read == "linked" and settings.linked.scorer == "fused"
    return reads_by_cosine(settings) or by_signal or by_run or "dense" in settings.retrieval.lists


def reads_by_cosine(settings: PipelineSettings) -> bool:
    """Tell whether evidence is scored by cosines with the question."""
    return settings.evidence.scorer in ("bi-encoder", "fused")


def first_requests(settings: PipelineSettings, query: Query, encoder: Encoder | None) -> list[JSON]:
    """
    Return the searches of a query's first round, as they would be sent; sends nothing.

    Raises:
        InputError: a language model would have to be asked first.
    """
    way = Way(query)
    if not query.turns:
        way.rewrites = (query.text,) * settings.rewrite.count
    elif asks_for_rewrites(settings):
        raise InputError("the requests depend on a rewrite, and no model is asked for it here")
    put_wordings(way, settings)
    encode_wordings([way], settings, encoder)
    return [body for ask in asks_of(way, settings) for body in request_bodies(settings, ask)]
