"""Queries and lists of document ids from files."""

import json
from pathlib import Path

import pytest

from ccrag.corpus.queries import read_doc_ids, read_queries
from ccrag.errors import EmptyCandidatesError, InputError

DEVELOPMENT = Path(__file__).parents[4] / "shared" / "data" / "longeval-rag" / "queries.jsonl"


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "q.jsonl"


@pytest.mark.parametrize("id_name", ["query_id", "qid", "id", "narrative_id", "topic_id"])
@pytest.mark.parametrize("text_name", ["query", "question", "narrative", "text", "title"])
@pytest.mark.parametrize("list_name", ["doc_ids", "candidates", "docids", "documents"])
def test_names(path: Path, id_name: str, text_name: str, list_name: str) -> None:
    (query,) = read_queries(write(path, {id_name: 7, text_name: " why? ", list_name: ["d"]}))
    assert (query.query_id, query.text, query.candidates.doc_ids) == ("7", " why? ", ("d",))


def test_candidates_of_all_forms_are_deduped_in_order(path: Path) -> None:
    write(
        path, {"id": "q", "text": "t", "documents": ["b", 1, {"doc_id": "a"}, "1", {"id": 2}, "b"]}
    )
    assert read_queries(path)[0].candidates.doc_ids == ("b", "1", "a", "2")


@pytest.mark.parametrize(
    ("name", "comma", "cell"),
    [
        ("q.csv", ",", "a b c a"),
        ("q.csv", ",", "a;b; c"),
        ("q.csv", ",", '"a,b,c"'),
        ("q.tsv", "\t", "a b c a"),
        ("q.tsv", "\t", "a;b; c"),
        ("q.tsv", "\t", "a,b,c"),
    ],
)
def test_candidates_in_a_cell(tmp_path: Path, name: str, comma: str, cell: str) -> None:
    path = tmp_path / name
    path.write_text(f"qid,query,doc_ids\n1,what,{cell}\n".replace(",", comma, 4))
    path.write_text(path.read_text() if comma == "," else f"qid\tquery\tdoc_ids\n1\twhat\t{cell}\n")
    assert read_queries(path)[0].candidates.doc_ids == ("a", "b", "c")


def test_queries_stay_in_the_order_of_the_file(path: Path) -> None:
    write(path, *({"id": q, "text": "t", "doc_ids": ["d"]} for q in "cab"))
    assert [query.query_id for query in read_queries(path)] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"query": "t", "doc_ids": ["d"]}, "no id; expected one of query_id, qid"),
        ({"id": 1.5, "query": "t", "doc_ids": ["d"]}, "id must be a string or a whole number"),
        ({"id": "q", "doc_ids": ["d"]}, "no query text; expected one of query, question"),
        ({"id": "q", "query": " ", "doc_ids": ["d"]}, "query 'q' has an empty text"),
        ({"id": "q", "query": ["t"], "doc_ids": ["d"]}, "query must be a string, got a list"),
        ({"id": "q", "query": "t", "doc_ids": "d e"}, "doc_ids must be a list of ids, got a str"),
        ({"id": "q", "query": "t", "doc_ids": [None]}, "an item of doc_ids must be .* got null"),
        ({"id": "q", "query": "t", "doc_ids": [""]}, "an item of doc_ids is empty"),
        ({"id": "first", "query": "t", "doc_ids": ["d"]}, r"'first' again, first at .*jsonl:1"),
        ("text", "expected a JSON object, got a string"),
    ],
)
def test_unusable_queries(path: Path, record: object, message: str) -> None:
    write(path, {"id": "first", "query": "t", "doc_ids": ["d"]}, record)
    with pytest.raises(InputError, match=rf"q\.jsonl:2: .*{message}") as raised:
        read_queries(path)
    assert (raised.value.path, raised.value.line) == (path, 2)


@pytest.mark.parametrize("candidates", [{}, {"doc_ids": None}, {"doc_ids": []}])
def test_a_query_without_candidates_is_an_error_with_its_place(
    path: Path, candidates: dict[str, object]
) -> None:
    write(path, {"id": "q", "query": "t", **candidates})
    with pytest.raises(
        EmptyCandidatesError, match=r"q\.jsonl:1: query 'q' has no candidate"
    ) as raised:
        read_queries(path)
    assert (raised.value.query_id, raised.value.path, raised.value.line) == ("q", path, 1)


def test_the_whole_index_is_said_explicitly(path: Path) -> None:
    write(path, {"id": "q", "query": "t"}, {"id": "r", "query": "t", "doc_ids": ["d"]})
    whole, own = read_queries(path, whole_index=True)
    assert whole.candidates.doc_ids is None
    assert own.candidates.doc_ids == ("d",)


def test_an_empty_list_never_opens_the_whole_index(path: Path) -> None:
    with pytest.raises(EmptyCandidatesError):
        read_queries(write(path, {"id": "q", "query": "t", "doc_ids": []}), whole_index=True)


def test_an_empty_cell_is_no_list(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("id,query,doc_ids\nq,t,\n")
    assert read_queries(path, whole_index=True)[0].candidates.doc_ids is None
    with pytest.raises(EmptyCandidatesError):
        read_queries(path)


@pytest.mark.parametrize(
    ("name", "message"), [("q.jsonl", "no queries"), ("q.md", r"cannot read \.md; use \.jsonl")]
)
def test_unusable_files(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=message):
        read_queries(tmp_path / name)


@pytest.mark.skipif(
    not DEVELOPMENT.exists(), reason="needs the development data beside the checkout"
)
def test_the_development_queries() -> None:
    queries = read_queries(DEVELOPMENT)
    assert [len(query.candidates.doc_ids or ()) for query in queries] == [10] * 7


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("b\n a \n\nb\nc d\r\n", ("b", "a", "c d")),
        ("\ufeffone", ("one",)),
        (' ["b", 1, "b"]', ("b", "1")),
    ],
    ids=["lines", "byte order mark", "list"],
)
def test_doc_ids(tmp_path: Path, content: str, expected: tuple[str, ...]) -> None:
    path = tmp_path / "ids"
    path.write_text(content)
    assert read_doc_ids(path) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no document ids"),
        (b"[]", "holds no document ids"),
        (b"[1,", "not a valid JSON list"),
        (b"[1.5]", "an item of the list must be a string or a whole number"),
        (b"a\n\xff", "not UTF-8"),
        (b"a\nb\x01\n", r"line 2 'b\\x01' holds a control character"),
    ],
)
def test_unusable_doc_ids(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "ids"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as raised:
        read_doc_ids(path)
    assert raised.value.path == path
