"""Records as people have them: field names, tables, ids, encodings, and what of them is told."""

import json
from pathlib import Path

import pytest

from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.corpus.load import ErrorMode, LoadReport, find_files, read_documents
from ccrag.corpus.queries import read_doc_ids, read_queries
from ccrag.corpus.scan import CorpusScan
from ccrag.errors import InputError
from ccrag.types import Document

MARCO = {
    "docid": "msmarco_v2.1_doc_00_0#0_0",
    "url": "http://example.org",
    "title": "Pumps",
    "headings": "Pumps\nCooling",
    "segment": "The cooling pump runs at 3 bar.",
    "start_char": 0,
    "end_char": 31,
}


def write(path: Path, content: str | bytes | list[object]) -> Path:
    if isinstance(content, list):
        content = "".join(json.dumps(record) + "\n" for record in content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(
    path: Path, report: LoadReport | None = None, *, on_error: ErrorMode = "stop"
) -> list[Document]:
    report = report or LoadReport()
    return list(read_documents(find_files([path], report), report=report, on_error=on_error))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (MARCO, (MARCO["docid"], "Pumps", MARCO["segment"])),
        ({"id": 1, "content": "c", "meta": {"title": "T"}}, ("1", "T", "c")),
        (
            {"id": "p", "page_content": "c", "metadata": {"source": "a.pdf", "title": "T"}},
            ("p", "T", "c"),
        ),
        ({"pid": "p", "docid": "d", "passage": "x"}, ("p", "", "x")),
        ({"_id": "b", "title": "", "text": "t", "metadata": {}}, ("b", "", "t")),
        ({"id_": "n", "text": "t", "metadata": {"title": 7}}, ("n", "", "t")),
        ({"id": "r", "contents": "c"}, ("r", "", "c")),
        ({"id": "r", "body": "b", "text": " ", "abstract": "a"}, ("r", "", "b")),
        ({"id": "s", "segment": 7, "content": {"a": 1}, "passage": "x"}, ("s", "", "x")),
        ({"_index": "i", "_id": "e", "_source": {"title": "T", "body": "b"}}, ("e", "T", "b")),
    ],
)
def test_records_of_usual_collections_have_a_text(
    tmp_path: Path, record: dict[str, object], expected: tuple[str, str, str]
) -> None:
    [document] = load(write(tmp_path / "d.jsonl", [record]))
    assert (document.doc_id, document.title, document.text) == expected
    assert document.text_source == "full_text"


def test_a_json_file_may_be_one_record(tmp_path: Path) -> None:
    record = {"id": 1, "text": "words", "links": ["2"], "year": 2001}
    [document] = load(write(tmp_path / "d.json", json.dumps(record)))
    assert (document.text, document.links) == ("words", ("2",))


def test_a_collection_without_any_text_is_refused_with_its_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", [{"id": n, "txt": "words", "lang": "en"} for n in (1, 2)])
    with pytest.raises(
        InputError, match=r"none of 2 documents has a text; .*id, txt, lang.*segment"
    ):
        CorpusScan([path])
    with pytest.raises(InputError, match=r"none of 1 document has a text"):
        InMemoryCorpus([Document("a", "", "", text_source="none")])


def test_a_file_without_text_among_others_is_a_warning(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", [{"id": 1, "text": "words"}])
    bad = write(tmp_path / "b.jsonl", [{"id": 2, "words": "words"}])
    titles = write(tmp_path / "c.jsonl", [{"id": 3, "title": "T", "passage_body": "words"}])
    with CorpusScan([good, bad, titles]) as scan:
        first, second = scan.report.warnings
    assert first.startswith(f"{bad}: none of 1 document has a text; their fields: id, words")
    assert second == (
        f"{titles}: no record has a text but its title; fields not read: passage_body"
    )


def test_fields_that_are_not_read_are_counted(tmp_path: Path) -> None:
    report = LoadReport()
    load(write(tmp_path / "d.jsonl", [MARCO, {"id": 1, "text": "t", "url": "u"}]), report)
    assert report.unread_fields() == {"url": 2, "headings": 1, "start_char": 1, "end_char": 1}
    assert "fields not read: url 2, headings 1, start_char 1, end_char 1" in report.lines()


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ('id\ttext\n1\t"Quoted" start\n2\tnext\n', ['"Quoted" start', "next"]),
        ('id\ttext\n1\t"never closed\n2\tnext\n', ['"never closed', "next"]),
        ('id\ttext\r\n1\ta"b\r\n\r\n2\tx "y" z\r\n', ['a"b', 'x "y" z']),
        ("7\tA passage of MS MARCO.\n8\tAnother.\n", ["A passage of MS MARCO.", "Another."]),
        ("D1\thttp://x\tTitle\tBody.\n", ["Body."]),
        ("id\ttext\r1\told\r2\tMac\r", ["old", "Mac"]),
    ],
)
def test_tsv_is_not_quoted(tmp_path: Path, rows: str, texts: list[str]) -> None:
    assert [d.text for d in load(write(tmp_path / "d.tsv", rows))] == texts


