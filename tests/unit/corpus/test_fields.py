"""What the fields of a record mean."""

import pytest

from ccrag.corpus.fields import RecordFields, document_of
from ccrag.errors import InputError
from ccrag.types import MAX_DOC_ID_BYTES


@pytest.mark.parametrize("name", ["doc_id", "id", "docid", "_id", "document_id"])
def test_id_names(name: str) -> None:
    assert document_of({name: 5}).doc_id == "5"


def test_the_first_name_wins_and_null_is_absent() -> None:
    assert document_of({"id": "b", "doc_id": "a"}).doc_id == "a"
    assert document_of({"id": "b", "doc_id": None}).doc_id == "b"


@pytest.mark.parametrize(
    "value", ["a", "#", "é 1", "x" * MAX_DOC_ID_BYTES, "é" * 240, 0, -7, 10**18]
)
def test_usable_ids(value: object) -> None:
    assert document_of({"id": value}).doc_id == str(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, "id must be a string or a whole number, got true or false"),
        (1.0, "got the number 1.0; put it in quotes"),
        (["a"], "got a list"),
        ("", "id is empty"),
        (" \u00a0", "id is empty"),
        ("a\nb", "control character"),
        ("a\u2028b", "control character"),
        ("x" * (MAX_DOC_ID_BYTES + 1), f"has {MAX_DOC_ID_BYTES + 1} bytes, at most"),
        ("é" * 241, f"has {2 * 241} bytes"),
        (None, "no id; expected one of doc_id, id"),
    ],
)
def test_unusable_ids(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        document_of({"id": value})


@pytest.mark.parametrize(
    ("fields", "text", "source"),
    [
        ({"fullText": " F ", "abstract": "A"}, " F ", "full_text"),
        ({"full_text": "F", "text": "X"}, "F", "full_text"),
        ({"text": "X", "body": "B"}, "X", "full_text"),
        ({"body": "B", "contents": "C"}, "B", "full_text"),
        ({"contents": "C", "abstract": "A"}, "C", "full_text"),
        ({"fullText": " \n", "text": "X"}, "X", "full_text"),
        ({"fullText": "", "abstract": "A\n"}, "A\n", "abstract"),
        ({"fullText": None, "abstract": " ", "title": "T"}, "T", "title"),
        ({"text": " ", "title": ""}, "", "none"),
        ({}, "", "none"),
    ],
)
def test_text_and_where_it_came_from(fields: RecordFields, text: str, source: str) -> None:
    document = document_of({"id": 1, **fields})
    assert (document.text, document.text_source) == (text, source)


@pytest.mark.parametrize("name", ["title", "text", "fullText", "abstract"])
def test_texts_must_be_strings(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be a string, got a list"):
        document_of({"id": 1, name: ["x"]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020-05-01T00:00:00", "2020-05-01T00:00:00"),
        (1999, "1999"),
        ("20200131", "20200131"),
        ("1700000000", None),
        ("May 2020", None),
        (2020.5, None),
        (True, None),
        ({"year": 2020}, None),
    ],
)
def test_dates_start_with_a_year(value: object, expected: str | None) -> None:
    assert document_of({"id": 1, "date": value}).date == expected


@pytest.mark.parametrize("name", ["publishedDate", "published", "date", "year", "timestamp"])
def test_date_names(name: str) -> None:
    assert document_of({"id": 1, name: "2020"}).date == "2020"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ([], ()),
        (["b", 3, "b", {"id": 4}], ("b", "3", "4")),
    ],
)
def test_links(value: object, expected: tuple[str, ...]) -> None:
    assert document_of({"id": 1, "links": value}).links == expected
    assert document_of({"id": 1, "references": value}).links == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("b c", "links must be a list of ids, got a string"),
        ({"b": 1}, "got an object"),
        ([["b"]], "an item of links must be a string or a whole number, got a list"),
        ([{"name": "b"}], "no id; expected"),
        ([True], "got true or false"),
    ],
)
def test_links_of_unknown_shape(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        document_of({"id": 1, "links": value})


def test_cells() -> None:
    document = document_of(
        {"doc_id": "", "id": "1", "title": "", "links": "a b,c; d"}, in_cells=True
    )
    assert (document.doc_id, document.links) == ("1", ("a", "b", "c", "d"))


def test_a_version_is_a_label_and_version_of_an_id() -> None:
    document = document_of({"id": "a", "version_of": 7, "version": 2.1})
    assert (document.version_of, document.version) == ("7", "2.1")
    assert document_of({"id": "a", "version": ["x"]}).version is None
    assert document_of({"id": "a"}).version_of is None
    with pytest.raises(InputError, match="version_of must be a string or a whole number"):
        document_of({"id": "a", "version_of": ["x"]})
