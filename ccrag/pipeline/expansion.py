"""Make the variants of a query, their vectors, and the requests for its first lists."""

from collections.abc import Iterable, Sequence

import numpy as np

from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.engine import bodies
from ccrag.engine.bodies import SearchVector
from ccrag.errors import InputError, ModelError
from ccrag.models.base import Encoder
from ccrag.pipeline.retrievers import search_bodies
from ccrag.pipeline.retrievers.base import RetrievalRequest
from ccrag.pipeline.state import QueryState
from ccrag.query.turns import turn_variants
from ccrag.query.variants import keywords, make_variants
from ccrag.types import JSON, Query, Variant, WeightedText


def set_variants(state: QueryState, settings: PipelineSettings) -> None:
    """Give `state` its keywords, its variants, and the one that stands for the question."""
    use = settings.variants
    state.keywords = keywords(
        state.query.text, max_keywords=use.max_keywords, min_chars=use.min_chars
    )
    state.variants = _variants_of(state, use.use, settings)
    if "dense" in settings.retrieval.lists:
        state.dense_variants = _variants_of(state, use.dense, settings)
    set_question(state, settings)
    for variant in state.variants:
        if bodies.is_cut(variant.searched):
            state.note(
                "variants",
                f"{variant.name} is long: its first {bodies.MAX_TOKENS} tokens are searched "
                "(a token is a word, a CJK character or an emoji)",
            )


def set_question(state: QueryState, settings: PipelineSettings) -> None:
    """Give `state` the variant that stands for the question."""
    question, *_ = _variants_of(state, (settings.variants.question,), settings)
    state.question = question.text


def _variants_of(
    state: QueryState, names: Sequence[str], settings: PipelineSettings
) -> tuple[Variant, ...]:
    use, query = settings.variants, state.query
    plain = make_variants(
        query.text, use=names, max_keywords=use.max_keywords, min_chars=use.min_chars
    )
    of_turns = turn_variants(query, use=names, decay=use.decay, rewrites=state.rewrites)
    return (*plain, *of_turns)


def encode_variants(
    states: Sequence[QueryState], settings: PipelineSettings, encoder: Encoder | None
) -> None:
    """
    Give each query the vectors that a stage compares with something; all texts in one call.

    Raises:
        ModelError: vectors are needed and there is no encoder.
    """
    if not requirements(settings).question_vectors:
        return
    if encoder is None:
        raise ModelError(f"pipeline {settings.name} needs an encoder")
    texts = {
        text: None
        for state in states
        for text in (state.question, *(p.text for v in state.dense_variants for p in v.searched))
    }
    vectors = dict(zip(texts, encoder.encode_queries(list(texts)).vectors, strict=True))
    for state in states:
        state.vector = vectors[state.question]
        state.vectors = {v.name: _mean(v.searched, vectors) for v in state.dense_variants}


def _mean(parts: Iterable[WeightedText], vectors: dict[str, SearchVector]) -> SearchVector:
    """
    Return the weighted mean of the parts' vectors at unit length.

    Its cosine with a passage orders passages as the weighted sum of the parts' cosines does.
    """
    total = np.sum([part.weight * vectors[part.text] for part in parts], axis=0)
    norm = float(np.linalg.norm(total))
    return np.asarray(total / norm if norm else total, dtype=np.float32)


def retrieval_requests(state: QueryState, settings: PipelineSettings) -> list[RetrievalRequest]:
    """Return the first lists of a query; the original's best passages come whole, for feedback."""
    texts = settings.feedback.passages if settings.feedback.enabled else 0
    requests: list[RetrievalRequest] = []
    for source in settings.retrieval.lists:
        match source:
            case "bm25":
                requests += [
                    RetrievalRequest(state.query, v, texts=texts if v.name == "original" else 0)
                    for v in state.variants
                ]
            case "dense":
                requests += [
                    RetrievalRequest(state.query, v, source, state.vectors.get(v.name))
                    for v in state.dense_variants
                ]
            case _:
                original = Variant("original", state.query.text)
                requests.append(RetrievalRequest(state.query, original, source))
    return requests


def first_requests(settings: PipelineSettings, query: Query, encoder: Encoder | None) -> list[JSON]:
    """
    Return the searches of a query's first round, as they would be sent; sends nothing.

    Raises:
        InputError: a language model would have to be asked first.
    """
    state = QueryState(query)
    if not query.turns:
        state.rewrites = (query.text,) * settings.rewrite.count
    elif requirements(settings).llm_rewrite:
        raise InputError("the requests depend on a rewrite, and no model is asked for it here")
    set_variants(state, settings)
    encode_variants([state], settings, encoder)
    return [
        body
        for request in retrieval_requests(state, settings)
        for body in search_bodies(settings, request)
    ]
