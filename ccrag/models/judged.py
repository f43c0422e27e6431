"""Judged queries to train and evaluate a reranker on. Pure: no model, no I/O."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from ccrag.errors import InputError
from ccrag.types import DocId, QueryId

DEPTH = 10


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, its candidates' texts and what was judged of them."""

    query_id: QueryId
    text: str
    texts: Mapping[DocId, str]
    """BM25's best first: the order to beat."""
    relevance: Mapping[DocId, int]
    """Of judged documents; > 0 is relevant."""

    @property
    def relevant(self) -> list[DocId]:
        """Return candidates judged relevant, BM25's best first."""
        return [doc_id for doc_id in self.texts if self.relevance.get(doc_id, 0) > 0]

    @property
    def others(self) -> list[DocId]:
        """Return candidates judged irrelevant or not at all, BM25's best first."""
        return [doc_id for doc_id in self.texts if self.relevance.get(doc_id, 0) <= 0]


def split(
    judged: Sequence[JudgedQuery], *, share: float, seed: int
) -> tuple[list[JudgedQuery], list[JudgedQuery]]:
    """
    Return queries to train on, and queries to evaluate on; those that tell nothing are left out.

    The same seed splits the same queries in the same way, in whatever order they come.

    Raises:
        InputError: no query on one of the sides.
    """
    useful = sorted((q for q in judged if q.relevant and q.others), key=lambda q: q.query_id)
    random.Random(seed).shuffle(useful)  # noqa: S311  # not for secrets
    count = round(share * len(useful))
    if not 0 < count < len(useful):
        raise InputError(
            f"{len(useful)} of {len(judged)} queries have both relevant and other candidates; "
            f"with a share of {share:g} held out that is too few to train on and to evaluate"
        )
    return useful[count:], useful[:count]


def sample_group(query: JudgedQuery, *, size: int, hard: int, rng: random.Random) -> list[DocId]:
    """
    Return up to `size` candidates to learn from: at most a quarter relevant, then hard others.

    The others are drawn from BM25's `hard` best of them: what words alone do not tell apart.
    """
    relevant = rng.sample(query.relevant, min(len(query.relevant), max(1, size // 4)))
    others = query.others[:hard]
    return relevant + rng.sample(others, min(len(others), size - len(relevant)))


def ndcg(order: Sequence[DocId], relevance: Mapping[DocId, int], *, depth: int = DEPTH) -> float:
    """Return nDCG with gain = relevance and discount log2(rank + 1); 0 if nothing is relevant."""
    best = sorted((max(0, grade) for grade in relevance.values()), reverse=True)
    ideal = _dcg(best[:depth])
    found = _dcg([max(0, relevance.get(doc_id, 0)) for doc_id in order[:depth]])
    return found / ideal if ideal else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
