"""
LongEval's submissions. TIRA's check looks at no reference, citation or text: what is refused here
passes there, unless a test says otherwise.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import InputError
from ccrag.evaluation.validate import Format, validate
from ccrag.types import Candidates, Query
from tests.unit.official import accepts

Record = dict[str, Any]
QUERIES = [
    Query(name, f"What is {name}?", Candidates.of(["d1", "d2", "d3"], query_id=name))
    for name in ("q1", "q2", "q3", "q4")
]
ABSTENTION = [{"text": "The given documents do not answer this question.", "citations": []}]


def record(query_id: str = "q1") -> Record:
    return {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "type": "automatic",
            "narrative_id": query_id,
            "narrative": f"What is {query_id}?",
        },
        "references": ["d1", "d2"],
        "answer": [
            {"text": "One thing.", "citations": [0]},
            {"text": "Another, and both.", "citations": [1, 0]},
        ],
    }


def changed(change: Callable[[Record], object]) -> str:
    written = record()
    change(written)
    return json.dumps(written)


def put(*path: str | int, value: object) -> Callable[[Record], object]:
    """A change that sets what `path` leads to."""

    def change(written: Any) -> None:
        for step in path[:-1]:
            written = written[step]
        written[path[-1]] = value

    return change


def problems(tmp_path: Path, *lines: str | bytes, accepted: bool = True) -> list[str]:
    """
    Messages with their place, `line:query: message`; valid answers to the other queries are added.

    Args:
        accepted: whether TIRA lets the file pass.
    """
    path = tmp_path / "responses.jsonl"
    encoded = [line if isinstance(line, bytes) else line.encode() for line in lines]
    valid = [json.dumps(record(query.query_id)).encode() for query in QUERIES[1:]]
    path.write_bytes(b"\n".join([*encoded, *valid]) + b"\n")
    assert accepts(Format.LONGEVAL, path.read_text(encoding="utf-8"), {}) is accepted
    found = validate(path, format=Format.LONGEVAL, queries=QUERIES)
    return [f"{p.line}:{p.query_id}: {p.message}" for p in found]


def test_valid_file(tmp_path: Path) -> None:
    assert problems(tmp_path, json.dumps(record())) == []


def test_abstention_is_valid(tmp_path: Path) -> None:
    written = record() | {"references": [], "answer": ABSTENTION}
    assert problems(tmp_path, json.dumps(written)) == []


def test_whole_numbers_name_topics_too(tmp_path: Path) -> None:
    query = Query("14", "What is q1?", Candidates.whole_index())
    path = tmp_path / "r.jsonl"
    path.write_text(changed(put("metadata", "narrative_id", value=14)), encoding="utf-8")
    assert validate(path, format=Format.LONGEVAL, queries=[query]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("references", value=["d1", "x"]), "references[1] 'x' is not a candidate of the query"),
        (put("references", value=["d1", 2]), "references[1] must be a non-empty string, got 2"),
        (put("references", value="d1"), "references must be a list, got 'd1'"),
        (put("answer", 0, "citations", value=[False]), "must be an index into the references"),
        (put("answer", 0, "citations", value=[0.0]), "must be an index into the references"),
        (put("answer", 0, "citations", value=["d1"]), "must be an index into the references"),
        (put("answer", 0, "citations", value=[2]), "2 points outside the 2 references"),
        (put("answer", 0, "citations", value=[-1]), "-1 points outside the 2 references"),
        (put("answer", 0, "citations", value=[0, 0]), "answer[0].citations[1] 0 stands twice"),
        (put("answer", 0, "citations", value=[]), "answer[0] cites nothing"),
        (put("answer", 0, value="One thing."), "answer[0] must be an object"),
        (put("answer", 0, "text", value=" \n"), "answer[0].text must be a non-empty string"),
        (put("answer", 0, "text", value=3), "answer[0].text must be a non-empty string, got 3"),
        (put("answer", 0, "text", value="cafe\u0301"), "answer[0].text is not in Unicode form NFC"),
        (put("answer", 0, "text", value="half \ud83d"), "holds half of a surrogate pair"),
        (put("answer", 0, "text", value="w " * 398), "the answer has 401 words, 400 are allowed"),
        (put("answer", value=[]), "answer must be a non-empty list, got []"),
        (put("metadata", "narrative", value="What?"), "metadata.narrative differs"),
        (put("metadata", "narrative", value=None), "metadata.narrative is missing"),
        (put("metadata", "type", value="auto"), "metadata.type must be automatic or manual"),
        (put("metadata", "run_id", value=7), "metadata.run_id must be a non-empty string, got 7"),
        (put("metadata", "request_id", value="q7"), "metadata.request_id 'q7' is not"),
    ],
)
def test_each_fault_is_the_only_one_reported(
    tmp_path: Path, change: Callable[[Record], object], message: str
) -> None:
    found = [p for p in problems(tmp_path, changed(change)) if "is never cited" not in p]
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(("topic_id", "narrative_id"), [("q7", "q1"), ("14", 14)])
def test_ids_that_differ_cost_the_whole_file(
    tmp_path: Path, topic_id: str, narrative_id: object
) -> None:
    written = record()
    written["metadata"] |= {"topic_id": topic_id, "narrative_id": narrative_id}
    found = problems(tmp_path, json.dumps(written), accepted=False)
    message = f"metadata.topic_id {topic_id!r} is not metadata.narrative_id {narrative_id!r}"
    assert message in found[0]


@pytest.mark.parametrize("key", ["run_id", "team_id"])
def test_a_file_is_one_run_of_one_team(tmp_path: Path, key: str) -> None:
    found = problems(tmp_path, changed(put("metadata", key, value="other")))
    assert found[0].startswith(f"2:q2: metadata.{key} is")
    assert all(p.endswith("but 'other' on line 1") for p in found)
    assert len(found) == len(QUERIES) - 1


def test_length_is_counted_after_nfkc(tmp_path: Path) -> None:
    """NFKC makes a space and a combining mark of U+00A8, so a word that holds it counts twice."""
    lines = [changed(put("answer", 0, "text", value="a\u00a8b " * n)) for n in (198, 199)]
    assert problems(tmp_path, lines[0]) == []
    (found,) = problems(tmp_path, lines[1])
    assert found == f"1:q1: the answer has {2 * 199 + 3} words, 400 are allowed"


def test_repeated_reference(tmp_path: Path) -> None:
    line = changed(put("references", value=["d1", "d1"]))
    assert problems(tmp_path, line) == ["1:q1: references[1] 'd1' stands twice"]


def test_uncited_reference(tmp_path: Path) -> None:
    line = changed(put("references", value=["d1", "d2", "d3"]))
    assert problems(tmp_path, line) == ["1:q1: references[2] 'd3' is never cited"]


def test_abstention_with_references_is_none(tmp_path: Path) -> None:
    line = json.dumps(record() | {"references": ["d1"], "answer": ABSTENTION})
    assert problems(tmp_path, line) == [
        "1:q1: answer[0] cites nothing",
        "1:q1: references[0] 'd1' is never cited",
    ]


def test_two_uncited_sentences_are_no_abstention(tmp_path: Path) -> None:
    line = json.dumps(record() | {"references": [], "answer": ABSTENTION * 2})
    assert problems(tmp_path, line) == [f"1:q1: answer[{i}] cites nothing" for i in (0, 1)]


def test_topics_once_each_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [json.dumps(record(name)) for name in ("q1", "q1", "q9", "q3", "q4")]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert accepts(Format.LONGEVAL, path.read_text(encoding="utf-8"), {})
    assert [str(p) for p in validate(path, format=Format.LONGEVAL, queries=QUERIES)] == [
        f"{path}:2: query 'q1': answered again, first on line 1",
        f"{path}:3: query 'q9': is not among the queries asked",
        f"{path}: query 'q2': is not answered",
    ]


def test_problems_come_in_the_files_order(tmp_path: Path) -> None:
    repeated = changed(put("metadata", "run_id", value="s"))
    found = problems(tmp_path, json.dumps(record()), repeated, changed(put("answer", value=[])))
    lines = [int(problem.partition(":")[0]) for problem in found]
    assert lines == sorted(lines)
    assert set(lines) == {2, 3}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "1:None: is not a JSON object"),
        ("{", "1:None: is not a JSON object"),
        ("[1]", "1:None: is not a JSON object: expected {...}, got list"),
        ("[" * 100_000, "1:None: is not a JSON object"),
    ],
)
def test_lines_that_hold_no_record(tmp_path: Path, line: str | bytes, message: str) -> None:
    found = problems(tmp_path, line)
    assert found[0].startswith(message)
    assert found[1:] == ["None:q1: is not answered"]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a": "\xff"}\n')
    (found,) = validate(path, format=Format.LONGEVAL, queries=None)
    assert found.message.startswith("is not a JSON object: 'utf-8' codec")


def test_byte_order_mark(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, b"\xef\xbb\xbf" + json.dumps(record()).encode())
    assert found.startswith("1:None: starts with a byte order mark")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_json_does_not_have(tmp_path: Path, number: str) -> None:
    line = json.dumps(record()).replace('"references"', f'"note": {number}, "references"')
    assert problems(tmp_path, line) == [f"1:q1: {number} is not a JSON number"]


def test_repeated_key(tmp_path: Path) -> None:
    line = json.dumps(record()).replace('"references"', '"references": [], "references"')
    assert problems(tmp_path, line) == ["1:q1: key 'references' stands twice"]


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"")
    (problem,) = validate(path, format=Format.LONGEVAL, queries=None)
    assert "is empty" in problem.message


def test_folder_needs_one_answer_file_and_its_metadata(tmp_path: Path) -> None:
    (tmp_path / "responses.jsonl").write_text(json.dumps(record()), encoding="utf-8")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "trace.jsonl").write_text("{}", encoding="utf-8")
    found = validate(tmp_path, format=Format.LONGEVAL, queries=QUERIES)
    assert [str(p) for p in found] == [
        f"{tmp_path}: must hold exactly one .jsonl file, found logs/trace.jsonl, responses.jsonl",
        f"{tmp_path}/ir-metadata.yml: is missing; LongEval demands it beside the answers",
    ]


def test_folder_without_answers(tmp_path: Path) -> None:
    found = validate(tmp_path, format=Format.LONGEVAL, queries=QUERIES)
    assert "found none" in found[0].message


def test_run_in_the_folder_is_checked_against_the_candidates(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text(
        "q1 Q0 d1 1 2.0 t\nq1 Q0 d9 2 1.0 t\nq2 Q0 d2#00ff 1 1.0 t\n", encoding="utf-8"
    )
    found = validate(tmp_path, format=Format.LONGEVAL, queries=QUERIES)
    assert [str(p) for p in found if p.path.name == "run.trec"] == [
        f"{tmp_path}/run.trec:2: query 'q1': 'd9' is not a candidate of the query, "
        "nor a passage of one"
    ]


def test_a_path_cannot_give_candidates(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="longeval needs queries with their candidates"):
        validate(tmp_path, format=Format.LONGEVAL, queries=tmp_path / "queries.jsonl")


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        validate(tmp_path / "none.jsonl", format=Format.LONGEVAL, queries=QUERIES)
