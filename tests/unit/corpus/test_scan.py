"""A collection read twice."""

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrag.corpus.digests import document_digest
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.corpus.scan import CorpusScan
from ccrag.errors import InputError

Fields = dict[str, object]


def write(path: Path, records: Sequence[Fields]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def fingerprint(path: Path, records: Sequence[Fields], citations: Path | None = None) -> str:
    with CorpusScan([write(path, records)], citations=citations) as scan:
        return scan.fingerprint


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d.jsonl"


LINKED: list[Fields] = [
    {"id": "a", "text": "A", "links": ["b", "b", "c", "a", "elsewhere"]},
    {"id": "b", "text": "B", "links": ["a"]},
    {"id": "c", "text": "C"},
    {"id": "d", "text": "D"},
]


def test_the_second_reading_gives_the_documents_again(path: Path) -> None:
    with CorpusScan([write(path, LINKED)]) as scan:
        assert (scan.count, scan.report.documents, scan.report.text_sources["full_text"]) == (
            4,
            4,
            4,
        )
        for _ in range(2):
            assert [document.text for document in scan.documents()] == ["A", "B", "C", "D"]


def test_documents_come_with_the_digests_that_were_checked(path: Path) -> None:
    with CorpusScan([write(path, LINKED)]) as scan, InMemoryCorpus(scan.documents()) as held:
        pairs = list(scan.digested())
        assert pairs == list(held.digested())
        assert [digest for _, digest in pairs] == [document_digest(d) for d, _ in pairs]
        assert (held.fingerprint, held.count) == (scan.fingerprint, scan.count)
        write(path, LINKED[:3])
        with pytest.raises(InputError, match="changed while they were read"):
            list(scan.digested())


def test_edges_are_distinct_and_inside_the_collection(path: Path) -> None:
    with CorpusScan([write(path, LINKED)]) as scan:
        # a→b, a→c, b→a; not a→a, not a→elsewhere
        assert [scan.edges(doc_id) for doc_id in "abcd"] == [3, 2, 1, 0]
        assert (scan.max_edges, scan.unknown_edges) == (3, 1)


@pytest.mark.parametrize("name", ["edges.csv", "edges.tsv"])
def test_edges_from_a_table_join_the_links(path: Path, tmp_path: Path, name: str) -> None:
    table = tmp_path / name
    rows = "citing_doc_id,cited_doc_id\na,b\nd,c\nd,d\nx,d\n"
    table.write_text(rows if name.endswith("csv") else rows.replace(",", "\t"))
    with CorpusScan([write(path, LINKED)], citations=table) as scan:
        assert [scan.edges(doc_id) for doc_id in "abcd"] == [3, 2, 2, 1]
        assert scan.unknown_edges == 2


def test_no_edges(path: Path) -> None:
    with CorpusScan([write(path, LINKED[2:])]) as scan:
        assert (scan.edges("c"), scan.max_edges, scan.unknown_edges) == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "from,to\na,b\n", r"e\.csv:1: expected the header citing_doc_id,cited_doc_id"),
        ("e.csv", "citing_doc_id,cited_doc_id\na,\n", r"e\.csv:2: cited_doc_id is empty"),
        ("e.csv", "citing_doc_id,cited_doc_id\na\n", r"e\.csv:2: 1 cells"),
        ("e.jsonl", "", r"e\.jsonl: citations come as \.csv or \.tsv"),
        ("none.csv", None, r"none\.csv: cannot be read: No such file"),
    ],
)
def test_unusable_citations(
    path: Path, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    table = tmp_path / name
    if content is not None:
        table.write_text(content)
    with pytest.raises(InputError, match=message):
        CorpusScan([write(path, LINKED)], citations=table)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(order=st.permutations(LINKED))
def test_the_fingerprint_ignores_order(path: Path, order: list[Fields]) -> None:
    assert fingerprint(path, order) == fingerprint(path, LINKED)


@pytest.mark.parametrize(
    "changed",
    [
        [*LINKED, {"id": "e", "text": "E"}],
        LINKED[:-1],
        [*LINKED[:-1], {"id": "D", "text": "D"}],
        [*LINKED[:-1], {"id": "d", "text": "D "}],
        [*LINKED[:-1], {"id": "d", "text": "D", "title": "T"}],
        [*LINKED[:-1], {"id": "d", "text": "D", "year": 2020}],
        [*LINKED[:-1], {"id": "d", "text": "D", "links": ["x"]}],
        [*LINKED[:-1], {"id": "d", "abstract": "D"}],
    ],
    ids=["more", "fewer", "id", "text", "title", "date", "links", "source"],
)
def test_the_fingerprint_sees_every_change(path: Path, changed: list[Fields]) -> None:
    assert fingerprint(path, changed) != fingerprint(path, LINKED)


def test_the_fingerprint_sees_edges_from_a_table(path: Path, tmp_path: Path) -> None:
    table = tmp_path / "e.csv"
    table.write_text("citing_doc_id,cited_doc_id\nd,c\n")
    assert fingerprint(path, LINKED, citations=table) != fingerprint(path, LINKED)


def test_skipped_records_are_skipped_again(path: Path) -> None:
    write(path, [{"id": "a", "text": "1"}, {"id": "a", "text": "2"}, {"id": ""}, {"id": "b"}])
    with CorpusScan([path], on_error="skip") as scan:
        assert scan.report.skipped == {"duplicate": 1, "id": 1}
        assert [(d.doc_id, d.text) for d in scan.documents()] == [("a", "1"), ("b", "")]
        assert scan.report.documents == 2


def test_links_of_a_skipped_document_are_no_edges(path: Path) -> None:
    write(path, [{"id": "a", "text": "A"}, {"id": "b"}, {"id": "a", "links": ["b"]}])
    with CorpusScan([path], on_error="skip") as scan:
        assert scan.max_edges == 0


@pytest.mark.parametrize("changed", [LINKED[:-1], [*LINKED[:-1], {"id": "d", "text": "!"}]])
def test_documents_that_change_between_the_readings_are_an_error(
    path: Path, changed: list[Fields]
) -> None:
    with CorpusScan([write(path, LINKED)]) as scan:
        write(path, changed)
        with pytest.raises(InputError, match="changed while they were read; run the command again"):
            list(scan.documents())


@pytest.mark.parametrize("records", [[], [{"id": ""}]], ids=["empty file", "all skipped"])
def test_nothing_to_index_is_an_error(path: Path, records: list[Fields]) -> None:
    with pytest.raises(InputError, match=r"no documents in .*d\.jsonl"):
        CorpusScan([write(path, records)], on_error="skip")


def test_memory_does_not_grow_with_the_collection(path: Path) -> None:
    with path.open("w") as file:
        for number in range(2_000):
            file.write(json.dumps({"id": f"document-{number}", "text": "word " * 2_000}) + "\n")
    tracemalloc.start()
    with CorpusScan([path]) as scan:
        assert sum(1 for _ in scan.documents()) == 2_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # the file has 20 MB


def test_a_version_is_part_of_what_is_fingerprinted(path: Path) -> None:
    plain: Fields = {"id": "a", "text": "A"}
    known = {
        fingerprint(path, [record])
        for record in (plain, {**plain, "version_of": "x"}, {**plain, "version": "x"})
    }
    assert len(known) == 3
