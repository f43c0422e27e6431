"""
Where something relevant was lost on its way to the answer. Pure: reads provenance records.

What is relevant is a document, or a passage where passages are judged. It is lost at the first
stage after the last one that still had it. For rankings, having a document means that a passage of
it stands among as many as are read; one that no list brought so far up was lost in the first lists,
however deep they hold it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ccrag.evaluation.levels import document_of
from ccrag.types import JSON, DocId, PassageId, doc_id_of, is_passage_id

FUSED, RERANKED = "rrf", "rerank"
"""What rankings made from other rankings are called in provenance."""

RelevantId = DocId | PassageId
Ranks = Mapping[str, Mapping[RelevantId, int]]
"""Stage → relevant id → its rank or that of its best passage, from 1; stages as they ran."""


class End(StrEnum):
    """What became of a document or passage; the value is the word of reports."""

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
    End.CITED: "the answer cites it (a passage: rests on evidence from it)",
    End.ANSWER: "evidence from it was shown, but the answer does not use it",
    End.EVIDENCE: "it was read, but none of its sentences became evidence",
    End.SELECTION: "it ranked high enough, but was not read (near-duplicate, budget)",
    End.RERANK: "reranking moved it below what is read",
    End.FUSION: "a first list had it high enough, the fused list did not",
    End.FIRST_LISTS: "no first list had it high enough",
    End.PASSAGES: "the index holds no passage of it, or cuts its document into other passages",
    End.CANDIDATES: "its document is not a candidate of the query",
    End.FAILED: "the query failed",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One relevant document or passage in one run."""

    relevant_id: RelevantId
    ranks: Mapping[str, int | None]
    """Stage → its rank, of a document that of its best passage; None where the stage lacks it."""
    end: End
    """`CITED`, or the stage that lost it."""


def ways_of(
    relevant_ids: Iterable[RelevantId],
    record: JSON | None,
    *,
    depth: int,
    candidates: Collection[DocId] | None = None,
    not_held: Collection[RelevantId] = (),
) -> tuple[Way, ...]:
    """
    Return the way of each document or passage through one query of one run.

    Args:
        record: the query's provenance; None: it failed.
        depth: how many passages of the final ranking can be read.
        candidates: the query's; None: the whole index.
        not_held: passages the index does not hold, documents it holds no passage of.
    """
    ranks = best_ranks(record, set(relevant_ids)) if record is not None else {}
    return tuple(
        Way(
            name,
            {stage: found.get(name) for stage, found in ranks.items()},
            _end(name, record, ranks, depth, candidates, not_held),
        )
        for name in relevant_ids
    )


def best_ranks(record: JSON, wanted: Collection[RelevantId]) -> dict[str, dict[RelevantId, int]]:
    """
    Return the ranks of the `wanted` documents and passages in every ranking of a provenance record.
    """
    ranks: dict[str, dict[RelevantId, int]] = {}
    for ranking in record["rankings"]:
        found: dict[RelevantId, int] = {}
        for rank, (passage_id, _) in enumerate(ranking["hits"], start=1):
            for name in (passage_id, doc_id_of(passage_id)):
                if name in wanted:
                    found.setdefault(name, rank)
        ranks[ranking["stage"]] = found
    return ranks


def _end(
    name: RelevantId,
    record: JSON | None,
    ranks: Ranks,
    depth: int,
    candidates: Collection[DocId] | None,
    not_held: Collection[RelevantId],
) -> End:
    if record is None:
        return End.FAILED
    if candidates is not None and document_of(name) not in candidates:
        return End.CANDIDATES
    if name in record["references"] or name in _passages_rested_on(record):
        return End.CITED
    if name in _ids(name, record["evidence"]):
        return End.ANSWER
    if name in _ids(name, record["read"]):
        return End.EVIDENCE
    if name in not_held:
        return End.PASSAGES
    return _lost_in_ranking(name, ranks, depth)


def _lost_in_ranking(name: RelevantId, ranks: Ranks, depth: int) -> End:
    """Return the stage after the last ranking that had it within `depth`."""
    first = [found for stage, found in ranks.items() if stage not in (FUSED, RERANKED)]
    stages: list[tuple[End, Sequence[Mapping[RelevantId, int]]]] = [(End.FIRST_LISTS, first)]
    stages += [
        (end, [ranks[stage]])
        for end, stage in ((End.FUSION, FUSED), (End.RERANK, RERANKED))
        if stage in ranks
    ]
    lost_at = End.SELECTION
    for end, rankings in reversed(stages):
        if any(found.get(name, depth + 1) <= depth for found in rankings):
            return lost_at
        lost_at = end
    return lost_at


def _passages_rested_on(record: JSON) -> set[PassageId]:
    """Return the passages whose evidence an answer sentence names."""
    named = {evidence_id for sentence in record["answer"] for evidence_id in sentence["evidence"]}
    return {item["passage_id"] for item in record["evidence"] if item["evidence_id"] in named}


def _ids(like: RelevantId, items: Iterable[JSON]) -> set[RelevantId]:
    """Return the items' ids of the kind that `like` is: passages' or documents'."""
    return {item["passage_id" if is_passage_id(like) else "doc_id"] for item in items}
