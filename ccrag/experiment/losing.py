"""
Where a relevant document was lost on its way to the answer. Pure: reads provenance records.

A document is lost at the first stage after the last one that still had it. For rankings, having it
means that a passage of it stands among as many as are read; a document no list brought so far up
was lost in the first lists, however deep they hold it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ccrag.types import JSON, DocId, doc_id_of

FUSED, RERANKED = "rrf", "rerank"
"""What rankings made from other rankings are called in provenance."""

Ranks = Mapping[str, Mapping[DocId, int]]
"""Stage → document → rank of its best passage, from 1; stages in the order they ran."""


class End(StrEnum):
    """What became of a document; the value is the word of reports."""

    CITED = "cited"
    ANSWER = "answer"
    EVIDENCE = "evidence"
    SELECTION = "selection"
    RERANK = "rerank"
    FUSION = "fusion"
    FIRST_LISTS = "first lists"
    PASSAGES = "passages"
    CANDIDATES = "candidates"
    FAILED = "failed"


MEANING: Mapping[End, str] = {
    End.CITED: "the answer cites it",
    End.ANSWER: "evidence from it was shown, but no answer sentence cites it",
    End.EVIDENCE: "it was read, but none of its sentences became evidence",
    End.SELECTION: "it ranked high enough, but was not read (near-duplicate, budget)",
    End.RERANK: "reranking moved it below what is read",
    End.FUSION: "a first list had it high enough, the fused list did not",
    End.FIRST_LISTS: "no first list had it high enough",
    End.PASSAGES: "the index holds no passage of it",
    End.CANDIDATES: "it is not a candidate of the query",
    End.FAILED: "the query failed",
}


@dataclass(frozen=True, slots=True)
class DocumentWay:
    """One relevant document in one run."""

    doc_id: DocId
    ranks: Mapping[str, int | None]
    """Stage → rank of its best passage; None where the stage does not have it."""
    end: End
    """`CITED`, or the stage that lost it."""


def document_ways(
    doc_ids: Iterable[DocId],
    record: JSON | None,
    *,
    depth: int,
    candidates: Collection[DocId] | None = None,
    without_passages: Collection[DocId] = (),
) -> tuple[DocumentWay, ...]:
    """
    The way of each document through one query of one run.

    Args:
        record: the query's provenance; None: it failed.
        depth: how many passages of the final ranking can be read.
        candidates: the query's; None: the whole index.
        without_passages: documents the index holds no passage of.
    """
    ranks = best_ranks(record, set(doc_ids)) if record is not None else {}
    return tuple(
        DocumentWay(
            doc_id,
            {stage: found.get(doc_id) for stage, found in ranks.items()},
            _end(doc_id, record, ranks, depth, candidates, without_passages),
        )
        for doc_id in doc_ids
    )


def where_lost(
    doc_id: DocId,
    record: JSON | None,
    *,
    depth: int,
    candidates: Collection[DocId] | None = None,
    without_passages: Collection[DocId] = (),
) -> End:
    """The stage that lost one document; see `document_ways` for the arguments."""
    (way,) = document_ways(
        [doc_id], record, depth=depth, candidates=candidates, without_passages=without_passages
    )
    return way.end


def best_ranks(record: JSON, wanted: Collection[DocId]) -> dict[str, dict[DocId, int]]:
    """Ranks of the `wanted` documents in every ranking of a provenance record."""
    ranks: dict[str, dict[DocId, int]] = {}
    for ranking in record["rankings"]:
        found: dict[DocId, int] = {}
        for rank, (passage_id, _) in enumerate(ranking["hits"], start=1):
            doc_id = doc_id_of(passage_id)
            if doc_id in wanted:
                found.setdefault(doc_id, rank)
        ranks[ranking["stage"]] = found
    return ranks


def _end(
    doc_id: DocId,
    record: JSON | None,
    ranks: Ranks,
    depth: int,
    candidates: Collection[DocId] | None,
    without_passages: Collection[DocId],
) -> End:
    if record is None:
        return End.FAILED
    if candidates is not None and doc_id not in candidates:
        return End.CANDIDATES
    if doc_id in record["references"]:
        return End.CITED
    if doc_id in _doc_ids(record["evidence"]):
        return End.ANSWER
    if doc_id in _doc_ids(record["read"]):
        return End.EVIDENCE
    if doc_id in without_passages:
        return End.PASSAGES
    return _lost_in_ranking(doc_id, ranks, depth)


def _lost_in_ranking(doc_id: DocId, ranks: Ranks, depth: int) -> End:
    """The stage after the last ranking that had `doc_id` within `depth`."""
    first = [found for stage, found in ranks.items() if stage not in (FUSED, RERANKED)]
    stages: list[tuple[End, Sequence[Mapping[DocId, int]]]] = [(End.FIRST_LISTS, first)]
    stages += [
        (end, [ranks[stage]])
        for end, stage in ((End.FUSION, FUSED), (End.RERANK, RERANKED))
        if stage in ranks
    ]
    lost_at = End.SELECTION
    for end, rankings in reversed(stages):
        if any(found.get(doc_id, depth + 1) <= depth for found in rankings):
            return lost_at
        lost_at = end
    return lost_at


def _doc_ids(items: Iterable[JSON]) -> set[DocId]:
    return {item["doc_id"] for item in items}
