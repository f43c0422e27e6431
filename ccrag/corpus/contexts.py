"""Contexts that come with a dialogue: passages to answer from, in their order, without a search."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ccrag.chunking.windows import whole_passages
from ccrag.corpus.faults import RecordError, RecordPlace, at, json_type
from ccrag.corpus.fields import RecordFields, as_id, as_text, required_field
from ccrag.corpus.queries import QUERY_ID_NAMES
from ccrag.corpus.records import read_records
from ccrag.errors import InputError
from ccrag.types import JSON, Document, Passage, QueryId


@dataclass(frozen=True, slots=True)
class Contexts:
    """The contexts that came with one task."""

    records: tuple[JSON, ...]
    """The documents as they came."""
    passages: tuple[Passage, ...]
    """Each whole, one per document; repeated ones and texts of white space are left out."""


def read_contexts(path: Path) -> dict[QueryId, Contexts]:
    """
    Return the contexts of each query in a file of MTRAGEval tasks in form B.

    Raises:
        InputError: a record without contexts, or a context without id or text.
    """
    found: dict[QueryId, Contexts] = {}
    for number, fields in read_records(path):
        try:
            if isinstance(fields, RecordError):
                raise fields
            name, value = required_field(fields, QUERY_ID_NAMES, what="id")
            found[as_id(value, field=name)] = _contexts(fields)
        except InputError as error:
            raise at(RecordPlace(path, number), error) from None
    return found


def _contexts(fields: RecordFields) -> Contexts:
    given = fields.get("contexts")
    if not isinstance(given, list):
        got = "nothing" if given is None else json_type(given)
        raise RecordError("field", f"contexts must be a list of passages to answer from, got {got}")
    documents: dict[str, Document] = {}
    for document in _documents(given):
        documents.setdefault(document.doc_id, document)
    passages = [passage for held in documents.values() for passage in whole_passages(held)]
    return Contexts(tuple(given), tuple(passages))


def _documents(given: list[object]) -> Iterator[Document]:
    for position, context in enumerate(given):
        within = f"contexts[{position}]"
        if not isinstance(context, dict):
            raise RecordError("field", f"{within} must be an object, got {json_type(context)}")
        doc_id = as_id(context.get("document_id"), field=f"{within}.document_id")
        text = as_text(context.get("text"), field=f"{within}.text")
        title = as_text(context.get("title") or "", field=f"{within}.title")
        yield Document(doc_id, title, text)
