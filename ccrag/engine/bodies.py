"""
Search bodies. Pure: values in, JSON out; nothing here sends.

Every body filters on the query's candidates, inside the query clause: a filter applied after the
search (`post_filter`) may return too few hits, down to none. Ties are cut by `passage_id` in the
engine too, so the hits at the edge of `depth` do not depend on shards or segments.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ccrag.engine.tokens import cut_tokens
from ccrag.types import JSON, Candidates, DocId, PassageId, WeightedText

SearchVector = NDArray[np.float32]
"""A query's vector, `(dim,)`, unit length."""

IdFilter = tuple[Literal["doc_id", "unit_id", "version_of"], Sequence[str]]
"""A field of unit parts, and the values it may have."""

MAX_TERMS = 65_536
"""Values one `terms` clause takes (`index.max_terms_count`); more are split over several."""

MAX_ID_BYTES = 512
"""The longest `_id` of OpenSearch; a longer string is the beginning of none."""

MAX_TOKENS = 400
"""
Tokens of a query that are searched. One clause each, for text and title, has to stay below the
1,024 clauses that OpenSearch allows a query (`indices.query.bool.max_clause_count`).
"""

BY_SCORE: list[JSON] = [{"_score": "desc"}, {"passage_id": "asc"}]
PASSAGES: JSON = {"excludes": ["vector", "searched", "outline"]}
"""`_source` of a whole passage: all but what only the engine reads."""


def candidate_filter(candidates: Candidates) -> list[JSON]:
    """Return filter clauses that admit the candidates only; none for the whole index."""
    if candidates.collection is not None:
        return [{"term": {"collection": candidates.collection}}]
    if candidates.doc_ids is None:
        return []
    ids = sorted(candidates.doc_ids)
    clauses = [
        {"terms": {"doc_id": ids[at : at + MAX_TERMS]}} for at in range(0, len(ids), MAX_TERMS)
    ]
    return clauses if len(clauses) == 1 else [{"bool": {"should": clauses}}]


def searched(parts: Iterable[WeightedText]) -> list[WeightedText]:
    """Return what is searched of `parts`: all of it, or its first `MAX_TOKENS` tokens."""
    fitting: list[WeightedText] = []
    left = MAX_TOKENS
    for part in parts:
        text, tokens = cut_tokens(part.text, at_most=left)
        left -= tokens
        if tokens or not fitting:
            fitting.append(WeightedText(text, part.weight))
    return fitting


def is_cut(parts: Sequence[WeightedText]) -> bool:
    """Return whether `parts` hold more than what is searched of them."""
    limit = MAX_TOKENS + 1
    if sum(len(part.text) for part in parts) < limit:  # nearly always: a token has a character
        return False
    return sum(cut_tokens(part.text, at_most=limit)[1] for part in parts) > MAX_TOKENS


def _match(field: str, words: str, *, boost: float) -> JSON:
    match: JSON = {"query": words}
    return {"match": {field: match if boost == 1 else {**match, "boost": boost}}}


def bm25_body(
    parts: Sequence[WeightedText],
    candidates: Candidates,
    *,
    depth: int,
    title_weight: float,
    field: Literal["text", "searched", "outline"] = "text",
) -> JSON:
    """
    Return BM25 of `parts` inside the candidates, ids and scores only; a score is the weighted sum.

    What is `searched` of them is matched as plain words; no operator of any query language is
    read from it. With a `title_weight`, a passage is also found by its document's title, whose
    score is added.

    Args:
        field: what is matched; the last two exist where passages are searched in plain form.
    """
    wanted: list[JSON] = []
    for part in searched(parts):
        wanted.append(_match(field, part.text, boost=part.weight))
        if title_weight:
            wanted.append(_match("title", part.text, boost=part.weight * title_weight))
    query = {
        "bool": {
            "should": wanted,
            "minimum_should_match": 1,
            "filter": candidate_filter(candidates),
        }
    }
    return _ids_only(query, depth, candidates)


def exact_body(vector: SearchVector, candidates: Candidates, *, depth: int) -> JSON:
    """
    Return every candidate passage scored against `vector` (unit length), no graph used.

    Scores are 1 + dot for dot > 0, else 1 / (1 - dot): order is that of the cosine.
    """
    filters = candidate_filter(candidates)
    query: JSON = {
        "script_score": {
            "query": {"bool": {"filter": filters}} if filters else {"match_all": {}},
            "script": {
                "lang": "knn",
                "source": "knn_score",
                "params": {
                    "field": "vector",
                    "query_value": vector.tolist(),
                    "space_type": "innerproduct",
                },
            },
        }
    }
    return _ids_only(query, depth, candidates)