def test_tsv_of_queries_is_not_quoted_and_needs_no_header(tmp_path: Path) -> None:
    with_header = write(tmp_path / "a.tsv", 'qid\tquery\n1\t"war and peace\n2\twho wrote "it"?\n')
    without = write(tmp_path / "b.tsv", '1\t"war and peace\n2\twho wrote "it"?\n')
    for path in (with_header, without):
        queries = read_queries(path, whole_index=True)
        assert [(q.query_id, q.text) for q in queries] == [
            ("1", '"war and peace'),
            ("2", 'who wrote "it"?'),
        ]


def test_a_tsv_quoted_as_csv_gives_a_warning(tmp_path: Path) -> None:
    report = LoadReport()
    path = write(tmp_path / "d.tsv", 'id\ttext\n1\tplain\n2\t"say ""so"""\n')
    assert load(path, report)[1].text == '"say ""so"""'
    assert report.warnings == [f"{path}:3: a cell is quoted as in CSV; in TSV the quotes are text"]


def test_a_tsv_row_with_a_line_break_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "d.tsv", 'id\ttext\n1\t"a\nb"\n')
    with pytest.raises(InputError, match=r"d\.tsv:3: 1 cells .* holds no tab and no line break"):
        load(path)


def test_rows_that_a_stray_quote_swallows_are_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'id,text\n1,"5 inch\n2,wide"\n3,x\n')
    report = LoadReport()
    assert [d.doc_id for d in load(path, report)] == ["1", "3"]
    assert report.warnings == [f"{path}:2: a quoted cell seems to take in the rows up to line 3"]
    never = write(tmp_path / "b.csv", 'id,text\n1,"5 inch\n2,x\n3,y\n')
    with pytest.raises(
        InputError, match=r"b\.csv:2: .*opened in line 2 takes in all lines up to 4"
    ):
        load(never)
    fine = write(tmp_path / "c.csv", 'id,text\n1,"a, b\nc, d"\n')
    report = LoadReport()
    assert load(fine, report)[0].text == "a, b\nc, d"
    assert report.warnings == []


def test_header_names_may_have_blanks_around_them(tmp_path: Path) -> None:
    assert load(write(tmp_path / "d.csv", "id, text\n1,x\n"))[0].text == "x"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.jsonl", "d.json", "d.ndjson"])
def test_records_may_be_utf_16_with_a_byte_order_mark(
    tmp_path: Path, name: str, encoding: str
) -> None:
    contents = {
        "d.csv": "id,text\r\n1,Größe\r\n2,次\r\n",
        "d.tsv": "id\ttext\r\n1\tGröße\r\n2\t次\r\n",
        "d.json": '[{"id": 1, "text": "Größe"}, {"id": 2, "text": "次"}]',
    }
    lines = '{"id": 1, "text": "Größe"}\n{"id": 2, "text": "次"}\n'
    path = write(tmp_path / name, contents.get(name, lines).encode(encoding))
    report = LoadReport()
    assert [d.text for d in load(path, report)] == ["Größe", "次"]
    assert report.with_bom == [path]


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.json"])
def test_another_encoding_is_named_with_its_conversion(tmp_path: Path, name: str) -> None:
    text = "Die Prüfung der größeren Pumpen ist für morgen vorgesehen."
    content = f"id,text\n1,{text}\n" if name == "d.csv" else f'[{{"id": 1, "text": "{text}"}}]'
    path = write(tmp_path / name, content.strip("[]" if name == "d.jsonl" else "").encode("cp1252"))
    expected = rf"looks like windows-1252, .*: iconv -f windows-1252 -t UTF-8 {name} > NEW"
    with pytest.raises(InputError, match=expected):
        load(path)


