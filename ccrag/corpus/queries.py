"""
Queries with their candidates, and lists of document ids, from files.

Query files are small and read whole; the first thing wrong with one is an error, for a query left
out in silence would be missing from a run.
"""

from pathlib import Path

import orjson

from ccrag.corpus.fields import (
    Fields,
    as_id,
    as_ids,
    as_text,
    first_field,
    required_field,
)
from ccrag.corpus.records import (
    TABLE_SUFFIXES,
    Place,
    RecordError,
    at,
    data_suffix,
    decode,
    open_data,
    read_records,
    without_bom,
)
from ccrag.errors import EmptyCandidatesError, InputError
from ccrag.types import Candidates, DocId, Query, QueryId

_QUERY_ID_NAMES = ("query_id", "qid", "id", "narrative_id", "topic_id")
_TEXT_NAMES = ("query", "question", "narrative", "text", "title")
_CANDIDATE_NAMES = ("doc_ids", "candidates", "docids", "documents")


def read_queries(path: Path, *, whole_index: bool = False) -> list[Query]:
    """
    The queries of a JSONL, JSON, CSV or TSV file, in order.

    Args:
        whole_index: a query that names no candidates may be answered from the whole index; one
            that does keeps to them, and an empty list is an error still.

    Raises:
        EmptyCandidatesError: a query names no candidates.
        InputError: an unusable record, a repeated query id, or no query at all.
    """
    in_cells = data_suffix(path) in TABLE_SUFFIXES
    queries: list[Query] = []
    places: dict[QueryId, Place] = {}
    for number, fields in read_records(path):
        place = Place(path, number)
        try:
            query = _query(fields, in_cells=in_cells, whole_index=whole_index)
        except InputError as error:
            raise at(place, error) from None
        first = places.setdefault(query.query_id, place)
        if first is not place:
            raise at(place, InputError(f"query {query.query_id!r} again, first at {first}"))
        queries.append(query)
    if not queries:
        raise InputError("no queries in this file", path=path)
    return queries


def _query(fields: Fields | RecordError, *, in_cells: bool, whole_index: bool) -> Query:
    if isinstance(fields, RecordError):
        raise fields
    if in_cells:
        fields = {name: cell for name, cell in fields.items() if cell != ""}
    id_name, id_value = required_field(fields, _QUERY_ID_NAMES, what="id")
    query_id = as_id(id_value, field=id_name)
    text_name, text_value = required_field(fields, _TEXT_NAMES, what="query text")
    text = as_text(text_value, field=text_name)
    if not text.strip():
        raise InputError(f"query {query_id!r} has an empty text")
    candidates = _candidates(fields, query_id, in_cells=in_cells, whole_index=whole_index)
    return Query(query_id, text, candidates)


def _candidates(
    fields: Fields, query_id: QueryId, *, in_cells: bool, whole_index: bool
) -> Candidates:
    found = first_field(fields, _CANDIDATE_NAMES)
    if found is None:
        if whole_index:
            return Candidates.whole_index()
        raise EmptyCandidatesError(query_id)
    doc_ids = as_ids(found[1], field=found[0], in_cell=in_cells)
    return Candidates.of(doc_ids, query_id=query_id)


def read_doc_ids(path: Path) -> tuple[DocId, ...]:
    """
    Document ids from a file, one a line or as a JSON list; repeated ones dropped, order kept.

    Raises:
        InputError: the file cannot be read, holds no id, or something that is not one.
    """
    with open_data(path) as file:
        data = without_bom(file.read())
    try:
        text = decode(data)
        doc_ids = _ids_in_list(text) if text.lstrip().startswith("[") else _ids_in_lines(text)
    except RecordError as error:
        raise InputError(error.problem, path=path) from error
    if not doc_ids:
        raise InputError("holds no document ids; expected one a line, or a JSON list", path=path)
    return doc_ids


def _ids_in_list(text: str) -> tuple[DocId, ...]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RecordError("syntax", f"not a valid JSON list: {error.msg}") from error
    return as_ids(value, field="the list", in_cell=False)


def _ids_in_lines(text: str) -> tuple[DocId, ...]:
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    ids = (as_id(line, field=f"line {number}") for number, line in lines if line)
    return tuple(dict.fromkeys(ids))
