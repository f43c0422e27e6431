"""TREC RAG 2024 and 2025, and TREC runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import InputError
from ccrag.evaluation.validate import Format, validate
from ccrag.evaluation.validate.trec_run import run_problems

A = "msmarco_v2.1_doc_01_2#3_4"
B = "msmarco_v2.1_doc_05_6#7_8"


def segments(count: int) -> list[str]:
    return [f"msmarco_v2.1_doc_01_2#3_{i}" for i in range(count)]


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.tsv"
    path.write_text("1\tWhat is one?\n", encoding="utf-8")
    return path


def messages(path: Path, format_: Format, topics: Path, record: dict[str, Any]) -> list[str]:
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return [problem.message for problem in validate(path, format=format_, queries=topics)]


def record24(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": "r",
        "topic_id": "1",
        "topic": "What is one?",
        "references": [A, B],
        "response_length": 3,
        "answer": [{"text": "A first number.", "citations": [1, 0]}],
    } | changes


def answer(text: str, *citations: object) -> list[dict[str, Any]]:
    return [{"text": text, "citations": list(citations)}]


def test_valid_24(tmp_path: Path, topics: Path) -> None:
    assert messages(tmp_path / "r.jsonl", Format.TREC_RAG24, topics, record24()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic_id": 1}, "topic_id must be a non-empty string, got 1"),
        ({"topic": "What?"}, "topic differs from the query's text 'What is one?'"),
        ({"run_id": None}, "run_id is missing, expected a non-empty string"),
        ({"response_length": 4}, "response_length is 4, the answer has 3 words"),
        ({"response_length": True}, "response_length must be a whole number, got True"),
        ({"references": [A, A]}, f"references[1] '{A}' stands twice"),
        ({"references": [A, "x"]}, "references[1] 'x' is not an MS MARCO v2.1 segment"),
        ({"references": segments(21)}, "21 references, 20 are allowed"),
        ({"answer": answer("A first number.", 2)}, "2 points outside the 2 references"),
        ({"answer": answer("A first number.", 0, 0)}, "answer[0].citations[1] 0 stands twice"),
        ({"answer": answer("A first number.", A)}, "must be an index into the references"),
        (
            {"answer": answer("w " * 401), "response_length": 401},
            "the answer has 401 words, 400 are allowed",
        ),
    ],
)
def test_refused_24(tmp_path: Path, topics: Path, changes: dict[str, Any], message: str) -> None:
    (found,) = messages(tmp_path / "r.jsonl", Format.TREC_RAG24, topics, record24(**changes))
    assert message in found


def test_missing_topic_24_is_a_problem(tmp_path: Path, topics: Path) -> None:
    path = tmp_path / "r.jsonl"
    topics.write_text("1\tWhat is one?\n2\tWhat is two?\n", encoding="utf-8")
    assert messages(path, Format.TREC_RAG24, topics, record24()) == ["is not answered"]


def record25(**changes: Any) -> dict[str, Any]:
    metadata = {
        "team_id": "t",
        "run_id": "r",
        "type": "manual",
        "narrative_id": 1,
        "narrative": "What is one?",
        "prompt": "Answer.",
    }
    return {"metadata": metadata, "references": [A, B], "answer": answer("A number.", 0)} | changes


@pytest.mark.parametrize("citations", [(), (1, 0), (B, A)])
def test_valid_25_in_both_formats(tmp_path: Path, topics: Path, citations: tuple[object]) -> None:
    record = record25(answer=answer("A number.", *citations))
    assert messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, record) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": answer("w " * 400)}, "the answer has 400 words, 399 are allowed"),
        ({"references": segments(101)}, "101 references, 100 are allowed"),
        ({"references": [A, A]}, f"references[1] '{A}' stands twice"),
        ({"references": [A, f"{B}\n"]}, "is not an MS MARCO v2.1 segment"),
        ({"answer": answer(" ", 0)}, "answer[0].text must be a non-empty string"),
        ({"answer": answer("A number.", True)}, "must be an index into the references, got True"),
        ({"answer": answer("A number.", "x")}, "answer[0].citations[0] 'x' is not among"),
        ({"answer": answer("A number.", 0, A)}, "cites both by index and by id"),
        ({"metadata": record25()["metadata"] | {"narrative": None}}, "narrative is missing"),
        ({"metadata": record25()["metadata"] | {"type": None}}, "type must be automatic or manual"),
    ],
)
def test_refused_25(tmp_path: Path, topics: Path, changes: dict[str, Any], message: str) -> None:
    (found,) = messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, record25(**changes))
    assert message in found


def test_repeated_topic_25(tmp_path: Path, topics: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps(record25())}\n" * 2, encoding="utf-8")
    (problem,) = validate(path, format=Format.TREC_RAG25, queries=topics)
    assert str(problem) == f"{path}:2: query '1': answered again, first on line 1"


def test_topics_may_be_json_lines(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"id": 1, "title": "What is one?"}\n', encoding="utf-8")
    assert messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, record25()) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.tsv", "1 What is one?\n", "t.tsv:1: expected a topic id, a tab and a text"),
        ("t.tsv", "1\ta\n1\tb\n", "t.tsv:2: topic '1' stands twice"),
        ("t.jsonl", '{"id": 1}\n', "t.jsonl:1: expected an id"),
        ("t.jsonl", "x\n", "t.jsonl:1: is not a JSON object"),
    ],
)
def test_bad_topics_are_input_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    topics = tmp_path / name
    topics.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        validate(tmp_path / "r.jsonl", format=Format.TREC_RAG25, queries=topics)


def run_messages(tmp_path: Path, text: str, *, depth: int = 100) -> list[str]:
    path = tmp_path / "run.trec"
    path.write_text(text, encoding="utf-8")
    found = run_problems(path, depth=depth, asked=["q"])
    return [f"{problem.line}: {problem.message}" for problem in found]


def test_valid_run(tmp_path: Path) -> None:
    assert run_messages(tmp_path, "q Q0 a 1 2.0 t\nq Q0 b 2 1.5 t\nq Q0 c 3 -1 t\n") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 b 2 1.0", "2: expected 6 columns, got 5"),
        ("", "2: expected 6 columns, got 0"),
        ("q 0 b 2 1.0 t", "2: the second column must be Q0, got '0'"),
        ("q Q0 a 2 1.0 t", "2: 'a' is ranked twice"),
        ("q Q0 b 1 1.0 t", "2: rank must be 2, got '1'"),
        ("q Q0 b 3 1.0 t", "2: rank must be 2, got '3'"),
        ("q Q0 b 2 40 t", "2: score 40 is not below the score above it, as 32-bit numbers"),
        ("q Q0 b 2 39.999999 t", "2: score 39.999999 is not below the score above it, as 32-bit"),
        ("q Q0 b 2 nan t", "2: score must be a finite number, got 'nan'"),
        ("q Q0 b 2 1e39 t", "2: score must be a finite number, got '1e39'"),
        ("q Q0 b 2 high t", "2: score must be a finite number, got 'high'"),
        ("q Q0 b 2 1.0 u", "2: tag is 'u', but 't' above"),
        ("p Q0 b 1 1.0 t", "2: is not among the queries asked"),
    ],
)
def test_refused_run(tmp_path: Path, line: str, message: str) -> None:
    (found,) = run_messages(tmp_path, f"q Q0 a 1 40 t\n{line}\n")
    assert found.startswith(message)


def test_depth_is_reported_once(tmp_path: Path) -> None:
    text = "".join(f"q Q0 d{i} {i} {9 - i} t\n" for i in range(1, 5))
    assert run_messages(tmp_path, text, depth=2) == ["3: more than 2 lines for this query"]


def test_trec_rag_runs_are_a_hundred_deep(tmp_path: Path, topics: Path) -> None:
    text = "".join(f"1 Q0 d{i} {i} {200 - i} t\n" for i in range(1, 102))
    (tmp_path / "run.trec").write_text(text, encoding="utf-8")
    (tmp_path / "r.jsonl").write_text(json.dumps(record25()), encoding="utf-8")
    (problem,) = validate(tmp_path, format=Format.TREC_RAG25, queries=topics)
    assert problem.message == "more than 100 lines for this query"
    assert validate(tmp_path, format=Format.TREC_RAG25, queries=topics, depth=101) == []
