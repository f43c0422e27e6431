"""
Search bodies. Pure: values in, JSON out; nothing here sends.

Every body filters on the query's candidates, inside the query clause: a filter applied after the
search (`post_filter`) may return too few hits, down to none. Ties are cut by `passage_id` in the
engine too, so the hits at the edge of `depth` do not depend on shards or segments.
"""

import re
from collections.abc import Iterable

from ccrag.types import JSON, Candidates, DocId

MAX_TERMS = 65_536
"""Values one `terms` clause takes (`index.max_terms_count`); more are split over several."""

MAX_WORDS = 400
"""
Words of a query that are searched. One clause each, for text and title, has to stay below the
1,024 clauses that OpenSearch allows a query (`indices.query.bool.max_clause_count`).
"""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+?(?=[\u3040-\u30ff\u3400-\u9fff]|\b)"
)

BY_SCORE: list[JSON] = [{"_score": "desc"}, {"passage_id": "asc"}]
PASSAGE_FIELDS = [
    "doc_id",
    "section",
    "ordinal",
    "start",
    "end",
    "sentences",
    "title",
    "date",
    "edges",
    "text",
]


def candidate_filter(candidates: Candidates) -> list[JSON]:
    """Filter clauses that admit the candidates only; none for the whole index."""
    if candidates.doc_ids is None:
        return []
    ids = sorted(candidates.doc_ids)
    clauses = [
        {"terms": {"doc_id": ids[at : at + MAX_TERMS]}} for at in range(0, len(ids), MAX_TERMS)
    ]
    return clauses if len(clauses) == 1 else [{"bool": {"should": clauses}}]


def searched(text: str) -> str:
    """The part of `text` that is searched: all of it, or its first `MAX_WORDS` words."""
    for count, word in enumerate(_WORD.finditer(text), start=1):
        if count > MAX_WORDS:
            return text[: word.start()]
    return text


def bm25_body(text: str, candidates: Candidates, *, depth: int, title_weight: float) -> JSON:
    """
    BM25 of `text` inside the candidates, ids and scores only.

    What is `searched` of `text` is matched as plain words; no operator of any query language is
    read from it. With a `title_weight`, a passage is also found by its document's title, whose
    score is added.
    """
    words = searched(text)
    wanted: list[JSON] = [{"match": {"text": {"query": words}}}]
    if title_weight:
        wanted.append({"match": {"title": {"query": words, "boost": title_weight}}})
    query = {
        "bool": {
            "should": wanted,
            "minimum_should_match": 1,
            "filter": candidate_filter(candidates),
        }
    }
    return _ids_only(query, depth)


def with_text(body: JSON, *, depth: int) -> JSON:
    """The same search for the best `depth` passages, whole."""
    return {**body, "size": depth, "_source": PASSAGE_FIELDS}


def document_body(doc_id: DocId, *, depth: int) -> JSON:
    """The first `depth` passages of one document, in document order; nothing is scored."""
    query = {"bool": {"filter": [{"term": {"doc_id": doc_id}}]}}
    return {**_ids_only(query, depth), "sort": [{"ordinal": "asc"}]}


def passages_body(candidates: Candidates, *, size: int, after: str | None = None) -> JSON:
    """A page of the candidates' passages, whole, by passage id; `after` is the last page's end."""
    query = {"bool": {"filter": candidate_filter(candidates)}}
    page = {
        "size": size,
        "_source": PASSAGE_FIELDS,
        "track_total_hits": False,
        "query": query,
        "sort": [{"passage_id": "asc"}],
    }
    return page if after is None else {**page, "search_after": [after]}


def ordinals_body(doc_id: DocId, ordinals: Iterable[int]) -> JSON:
    """The passages of one document at `ordinals`, whole."""
    wanted = sorted(ordinals)
    clauses = [{"term": {"doc_id": doc_id}}, {"terms": {"ordinal": wanted}}]
    body = _ids_only({"bool": {"filter": clauses}}, len(wanted))
    return {**body, "_source": PASSAGE_FIELDS, "sort": [{"ordinal": "asc"}]}


def _ids_only(query: JSON, depth: int) -> JSON:
    return {
        "size": depth,
        "_source": False,
        "track_total_hits": False,
        "query": query,
        "sort": BY_SCORE,
    }
