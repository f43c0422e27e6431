"""
A model's scores filed under ids, so that nothing later is matched by position. Loads no model.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ccrag.answering.evidence import CandidateSentence
from ccrag.errors import InvariantError
from ccrag.models.reranker import Reranker, RerankScores
from ccrag.types import Note, SentenceKey

K = TypeVar("K")


def scores_by_id(
    reranker: Reranker, query_text: str, texts: Mapping[K, str]
) -> tuple[dict[K, float], list[Note]]:
    """
    Return the score of each text under its own key, and what the trace should hold about it.

    No texts: no scores and no call. For passages: `{passage.passage_id: passage.text}`.

    Raises:
        InvariantError: the reranker gave another number of scores than there are texts.
    """
    if not texts:
        return {}, []
    found = reranker.scores(query_text, list(texts.values()))
    if len(found.values) != len(texts):
        raise InvariantError(
            f"{reranker.model_id!r} gave {len(found.values)} scores for {len(texts)} texts"
        )
    return dict(zip(texts, found.values, strict=True)), _notes(reranker, found, len(texts))


def sentence_scores(
    reranker: Reranker, query_text: str, candidates: Sequence[CandidateSentence]
) -> tuple[dict[SentenceKey, float], list[Note]]:
    """Scores for `answering.evidence.choose`; see `scores_by_id`."""
    return scores_by_id(reranker, query_text, {c.key: c.text for c in candidates})


def cosine_scores(
    query_vector: npt.NDArray[np.float32],
    vectors: npt.NDArray[np.float32],
    candidates: Sequence[CandidateSentence],
) -> dict[SentenceKey, float]:
    """
    Return the bi-encoder's scores for `answering.evidence.choose`: cosine with the query.

    Args:
        query_vector: `(dim,)`, of unit length.
        vectors: `(n, dim)`, unit rows, one per candidate in the same order.

    Raises:
        InvariantError: not one vector per candidate, or a cosine that is not a number.
    """
    if len(vectors) != len(candidates):
        raise InvariantError(f"{len(vectors)} vectors for {len(candidates)} sentences")
    if not candidates:
        return {}
    cosines = vectors @ query_vector
    if not np.isfinite(cosines).all():
        raise InvariantError("a sentence's cosine with the query is not a number")
    return {c.key: float(cosine) for c, cosine in zip(candidates, cosines, strict=True)}


def _notes(reranker: Reranker, found: RerankScores, count: int) -> list[Note]:
    said: list[str] = []
    limit = f"the {reranker.max_tokens} tokens {reranker.model_id} reads at once"
    if found.windowed:
        said.append(
            f"{found.windowed} of {count} texts with the query are longer than {limit}: "
            "scored in windows, the best counts"
        )
    if found.query_cut:
        said.append(f"the query takes more than half of {limit}: its beginning was scored")
    return [Note("reranker", message) for message in said]
