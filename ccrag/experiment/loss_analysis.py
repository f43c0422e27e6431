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
from ccrag.formats.provenance import EvidenceRecord, PassageRecord, QueryRecord
from ccrag.types import DocId, PassageId, doc_id_of, is_passage_id

FUSED, RERANKED = "rrf", "rerank"
"""The names of rankings made from other rankings."""

RelevantId = DocId | PassageId
Ranks = Mapping[str, Mapping[RelevantId, int]]
"""Stage → relevant id → its rank or that of its best passage, from 1; stages as they ran."""


class LossStage(StrEnum):
    """The stage that lost a document or passage; the value is the word of reports."""

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


MEANING: Mapping[LossStage, str] = {
    LossStage.CITED: "the answer cites it (a passage: rests on evidence from it)",
    LossStage.ANSWER: "evidence from it was shown, but the answer does not use it",
    LossStage.EVIDENCE: "it was read, but none of its sentences became evidence",
    LossStage.SELECTION: "it ranked high enough, but was not read (near-duplicate, budget)",
    LossStage.RERANK: "reranking moved it below what is read",
    LossStage.FUSION: "a first list had it high enough, the fused list did not",
    LossStage.FIRST_LISTS: "no first list had it high enough",
    LossStage.PASSAGES: "the index holds no passage of it, or cuts its text into other passages",
    LossStage.CANDIDATES: "its document is not a candidate of the query",
    LossStage.FAILED: "the query failed",
}


@dataclass(frozen=True, slots=True)
class RelevantItem:
    """One relevant document or passage in one run."""

    relevant_id: RelevantId
    ranks: Mapping[str, int | None]
    """Stage → its rank, of a document that of its best passage; None where the stage lacks it."""
    end: LossStage
    """`CITED`, or the stage that lost it."""


def relevant_items(
    relevant_ids: Iterable[RelevantId],
    record: QueryRecord | None,
    *,
    depth: int,
    candidates: Collection[DocId] | None = None,
    not_held: Collection[RelevantId] = (),
) -> tuple[RelevantItem, ...]:
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
        RelevantItem(
            name,
            {stage: found.get(name) for stage, found in ranks.items()},
            _loss_stage(name, record, ranks, depth, candidates, not_held),
        )
        for name in relevant_ids
    )


def best_ranks(
    record: QueryRecord, wanted: Collection[RelevantId]
) -> dict[str, dict[RelevantId, int]]:
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


def _loss_stage(
    name: RelevantId,
    record: QueryRecord | None,
    ranks: Ranks,
    depth: int,
    candidates: Collection[DocId] | None,
    not_held: Collection[RelevantId],
) -> LossStage:
    if record is None:
        return LossStage.FAILED
    if candidates is not None and document_of(name) not in candidates:
        return LossStage.CANDIDATES
    if name in record["references"] or name in _passages_rested_on(record):
        return LossStage.CITED
    if name in _ids(name, record["evidence"]):
        return LossStage.ANSWER
    if name in _ids(name, record["read"]):
        return LossStage.EVIDENCE
    if name in not_held:
        return LossStage.PASSAGES
    return _lost_in_ranking(name, ranks, depth)


def _lost_in_ranking(name: RelevantId, ranks: Ranks, depth: int) -> LossStage:
    """Return the stage after the last ranking that had it within `depth`."""
    first = [found for stage, found in ranks.items() if stage not in (FUSED, RERANKED)]
    stages: list[tuple[LossStage, Sequence[Mapping[RelevantId, int]]]] = [
        (LossStage.FIRST_LISTS, first)
    ]
    stages += [
        (end, [ranks[stage]])
        for end, stage in ((LossStage.FUSION, FUSED), (LossStage.RERANK, RERANKED))
        if stage in ranks
    ]
    lost_at = LossStage.SELECTION
    for end, rankings in reversed(stages):
        if any(found.get(name, depth + 1) <= depth for found in rankings):
            return lost_at
        lost_at = end
    return lost_at


def _passages_rested_on(record: QueryRecord) -> set[PassageId]:
    """Return the passages whose evidence an answer sentence names."""
    named = {evidence_id for sentence in record["answer"] for evidence_id in sentence["evidence"]}
    return {item["passage_id"] for item in record["evidence"] if item["evidence_id"] in named}


def _ids(like: RelevantId, items: Iterable[EvidenceRecord | PassageRecord]) -> set[RelevantId]:
    """Return the items' ids of the kind that `like` is: passages' or documents'."""
    return {item["passage_id" if is_passage_id(like) else "doc_id"] for item in items}
