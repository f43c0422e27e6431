"""
Queries with their candidates, and lists of document ids, from files.

Query files are small and read whole; the first thing wrong with one is an error, for a query left
out in silence would be missing from a run.
"""

from pathlib import Path

import orjson

from ccrag.corpus.dialogues import Dialogue, dialogue_of, marked_dialogue
from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.fields import (
    RecordFields,
    as_id,
    as_ids,
    as_text,
    collection_of,
    first_field,
    required_field,
)
from ccrag.corpus.packed import DEFAULT_SIZES, read_whole
from ccrag.corpus.readers.record_lines import decode
from ccrag.corpus.readers.registry import has_cells
from ccrag.corpus.readers.source import Columns
from ccrag.corpus.records import read_records
from ccrag.errors import EmptyCandidatesError, InputError
from ccrag.types import Candidates, DocId, Query, QueryId

QUERY_ID_NAMES = ("query_id", "qid", "id", "narrative_id", "topic_id", "task_id", "_id")
_TEXT_NAMES = ("query", "question", "narrative", "text", "title")
_TABLE_COLUMNS = Columns((*QUERY_ID_NAMES, *_TEXT_NAMES), ("query_id", "query"))
"""Tables of queries without a header, as TREC gives its topics."""
_CANDIDATE_NAMES = ("doc_ids", "candidates", "docids", "documents")


def read_queries(
    path: Path, *, whole_index: bool = False, collection: str | None = None
) -> list[Query]:
    """
    Return the queries of a JSONL, JSON, CSV or TSV file, in order; a dialogue's question with its
    turns.

    A TSV file without a header holds an id and a text a line, as TREC gives its topics.

    Args:
        whole_index: a query that names no candidates may be answered from the whole index; one
            that names some is answered from them alone, and an empty list is still an error.
        collection: the candidates of a query that names none.

    Raises:
        EmptyCandidatesError: a query names no candidates.
        InputError: an unusable record, a repeated query id, or no query at all.
    """
    in_cells = has_cells(path)
    otherwise = Candidates.whole_index() if whole_index else None
    if collection is not None:
        otherwise = Candidates.of_collection(collection)
    queries: list[Query] = []
    places: dict[QueryId, RecordPlace] = {}
    for number, fields in read_records(path, columns=_TABLE_COLUMNS):
        place = RecordPlace(path, number)
        try:
            query = _query(fields, in_cells=in_cells, otherwise=otherwise)
        except InputError as error:
            raise at(place, error) from None
        first = places.setdefault(query.query_id, place)
        if first is not place:
            raise at(place, InputError(f"query {query.query_id!r} again, first at {first}"))
        queries.append(query)
    if not queries:
        raise InputError("no queries in this file", path=path)
    return queries


def _query(
    fields: RecordFields | RecordError, *, in_cells: bool, otherwise: Candidates | None
) -> Query:
    if isinstance(fields, RecordError):
        raise fields
    if in_cells:
        fields = {name: cell for name, cell in fields.items() if cell != ""}
    id_name, id_value = required_field(fields, QUERY_ID_NAMES, what="id")
    query_id = as_id(id_value, field=id_name)
    turns, text = dialogue_of(fields) or _question(fields)
    if not text.strip():
        raise InputError(f"query {query_id!r} has an empty text")
    candidates = _candidates(fields, query_id, in_cells=in_cells) or otherwise
    if candidates is None:
        raise EmptyCandidatesError(query_id)
    return Query(query_id, text, candidates, turns)


def _question(fields: RecordFields) -> Dialogue:
    name, value = required_field(fields, _TEXT_NAMES, what="query text")
    return marked_dialogue(as_text(value, field=name), field=name)


def _candidates(fields: RecordFields, query_id: QueryId, *, in_cells: bool) -> Candidates | None:
    """Return the documents a query lists, else the collection it names, else None."""
    found = first_field(fields, _CANDIDATE_NAMES)
    if found is None:
        collection = collection_of(fields)
        return None if collection is None else Candidates.of_collection(collection)
    doc_ids = as_ids(found[1], field=found[0], in_cell=in_cells)
    return Candidates.of(doc_ids, query_id=query_id)


def read_doc_ids(path: Path) -> tuple[DocId, ...]:
    """
    Return document ids from a file, one a line or as a JSON list; repeated ones dropped, order
    kept.

    Raises:
        InputError: the file cannot be read, holds no id, or something that is not one.
    """
    data = read_whole(path, sizes=DEFAULT_SIZES, limit="json")
    try:
        text = decode(data, path=path)
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
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    ids = (as_id(line, field=f"line {number}") for number, line in lines if line)
    return tuple(dict.fromkeys(ids))
