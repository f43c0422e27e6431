"""The `metadata` object that TREC RAG 2025 and LongEval share."""

from collections.abc import Iterator, Mapping, Sequence

from ccrag.evaluation.validate.shape import Kinds, at, shape_problems
from ccrag.types import Query, QueryId

ID_KEY = "metadata.narrative_id"
CONSTANT_KEYS = ("metadata.team_id", "metadata.run_id")
TYPES = ("automatic", "manual")
KINDS: Kinds = {
    "team_id": "a non-empty string",
    "run_id": "a non-empty string",
    "narrative_id": "a non-empty string or a whole number",
    "narrative": "a non-empty string",
}
OTHER_IDS = ("topic_id", "request_id")
"""Further names under which readers look for the query's id; a contradiction costs the file."""

QueriesById = Mapping[QueryId, Query]


def by_id(queries: Sequence[Query] | None) -> QueriesById | None:
    """Return the queries by id; None stays None."""
    return None if queries is None else {query.query_id: query for query in queries}


def metadata_problems(record: Mapping[str, object], queries: QueriesById | None) -> Iterator[str]:
    """Yield messages about keys, types, the ids' agreement and the narrative's wording."""
    metadata = record.get("metadata")
    yield from shape_problems(metadata, KINDS, within="metadata")
    if at(metadata, "type") not in TYPES:
        yield f"metadata.type must be {' or '.join(TYPES)}, got {at(metadata, 'type')!r}"
    for name in OTHER_IDS:
        other = at(metadata, name)
        if other is not None and other != (narrative_id := at(metadata, "narrative_id")):
            yield f"metadata.{name} {other!r} is not metadata.narrative_id {narrative_id!r}"
    yield from wording_problems(record, "metadata.narrative", ID_KEY, queries)


def wording_problems(
    record: Mapping[str, object], text_key: str, id_key: str, queries: QueriesById | None
) -> Iterator[str]:
    """Yield a message when the record words its query otherwise than the queries do."""
    query = asked(record, id_key, queries)
    text = at(record, text_key)
    if query is not None and isinstance(text, str) and text != query.text:
        yield f"{text_key} differs from the query's text {query.text!r}"


def asked(record: Mapping[str, object], id_key: str, queries: QueriesById | None) -> Query | None:
    """Return the query a record answers; None when it, or all queries, are unknown."""
    return None if queries is None else queries.get(str(at(record, id_key)))
