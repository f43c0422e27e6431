"""TREC RAG 2024 and 2025, and TREC runs."""

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from ccrag.errors import InputError
from ccrag.evaluation.validate import Format, validate
from ccrag.evaluation.validate.trec_run import run_problems
from tests.unit.official import accepts

A = "msmarco_v2.1_doc_01_2#3_4"
B = "msmarco_v2.1_doc_05_6#7_8"
TOPICS = {"1": "What is one?"}


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
    assert accepts(Format.TREC_RAG24, json.dumps(record24()), TOPICS)


@pytest.mark.parametrize(
    ("changes", "accepted", "message"),
    [
        ({"topic_id": 1}, False, "topic_id must be a non-empty string, got 1"),
        ({"topic": "What?"}, False, "topic differs from the query's text 'What is one?'"),
        ({"run_id": 7}, True, "run_id must be a non-empty string, got 7"),
        ({"response_length": 4}, True, "response_length is 4, the answer has 3 words"),
        ({"response_length": True}, True, "response_length must be a whole number, got True"),
        ({"references": [A, A]}, False, f"references[1] '{A}' stands twice"),
        ({"references": [A, "x"]}, False, "references[1] 'x' is not an MS MARCO v2.1 segment"),
        ({"references": [A, f"{B}\n"]}, True, "is not an MS MARCO v2.1 segment"),
        ({"references": [A, B.replace("5", "\u0665")]}, True, "is not an MS MARCO v2.1 segment"),
        ({"references": segments(21)}, False, "21 references, 20 are allowed"),
        ({"answer": answer("A first number.", 2)}, False, "2 points outside the 2 references"),
        ({"answer": answer("A first number.", -1)}, False, "-1 points outside the 2 references"),
        ({"answer": answer("A first number.", 0, 0)}, True, "citations[1] 0 stands twice"),
        ({"answer": answer("A first number.", True)}, True, "must be an index into the references"),
        ({"answer": answer("A first number.", A)}, False, "must be an index into the references"),
        ({"answer": [], "response_length": 0}, True, "answer must be a non-empty list, got []"),
        ({"answer": answer(" "), "response_length": 0}, True, "text must be a non-empty string"),
        (
            {"answer": answer("w " * 401), "response_length": 401},
            True,
            "the answer has 401 words, 400 are allowed",
        ),
    ],
)
def test_refused_24(
    tmp_path: Path, topics: Path, changes: dict[str, Any], accepted: bool, message: str
) -> None:
    """`accepted`: whether the official validator lets it pass, with a warning or without."""
    written = record24(**changes)
    (found,) = messages(tmp_path / "r.jsonl", Format.TREC_RAG24, topics, written)
    assert message in found
    assert accepts(Format.TREC_RAG24, json.dumps(written), TOPICS) is accepted


@pytest.mark.parametrize("key", record24())
def test_every_key_is_needed_24(tmp_path: Path, topics: Path, key: str) -> None:
    written = record24()
    del written[key]
    found = messages(tmp_path / "r.jsonl", Format.TREC_RAG24, topics, written)
    assert f"{key} is missing" in found[0]


def test_missing_topic_24_is_a_problem(tmp_path: Path, topics: Path) -> None:
    path = tmp_path / "r.jsonl"
    topics.write_text("1\tWhat is one?\n2\tWhat is two?\n", encoding="utf-8")
    assert messages(path, Format.TREC_RAG24, topics, record24()) == ["is not answered"]
    assert accepts(Format.TREC_RAG24, path.read_text(encoding="utf-8"), TOPICS | {"2": "x"})


def test_a_file_is_one_run_and_answers_each_topic_once_24(tmp_path: Path, topics: Path) -> None:
    path = tmp_path / "r.jsonl"
    topics.write_text("1\tWhat is one?\n2\tWhat is one?\n", encoding="utf-8")
    records = [record24(), record24(), record24(topic_id="2", run_id="s")]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    assert [
        str(problem) for problem in validate(path, format=Format.TREC_RAG24, queries=topics)
    ] == [
        f"{path}:2: query '1': answered again, first on line 1",
        f"{path}:3: query '2': run_id is 's', but 'r' on line 1",
    ]


METADATA = {
    "team_id": "t",
    "run_id": "r",
    "type": "manual",
    "narrative_id": 1,
    "narrative": "What is one?",
    "prompt": "Answer.",
}


def record25(**changes: Any) -> dict[str, Any]:
    return {"metadata": METADATA, "references": [A, B], "answer": answer("A number.", 0)} | changes


def without(key: str) -> dict[str, Any]:
    return {"metadata": {name: value for name, value in METADATA.items() if name != key}}


@pytest.mark.parametrize("citations", [(), (1, 0), (B, A)])
def test_valid_25_in_both_formats(tmp_path: Path, topics: Path, citations: tuple[object]) -> None:
    record = record25(answer=answer("A number.", *citations))
    assert messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, record) == []
    assert accepts(Format.TREC_RAG25, json.dumps(record), TOPICS)


