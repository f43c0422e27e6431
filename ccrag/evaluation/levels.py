"""
Rankings and judgements brought to one level, documents or passages. Pure.

Judgements may be of documents or of our passages (`doc_id#digest`), rankings too. Where both are of
the same, ids are compared as they are; where they are not, both are looked at as documents.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ccrag.evaluation.rundata import Ranked
from ccrag.formats.trec_run import QrelsByQuery
from ccrag.types import DocId, PassageId, QueryId, doc_id_of, is_passage_id

Rankings = Mapping[QueryId, Ranked]

RANKED_PASSAGES = "the ranking is of passages: each document stands where its best passage does"
JUDGED_PASSAGES = (
    "the judgements are of passages, the ranking of documents: each document is as relevant as its "
    "best passage (for a ranking of passages: output.run_level=passage)"
)


class OneLevel(NamedTuple):
    """A ranking and judgements in the same ids."""

    rankings: Rankings
    qrels: QrelsByQuery
    note: str | None = None
    """A note on how ids were mapped; None: they were not."""


def document_of(name: DocId | PassageId) -> DocId:
    """Return the document that is called `name`, or whose passage is."""
    return doc_id_of(name) if is_passage_id(name) else name


def document_judgements(judged: Mapping[DocId | PassageId, int]) -> dict[DocId, int]:
    """Return one query's judgements as those of documents, each as relevant as its best passage."""
    documents: dict[DocId, int] = {}
    for name, relevance in judged.items():
        doc_id = document_of(name)
        documents[doc_id] = max(relevance, documents.get(doc_id, relevance))
    return documents


def one_level(rankings: Rankings, qrels: QrelsByQuery) -> OneLevel:
    """
    Return `rankings` and `qrels` in ids of which some are the same, if there is a way.

    As they are; else documents by their best ranked passage, of whatever form its id is; else
    documents by their best judged passage. Where nothing of that makes them meet: as they are.
    """
    as_given = OneLevel(rankings, qrels)
    if any_judged(rankings, qrels):
        return as_given
    documents = {query_id: _best_passages(ranked) for query_id, ranked in rankings.items()}
    if any_judged(documents, qrels):
        return OneLevel(documents, qrels, RANKED_PASSAGES)
    judged = {query_id: document_judgements(found) for query_id, found in qrels.items()}
    if any_judged(rankings, judged):
        return OneLevel(rankings, judged, JUDGED_PASSAGES)
    return as_given


def any_judged(rankings: Rankings, qrels: QrelsByQuery) -> bool:
    """Tell whether a ranked id is judged for its query."""
    return any(
        name in judged
        for query_id, judged in qrels.items()
        for name, _ in rankings.get(query_id, ())
    )


def _best_passages(ranked: Iterable[tuple[str, float]]) -> Ranked:
    best: dict[str, float] = {}
    for name, score in ranked:
        doc_id = doc_id_of(name) or name
        best[doc_id] = max(score, best.get(doc_id, score))
    return tuple(best.items())
