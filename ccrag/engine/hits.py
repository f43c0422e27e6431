"""
Responses to rankings and passages. Pure, and the one place where closure is checked.

Whatever comes back for a query passes through here, so a document outside its candidates cannot
get further; that would be a bug, and raises.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ccrag.errors import CandidateLeakError, InvariantError
from ccrag.types import (
    JSON,
    Candidates,
    DocId,
    Hit,
    Passage,
    PassageId,
    Query,
    Ranking,
    Span,
    UnitPart,
    doc_id_of,
)

PassageSection = tuple[DocId, str | None]
"""A document and the collection it lies in, if any."""


def parse_ranking(query: Query, stage: str, response: Mapping[str, Any]) -> Ranking:
    """
    Return the scored hits of one search.

    Raises:
        CandidateLeakError: a hit's document is not one of the query's candidates.
    """
    found = response["hits"]["hits"]
    hits = [Hit(hit["_id"], doc_id_of(hit["_id"]), float(hit["_score"])) for hit in found]
    check_closure(query.query_id, query.candidates, map(_place, found))
    return Ranking.of(query.query_id, stage, hits)


def parse_order(query: Query, stage: str, responses: Iterable[Mapping[str, Any]]) -> Ranking:
    """
    Return the hits of several unscored searches, one after the other; scores fall as 1 / rank.

    Raises:
        CandidateLeakError: a hit's document is not one of the query's candidates.
    """
    found = [hit for response in responses for hit in response["hits"]["hits"]]
    check_closure(query.query_id, query.candidates, map(_place, found))
    ids = [hit["_id"] for hit in found]
    hits = [Hit(pid, doc_id_of(pid), 1 / rank) for rank, pid in enumerate(ids, start=1)]
    return Ranking.of(query.query_id, stage, hits)


def parse_passages(query: Query, response: Mapping[str, Any]) -> list[Passage]:
    """
    Return the passages of a search that asked for `bodies.PASSAGES`, in the response's order.

    Raises:
        CandidateLeakError: a passage's document is not one of the query's candidates.
    """
    passages = [parse_passage(hit["_id"], hit["_source"]) for hit in response["hits"]["hits"]]
    places = ((passage.doc_id, passage.collection) for passage in passages)
    check_closure(query.query_id, query.candidates, places)
    return passages


def parse_parts(query: Query, responses: Iterable[Mapping[str, Any]]) -> list[UnitPart]:
    """
    Return the unit parts of searches for `bodies.parts_body`, in their order; links between
    readable ones.

    A link to what is no candidate says that such a document exists, so it ends here. Where the
    candidates are a collection, only links among the parts themselves are known to be readable.

    Raises:
        CandidateLeakError: a part's document is not one of the query's candidates.
    """
    sources = [hit["_source"] for response in responses for hit in response["hits"]["hits"]]
    candidates = query.candidates
    check_closure(query.query_id, candidates, ((s["doc_id"], s.get("collection")) for s in sources))
    parts = [_parse_part(source) for source in sources]
    if parts and candidates.collection is not None:
        candidates = Candidates.of((part.doc_id for part in parts), query_id=query.query_id)
    return [
        replace(part, links=tuple(link for link in part.links if link in candidates))
        for part in parts
    ]


def check_closure(query_id: str, candidates: Candidates, places: Iterable[PassageSection]) -> None:
    """
    Let only candidates through.

    Raises:
        CandidateLeakError: a document at one of `places` is not a candidate.
    """
    leaked = {
        doc_id
        for doc_id, collection in places
        if not candidates.admits(doc_id, collection=collection)
    }
    if leaked:
        raise CandidateLeakError(query_id, leaked)


def _place(hit: Mapping[str, Any]) -> PassageSection:
    """Return a hit's document and, where the search asked for it, its collection."""
    [collection] = hit.get("fields", {}).get("collection", (None,))
    return doc_id_of(hit["_id"]), collection


def parse_passage(passage_id: PassageId, source: Mapping[str, Any]) -> Passage:
    """
    Return a passage from its stored fields.

    Raises:
        InvariantError: the stored document id is not the one in the passage id.
    """
    if source["doc_id"] != doc_id_of(passage_id):
        raise InvariantError(f"passage {passage_id!r} is stored for {source['doc_id']!r}")
    bounds = source["sentences"]
    return Passage(
        passage_id=passage_id,
        doc_id=source["doc_id"],
        section=tuple(source["section"]),
        ordinal=source["ordinal"],
        start=source["start"],
        end=source["end"],
        sentences=tuple(map(Span, bounds[:-1], bounds[1:])),
        text=source["text"],
        title=source["title"],
        date=source.get("date"),
        edges=source["edges"],
        collection=source.get("collection"),
        page=source.get("page"),
    )


def _parse_part(source: Mapping[str, Any]) -> UnitPart:
    return UnitPart(
        unit_id=source["unit_id"],
        doc_id=source["doc_id"],
        ordinal=source["ordinal"],
        start=source["start"],
        end=source["end"],
        tokens=source["tokens"],
        title=source["title"],
        date=source.get("date"),
        version_of=source.get("version_of"),
        version=source.get("version_name"),
        links=tuple(source["links"]),
    )


def part_id(part: UnitPart) -> str:
    """Return what a part is stored under: parts of one document start at different places."""
    return f"{part.doc_id}@{part.start}"


def part_source(part: UnitPart, *, collection: str | None) -> JSON:
    """
    Return the stored fields of a part, and its document's collection for the candidate filter.
    """
    return {
        "part_id": part_id(part),
        "unit_id": part.unit_id,
        "doc_id": part.doc_id,
        "collection": collection,
        "ordinal": part.ordinal,
        "start": part.start,
        "end": part.end,
        "tokens": part.tokens,
        "title": part.title,
        "date": part.date,
        "version_of": part.version_of,
        "version_name": part.version,  # the bulk client takes "version" for its own
        "links": part.links,
    }


def passage_source(passage: Passage) -> JSON:
    """Return the stored fields of a passage; the reverse of `parse_passage`."""
    return {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "section": passage.section,
        "ordinal": passage.ordinal,
        "start": passage.start,
        "end": passage.end,
        "sentences": [passage.start, *(span.end for span in passage.sentences)],
        "title": passage.title,
        "date": passage.date,
        "edges": passage.edges,
        "collection": passage.collection,
        "page": passage.page,
        "text": passage.text,
    }
