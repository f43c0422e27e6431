"""Judged queries from files, in BM25's order."""

import json
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import InputError
from ccrag.models.judged import JudgedQuery
from ccrag.training_data import POOL, read_judged

TEXTS = {
    "wings": "A wing lifts. " + "Nothing else matters here. " * 9,
    "late": "Nothing else matters here. " * 9 + "A swept wing of an aircraft.",
    "noise": "Nothing at all.",
    "empty": "",
}


def read(
    folder: Path, *queries: dict[str, Any], qrels: str, texts: dict[str, str] | None = None
) -> list[JudgedQuery]:
    documents = [{"id": k, "title": f"T {k}", "text": v} for k, v in (texts or TEXTS).items()]
    (folder / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.txt").write_text(qrels)
    return read_judged(
        folder / "q.jsonl", [folder / "d.jsonl"], folder / "qrels.txt", max_words=12, k1=1.5, b=0.75
    )


def test_candidates_stand_where_their_best_passage_stands(tmp_path: Path) -> None:
    asked = {"query_id": "1", "query": "swept wing", "doc_ids": ["noise", "wings", "late", "empty"]}
    (query,) = read(tmp_path, asked, qrels="1 0 late 2\n1 0 noise 0\n")
    assert list(query.texts) == ["late", "wings", "empty", "noise"]
    assert query.texts["late"].endswith("A swept wing of an aircraft.")
    assert query.texts["wings"].startswith("A wing lifts.")
    assert query.texts["noise"] == "Nothing at all."
    assert query.texts["empty"] == "T empty"
    assert (query.query_id, query.text) == ("1", "swept wing")
    assert (query.relevant, query.relevance) == (["late"], {"late": 2, "noise": 0})


def test_only_candidates_count(tmp_path: Path) -> None:
    asked = {"query_id": "1", "query": "swept wing", "doc_ids": ["wings", "noise"]}
    (query,) = read(tmp_path, asked, qrels="1 0 late 1\n1 0 wings 1\n")
    assert list(query.texts) == ["wings", "noise"]


def test_queries_that_are_not_judged_are_left_out(tmp_path: Path) -> None:
    asked = [{"query_id": n, "query": "wing", "doc_ids": ["wings"]} for n in "12"]
    assert [query.query_id for query in read(tmp_path, *asked, qrels="2 0 wings 1")] == ["2"]
    with pytest.raises(InputError, match="judges none of the queries"):
        read(tmp_path, *asked, qrels="3 0 wings 1")


def test_a_query_without_candidates_has_the_best_and_the_judged(tmp_path: Path) -> None:
    texts = {f"d{n:03}": "wing " * 3 for n in range(POOL + 20)} | {"far": "other", "out": "other"}
    asked = {"query_id": "1", "query": "wing"}
    (query,) = read(tmp_path, asked, qrels="1 0 far 1\n1 0 d110 1\n1 0 gone 1\n", texts=texts)
    assert len(query.texts) == POOL + 2
    assert {"far", "d110"} <= query.texts.keys()
    assert query.texts.keys().isdisjoint({"out", "gone"})


def test_a_candidate_that_was_not_given_is_an_error(tmp_path: Path) -> None:
    asked = {"query_id": "1", "query": "wing", "doc_ids": ["wings", "gone"]}
    with pytest.raises(InputError, match="query '1': no document 'gone' was given"):
        read(tmp_path, asked, qrels="1 0 wings 1")
