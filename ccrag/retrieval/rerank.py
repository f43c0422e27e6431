"""
Reordering of the fused shortlist by priors and word overlap. Pure.

Everything about a hit is found by its id; no list is ever matched with another by position.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from ccrag.errors import InvariantError
from ccrag.retrieval.lookup import passages_of
from ccrag.retrieval.priors import citation_prior, temporal_scores
from ccrag.text.analysis import terms, unique_terms
from ccrag.types import Hit, Passage, PassageId, Ranking

STAGE = "rerank"

T = TypeVar("T")


def rerank_paper(
    fused: Ranking,
    *,
    passages: Mapping[PassageId, Passage],
    query_text: str,
    max_edges: int,
    citation_weight: float,
    temporal_weight: float,
) -> Ranking:
    """
    Rescore `fused` as the LongEval paper describes: RRF + citation * G(d) + temporal * T(q, p).

    Args:
        fused: the shortlist; T compares the years of exactly these passages.
        passages: at least those of `fused`.
        query_text: the query as asked.
        max_edges: most citation edges of any candidate document.
        citation_weight: of G, `priors.citation_prior`.
        temporal_weight: of T, `priors.temporal_scores`.

    Raises:
        InvariantError: a passage of `fused` is missing from `passages`.
    """
    shortlist = passages_of(fused.hits, passages)
    temporal = temporal_scores(query_text, shortlist)

    def bonus(passage: Passage) -> float:
        return (
            citation_weight * citation_prior(passage.edges, max_edges)
            + temporal_weight * temporal[passage.passage_id]
        )

    return _rescored(fused, shortlist, bonus)


def rerank_published_code(
    fused: Ranking,
    *,
    passages: Mapping[PassageId, Passage],
    query_text: str,
    max_edges: int,
    coverage_weight: float,
    title_weight: float,
    phrase_weight: float,
    temporal_weight: float,
    citation_weight: float,
) -> Ranking:
    """
    Rescore `fused` as the published LongEval implementation does, unlike its paper.

    RRF + a weighted sum of five shares, each in [0, 1]:

    * coverage: share of the query's terms that the passage holds;
    * title: share of them that the title holds;
    * phrase: share of the query's neighbouring term pairs that stand side by side in the passage,
      stop words not counted; 0 for a query of one term;
    * temporal and citation: as in `rerank_paper`.

    Raises:
        InvariantError: a passage of `fused` is missing from `passages`.
    """
    shortlist = passages_of(fused.hits, passages)
    temporal = temporal_scores(query_text, shortlist)
    asked = frozenset(terms(query_text))
    asked_pairs = frozenset(pairwise(unique_terms(query_text)))

    def bonus(passage: Passage) -> float:
        found = terms(passage.text)
        return (
            coverage_weight * _share(asked, found)
            + title_weight * _share(asked, terms(passage.title))
            + phrase_weight * _share(asked_pairs, list(pairwise(found)))
            + temporal_weight * temporal[passage.passage_id]
            + citation_weight * citation_prior(passage.edges, max_edges)
        )

    return _rescored(fused, shortlist, bonus)


def with_tail(reranked: Ranking, fused: Ranking) -> Ranking:
    """
    Return `reranked` followed by the rest of `fused` in its order, for complete runs.

    The scales differ, so the tail's scores are the lowest score of `reranked` minus 1, 2, 3, …
    (counted from 0 when `reranked` is empty): they say the place and nothing else.

    Raises:
        InvariantError: the rankings are of different queries.
    """
    if reranked.query_id != fused.query_id:
        raise InvariantError(
            f"tail of query {fused.query_id!r} under the shortlist of {reranked.query_id!r}"
        )
    placed = {hit.passage_id for hit in reranked}
    floor = reranked.hits[-1].score if reranked.hits else 0.0
    rest = (hit for hit in fused if hit.passage_id not in placed)
    tail = (Hit(hit.passage_id, hit.doc_id, floor - at) for at, hit in enumerate(rest, start=1))
    return Ranking.of(reranked.query_id, reranked.stage, [*reranked, *tail])


def _rescored(
    fused: Ranking, shortlist: Sequence[Passage], bonus: Callable[[Passage], float]
) -> Ranking:
    bonuses = {passage.passage_id: bonus(passage) for passage in shortlist}
    hits = (Hit(hit.passage_id, hit.doc_id, hit.score + bonuses[hit.passage_id]) for hit in fused)
    return Ranking.of(fused.query_id, STAGE, hits)


def _share(wanted: frozenset[T], found: Sequence[T]) -> float:
    return len(wanted.intersection(found)) / len(wanted) if wanted else 0.0