@pytest.mark.parametrize(
    "content",
    [
        '\ufeff{"id": 1, "text": "a"}\n\ufeff{"id": 2, "text": "b"}\n',
        '{"id": 1, "text": "a"}\r{"id": 2, "text": "b"}\r',
        '\n\n{"id": 1, "text": "a"}\n \t\n{"id": 2, "text": "b"}',
        '{"id": " 1", "text": "a"}\n{"id": "2  ", "text": "b"}',
    ],
    ids=["joined files", "CR only", "blank lines", "blanks around ids"],
)
def test_lines_are_read_however_they_are_parted(tmp_path: Path, content: str) -> None:
    documents = load(write(tmp_path / "d.jsonl", content))
    assert [(d.doc_id, d.text) for d in documents] == [("1", "a"), ("2", "b")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": 1, "text": "a", "text": "b"}', "the field 'text' occurs twice, with two values"),
        ('{"id": 1, "te\\u0078t": "a", "text": "b"}', "the field 'text' occurs twice"),
        ('{"id": 1, "text" : "a", "text" : "b"}', "the field 'text' occurs twice"),
        ('{"id": 1, "text": "a"} {"id": 2}', "not valid JSON"),
        ('{"id": 1e3, "text": "a"}', r"got the number 1000\.0; put it in quotes"),
        ('{"id": 123456789012345678901234567890}', "put it in quotes"),
        ('{"text": "a", "key": 7}', r"no id; .*the fields are: text, key"),
    ],
)
def test_what_a_parser_would_pass_over_is_an_error(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InputError, match=rf"d\.jsonl:1: .*{problem}"):
        load(write(tmp_path / "d.jsonl", line))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"id": 1, "text": "a"}, {"id": 2, "text": "b", "text": "c"}]', "record 2: the field"),
        ('[{"id": 1, "text": "a"}, {"id": 2, "id" : 3, "text": "b"}]', "record 2: the field 'id'"),
        ('{"id": 1, "text": "a", "text": "b"}', "record 1: the field"),
        ('{"docs": [{"id": 1, "text": "a"}], "docs": [{"id": 2}]}', "the field 'docs'"),
        ('[{"id": 1, "text": "\\ud800"}, {"id": 2, "text": "a", "text": "b"}]', "lone surrogate"),
    ],
)
def test_a_json_file_keeps_nothing_twice_in_silence(
    tmp_path: Path, content: str, problem: str
) -> None:
    path = write(tmp_path / "d.json", content)
    with pytest.raises(InputError, match=rf"d\.json: .*{problem}"):
        load(path)
    report = LoadReport()
    if "record 2" in problem:
        assert [document.doc_id for document in load(path, report, on_error="skip")] == ["1"]
        assert report.skipped == {"syntax": 1}


def test_a_json_file_may_name_a_field_twice_where_nothing_is_lost(tmp_path: Path) -> None:
    content = '[{"id": 1, "text": "the \\"text\\":", "m": {"text": 1}, "id": 1}]'
    assert load(write(tmp_path / "d.json", content))[0].text == 'the "text":'


def test_a_name_may_stand_twice_where_nothing_is_lost(tmp_path: Path) -> None:
    line = '{"id": 1, "text": "the \\"text\\"", "m": {"text": 1}, "id": 1}'
    assert load(write(tmp_path / "d.jsonl", line))[0].text == 'the "text"'


def test_ids_of_documents_in_memory_have_no_blanks_around_them() -> None:
    with pytest.raises(InputError, match="document 1, ' a', starts or ends with a blank"):
        InMemoryCorpus([Document(" a", "", "text")])


def test_ids_may_stand_in_lines_that_end_in_cr(tmp_path: Path) -> None:
    assert read_doc_ids(write(tmp_path / "ids.txt", "a\rb \r\nc")) == ("a", "b", "c")
