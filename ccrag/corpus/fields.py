"""
The meaning of a record's fields, under the names they go by. Pure: no I/O, no settings.

One record in, one value out, or a `RecordError` that says which field is wrong; places are added by
the reader.
"""

import re
from collections.abc import Iterable, Mapping

from ccrag.corpus.faults import RecordError, json_type
from ccrag.corpus.readers.source import Columns
from ccrag.types import MAX_DOC_ID_BYTES, DocId, Document, TextSource

RecordFields = Mapping[str, object]

DOC_ID_NAMES = ("doc_id", "id", "pid", "docid", "_id", "document_id", "id_")
"""`pid` before `docid`: a passage of MS MARCO has both, its own id and that of its document."""
_ALWAYS_TEXT = ("fullText", "full_text", "text", "body", "contents")
_TEXT_IF_STRING = ("segment", "content", "page_content", "passage", "passage_text", "pageContent")
"""Names that stand for numbers and objects as well; only a string is a text."""
FULL_TEXT_NAMES = (*_ALWAYS_TEXT, *_TEXT_IF_STRING)
"""Where a document's text stands, the fullest first: of papers and pages, of the TREC collections
(`contents`, `segment`, `passage`), of LangChain (`page_content`) and Haystack (`content`)."""
_METADATA_NAMES = ("metadata", "meta")
_DATE_NAMES = ("publishedDate", "published", "date", "year", "timestamp")
_LINK_NAMES = ("links", "references")
COLLECTION_NAMES = ("Collection", "collection")
FIELD_NAMES = frozenset(
    (*DOC_ID_NAMES, *FULL_TEXT_NAMES, "abstract", "title", *_DATE_NAMES, *_LINK_NAMES)
) | frozenset((*COLLECTION_NAMES, "version_of", "version"))
"""Fields of a document's record that mean something here."""
TABLE_COLUMNS = Columns(FIELD_NAMES, ("id", "text"), ("docid", "url", "title", "body"))
"""Tables of documents without a header: MS MARCO's passages, and its documents."""
_MAX_SEEN = 20
_DATE = re.compile(r"\d{4}(?!\d)|(?:1[5-9]|20)\d{6}(?!\d)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BETWEEN_IDS = re.compile(r"[\s,;]+")


def first_field(fields: RecordFields, names: Iterable[str]) -> tuple[str, object] | None:
    """Return the first of `names` that the record holds, and its value; null counts as absent."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return name, value
    return None


def required_field(fields: RecordFields, names: Iterable[str], *, what: str) -> tuple[str, object]:
    """
    Return the first of `names` that the record holds, and its value.

    Raises:
        RecordError: the record holds none of them.
    """
    found = first_field(fields, names)
    if found is None:
        seen = ", ".join(list(fields)[:_MAX_SEEN]) or "none"
        problem = f"no {what}; expected one of {', '.join(names)}; the fields are: {seen}"
        raise RecordError("id" if what == "id" else "field", problem)
    return found


def as_id(value: object, *, field: str) -> DocId:
    """
    Return an id as a string, without blanks around it; whole numbers are ids too.

    Raises:
        RecordError: another type, empty, too long, or with control characters.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        got = f"the number {value}; put it in quotes" if type(value) is float else json_type(value)
        raise RecordError("id", f"{field} must be a string or a whole number, got {got}")
    value = value.strip(" ")
    if not value.strip():
        raise RecordError("id", f"{field} is empty")
    if not value.isprintable() and _CONTROL.search(value):
        raise RecordError("id", f"{field} {value[:60]!r} holds a control character or line break")
    if len(value) * 4 > MAX_DOC_ID_BYTES and len(value.encode()) > MAX_DOC_ID_BYTES:
        size = len(value.encode())
        raise RecordError(
            "id", f"{field} has {size} bytes, at most {MAX_DOC_ID_BYTES} fit an index"
        )
    return value


def as_text(value: object, *, field: str) -> str:
    """
    Return a text field as given.

    Raises:
        RecordError: not a string.
    """
    if not isinstance(value, str):
        raise RecordError("field", f"{field} must be a string, got {json_type(value)}")
    return value


def as_ids(value: object, *, field: str, in_cell: bool) -> tuple[DocId, ...]:
    """
    Return a list of ids, repeated ones dropped, order kept. An item may be an object that holds an
    id.

    Args:
        in_cell: the value comes from a table, where blanks, commas or semicolons separate ids.

    Raises:
        RecordError: not a list (or cell) of ids.
    """
    if in_cell and isinstance(value, str):
        ids = filter(None, _BETWEEN_IDS.split(value))
        return tuple(dict.fromkeys(as_id(item, field=f"an item of {field}") for item in ids))
    if not isinstance(value, list):
        raise RecordError("field", f"{field} must be a list of ids, got {json_type(value)}")
    return tuple(dict.fromkeys(_item_id(item, field=field) for item in value))


def _item_id(item: object, *, field: str) -> DocId:
    if isinstance(item, dict):
        name, value = required_field(item, DOC_ID_NAMES, what="id")
        return as_id(value, field=f"{field}: {name}")
    return as_id(item, field=f"an item of {field}")


def collection_of(fields: RecordFields) -> str | None:
    """
    Return the collection a record names, if any.

    Raises:
        RecordError: its name is not usable as an id.
    """
    found = first_field(fields, COLLECTION_NAMES)
    return None if found is None else as_id(found[1], field=found[0])


def _text(fields: RecordFields, title: str) -> tuple[str, TextSource]:
    """
    Return the first text that is not blank, full text before abstract before title, and its source.
    """
    for name in FULL_TEXT_NAMES:
        value = fields.get(name)
        if value is None or (name in _TEXT_IF_STRING and not isinstance(value, str)):
            continue
        text = as_text(value, field=name)
        if text and not text.isspace():
            return text, "full_text"
    abstract = fields.get("abstract")
    if abstract is not None and (text := as_text(abstract, field="abstract")).strip():
        return text, "abstract"
    return (title, "title") if title.strip() else ("", "none")


def _title(fields: RecordFields) -> str:
    """Return the record's title, else the one in its metadata, if that is a string."""
    title = fields.get("title")
    if title is None:
        nested = _nested(fields).get("title")
        return nested if isinstance(nested, str) else ""
    return as_text(title, field="title")


def _nested(fields: RecordFields) -> RecordFields:
    """
    Return the metadata of a record that holds it apart, as those of retrieval libraries do.

    No id is read from it: there it is that of a file, which many records share.
    """
    found = first_field(fields, _METADATA_NAMES)
    return found[1] if found is not None and isinstance(found[1], dict) else {}


def unwrapped(fields: RecordFields) -> RecordFields:
    """Return the fields of a search engine's dump (`_source`) with its `_id` beside them."""
    source = fields.get("_source")
    if not isinstance(source, dict):
        return fields
    return {"_id": fields["_id"], **source} if "_id" in fields else source


def _date(fields: RecordFields) -> str | None:
    """Return the date if it starts with a four-digit year, or is eight digits in a row."""
    found = first_field(fields, _DATE_NAMES) or first_field(_nested(fields), _DATE_NAMES)
    if found is None or type(found[1]) not in (str, int):
        return None
    date = str(found[1])
    return date if _DATE.match(date) else None


def _version_of(fields: RecordFields) -> str | None:
    value = fields.get("version_of")
    return None if value is None else as_id(value, field="version_of")


def _version(fields: RecordFields) -> str | None:
    """
    Return what the version is called, if it is a word or a number; the field may mean other things.
    """
    value = fields.get("version")
    return str(value) if type(value) in (str, int, float) and str(value).strip() else None


def document_of(fields: RecordFields, *, in_cells: bool = False) -> Document:
    """
    Return the document a record describes.

    Its text is the first of full text, abstract and title that is not blank, as given; if all are,
    it is empty and `text_source` says so.

    Args:
        in_cells: the record is a table's row: lists are cells, and empty cells are absent fields.

    Raises:
        RecordError: no id, a bad one, or a field of another type.
    """
    if in_cells:
        fields = {name: cell for name, cell in fields.items() if cell != ""}
    name, value = required_field(fields, DOC_ID_NAMES, what="id")
    title = _title(fields)
    text, source = _text(fields, title)
    links = first_field(fields, _LINK_NAMES)
    return Document(
        as_id(value, field=name),
        title,
        text,
        _date(fields),
        () if links is None else as_ids(links[1], field=links[0], in_cell=in_cells),
        source,
        _version_of(fields),
        _version(fields),
        collection_of(fields),
    )