def hnsw_body(vector: SearchVector, candidates: Candidates, *, depth: int, ef_search: int) -> JSON:
    """
    Return nearest neighbours of `vector` (unit length) by the graph; scores as in `exact_body`.

    The filter sits inside the knn clause: outside it, the engine filters after the search.
    """
    knn: JSON = {
        "vector": vector.tolist(),
        "k": depth,
        "method_parameters": {"ef_search": max(ef_search, depth)},
    }
    filters = candidate_filter(candidates)
    if filters:
        knn["filter"] = filters[0]
    return _ids_only({"knn": {"vector": knn}}, depth, candidates)


def with_text(body: JSON, *, depth: int) -> JSON:
    """Return the same search for the best `depth` passages, whole."""
    return {**body, "size": depth, "_source": PASSAGES}


def document_body(doc_id: DocId, *, depth: int) -> JSON:
    """Return the first `depth` passages of one document, in document order; nothing is scored."""
    query = {"bool": {"filter": [{"term": {"doc_id": doc_id}}]}}
    return {**_ids_only(query, depth), "sort": [{"ordinal": "asc"}]}


def passages_body(candidates: Candidates, *, size: int, after: str | None = None) -> JSON:
    """
    Return a page of the candidates' passages, whole, by passage id; `after` is the last page's end.
    """
    query = {"bool": {"filter": candidate_filter(candidates)}}
    page = {
        "size": size,
        "_source": PASSAGES,
        "track_total_hits": False,
        "query": query,
        "sort": [{"passage_id": "asc"}],
    }
    return page if after is None else {**page, "search_after": [after]}


def parts_body(
    candidates: Candidates,
    *,
    size: int,
    among: IdFilter | None = None,
    after: str | None = None,
) -> JSON:
    """
    Return a page of the candidates' unit parts, by document; `after` is the last page's end.

    For the index of units.

    Args:
        among: a field and its values (at most `MAX_TERMS`); None: all of the candidates'.
    """
    filters = candidate_filter(candidates)
    if among is not None:
        field, values = among
        filters.append({"terms": {field: sorted(values)}})
    page: JSON = {
        "size": size,
        "track_total_hits": False,
        "query": {"bool": {"filter": filters}},
        "sort": [{"part_id": "asc"}],
    }
    return page if after is None else {**page, "search_after": [after]}


def passages_of_body(
    doc_ids: Sequence[DocId], candidates: Candidates, *, size: int, after: str | None = None
) -> JSON:
    """Return a page of all passages of some of the candidates, whole, by passage id."""
    page = passages_body(candidates, size=size, after=after)
    page["query"]["bool"]["filter"].append({"terms": {"doc_id": sorted(doc_ids)}})
    return page


def documents_body(
    text: str, candidates: Candidates, *, size: int, after: Sequence[Any] | None
) -> JSON:
    """
    Return a page of documents by title or by the beginning of their id; with no text, all by id.

    For the index of documents; `after` is the sort key of the last one of the page before.
    """
    query: JSON = {"bool": {"filter": candidate_filter(candidates)}}
    sort: list[JSON] = [{"doc_id": "asc"}]
    if text:
        words = {
            "query": " ".join(p.text for p in searched([WeightedText(text, 1.0)])),
            "operator": "and",
        }
        either: list[JSON] = [{"match_bool_prefix": {"title": words}}]
        if len(text.encode("utf-8", "surrogatepass")) <= MAX_ID_BYTES:
            either.append({"prefix": {"doc_id": text}})
        query["bool"] |= {"should": either, "minimum_should_match": 1}
        sort = [{"_score": "desc"}, *sort]
    page = {
        "size": size,
        "_source": ["doc_id", "title", "date", "collection"],
        "track_total_hits": False,
        "query": query,
        "sort": sort,
    }
    return page if after is None else {**page, "search_after": list(after)}


def ids_body(passage_ids: Sequence[PassageId]) -> JSON:
    """Return the passages of these ids, whole, in no order."""
    query = {"bool": {"filter": [{"terms": {"passage_id": sorted(passage_ids)}}]}}
    return {
        "size": len(passage_ids),
        "_source": PASSAGES,
        "track_total_hits": False,
        "query": query,
        "sort": ["_doc"],
    }


def ordinals_body(doc_id: DocId, ordinals: Iterable[int]) -> JSON:
    """Return the passages of one document at `ordinals`, whole."""
    wanted = sorted(ordinals)
    clauses = [{"term": {"doc_id": doc_id}}, {"terms": {"ordinal": wanted}}]
    body = _ids_only({"bool": {"filter": clauses}}, len(wanted))
    return {**body, "_source": PASSAGES, "sort": [{"ordinal": "asc"}]}


def _ids_only(query: JSON, depth: int, candidates: Candidates | None = None) -> JSON:
    """Return ids and scores and, where candidates are a collection, each hit's, for closure."""
    body: JSON = {
        "size": depth,
        "_source": False,
        "track_total_hits": False,
        "query": query,
        "sort": BY_SCORE,
    }
    if candidates is not None and candidates.collection is not None:
        body["docvalue_fields"] = ["collection"]
    return body