@pytest.mark.parametrize(
    ("changes", "accepted", "message"),
    [
        ({"answer": answer("w " * 400)}, True, "the answer has 400 words, 399 are allowed"),
        ({"references": segments(101)}, True, "101 references, 100 are allowed"),
        ({"references": [A, A]}, True, f"references[1] '{A}' stands twice"),
        ({"references": [A, "x"]}, True, "'x' is not an MS MARCO v2.1 segment"),
        ({"references": [A, f"{B}\n"]}, True, "is not an MS MARCO v2.1 segment"),
        ({"references": [A, 3]}, True, "references[1] must be a non-empty string, got 3"),
        ({"references": A}, False, "references must be a list"),
        ({"answer": answer(" ", 0)}, True, "answer[0].text must be a non-empty string"),
        ({"answer": answer("e\u0301", 0)}, True, "answer[0].text is not in Unicode form NFC"),
        ({"answer": answer("A number.", 0, 0)}, True, "answer[0].citations[1] 0 stands twice"),
        ({"answer": answer("A number.", True)}, True, "must be an index into the references, got"),
        ({"answer": answer("A number.", 2)}, False, "2 points outside the 2 references"),
        ({"answer": answer("A number.", "x")}, False, "answer[0].citations[0] 'x' is not among"),
        ({"answer": answer("A number.", 0, A)}, False, "cites both by index and by id"),
        ({"answer": [{"text": "A."}]}, False, "answer[0].citations is missing"),
        ({"answer": []}, True, "answer must be a non-empty list, got []"),
        (without("narrative"), True, "metadata.narrative is missing"),
        (without("type"), True, "metadata.type must be automatic or manual, got None"),
        (without("team_id"), False, "metadata.team_id is missing"),
        ({"metadata": METADATA | {"type": "auto"}}, False, "type must be automatic or manual"),
        ({"metadata": METADATA | {"team_id": ""}}, True, "team_id must be a non-empty string"),
        ({"metadata": METADATA | {"narrative": "What?"}}, True, "metadata.narrative differs"),
    ],
)
def test_refused_25(
    tmp_path: Path, topics: Path, changes: dict[str, Any], accepted: bool, message: str
) -> None:
    """`accepted`: whether the official validator lets it pass, with a warning or without."""
    written = record25(**changes)
    (found,) = messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, written)
    assert message in found
    assert accepts(Format.TREC_RAG25, json.dumps(written), TOPICS) is accepted


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([record25(), record25()], ":2: query '1': answered again, first on line 1"),
        ([record25(), None], ":2: is not a JSON object"),
        (
            [record25(), record25(metadata=METADATA | {"narrative_id": 2, "run_id": "s"})],
            ":2: query '2': metadata.run_id is 's', but 'r' on line 1",
        ),
        ([record25(metadata=METADATA | {"narrative_id": 2})], ": query '1': is not answered"),
    ],
)
def test_files_that_pass_officially_and_not_here_25(
    tmp_path: Path, topics: Path, lines: list[dict[str, Any] | None], problem: str
) -> None:
    path = tmp_path / "r.jsonl"
    ids = {str(line["metadata"]["narrative_id"]) for line in lines if line} | {"1"}
    topics.write_text("".join(f"{name}\tWhat is one?\n" for name in sorted(ids)), encoding="utf-8")
    text = "".join(f"{json.dumps(line) if line else ''}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    (found,) = validate(path, format=Format.TREC_RAG25, queries=topics)
    assert str(found).startswith(f"{path}{problem}")
    assert accepts(Format.TREC_RAG25, text, dict.fromkeys(ids, "What is one?"))


def test_what_the_official_repair_would_do_to_a_repeated_reference_cannot_happen(
    tmp_path: Path, topics: Path
) -> None:
    """It drops the second of `[a, a, b]` and leaves the citations: `[1]`, once a, becomes b."""
    written = record25(references=[A, A, B], answer=answer("A number.", 1))
    found = messages(tmp_path / "r.jsonl", Format.TREC_RAG25, topics, written)
    assert found == [f"references[1] '{A}' stands twice"]
    assert accepts(Format.TREC_RAG25, json.dumps(written), TOPICS)


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
        ("q Q0 b c 2 1.0 t", "2: expected 6 columns, got 7"),
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


@pytest.mark.parametrize(
    "line",
    [
        "q 0 b 2 1.0 t",
        "q Q0 b 1 1.0 t",
        "q Q0 b 3 1.0 t",
        "q Q0 b 2 40 t",
        "q Q0 b 2 50 t",
        "q Q0 b 2 nan t",
        "q Q0 b 2 1.0 u",
        "p Q0 b 1 1.0 t",
    ],
)
def test_what_readers_of_runs_take_without_a_word(tmp_path: Path, line: str) -> None:
    text = f"q Q0 a 1 40 t\n{line}\n"
    read: Any = ir_measures.read_trec_run
    assert len(list(read(text))) == 2
    assert len(run_messages(tmp_path, text)) == 1


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
