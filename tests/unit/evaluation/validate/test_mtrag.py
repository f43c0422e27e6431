import json
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import InputError
from ccrag.evaluation.validate import Format, mtrag, validate
from ccrag.evaluation.validate.tasks import read_tasks
from ccrag.types import Candidates, Query
from tests.unit.official import accepts

SLICE = Path(__file__).parents[5] / "shared" / "data" / "mtrag-un" / "tasks.jsonl"
TASKS = {"c<::>1": "And installment?"}
TURNS = [{"speaker": "user", "text": "And installment?"}]
KEYS = {
    Format.MTRAG_A: ("task_id", "Collection", "contexts"),
    Format.MTRAG_B: ("task_id", "input", "contexts", "predictions"),
    Format.MTRAG_C: ("task_id", "Collection", "input", "contexts", "predictions"),
}
Changes = dict[str, Any]


def context(doc_id: object = "d1", score: object = 1.5, text: object = "Text.") -> Changes:
    return {"document_id": doc_id, "score": score, "text": text}


def record(format_: Format, **changes: Any) -> Changes:
    full = {
        "task_id": "c<::>1",
        "Collection": "fiqa",
        "input": TURNS,
        "contexts": [context()],
        "predictions": [{"text": "No."}],
    }
    return {key: full[key] for key in KEYS[format_]} | changes


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.json"
    task = {"conversation_id": "c", "task_id": "c<::>1", "Collection": "fiqa", "input": TURNS}
    path.write_text(json.dumps(task) + "\n", encoding="utf-8")
    return path


def messages(tasks: Path, format_: Format, *records: Changes | str) -> list[str]:
    path = tasks.with_name("p.jsonl")
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [problem.message for problem in validate(path, format=format_, queries=tasks)]


@pytest.mark.parametrize("format_", KEYS)
def test_valid(tasks: Path, format_: Format) -> None:
    assert messages(tasks, format_, record(format_)) == []
    assert accepts(format_, json.dumps(record(format_)), TASKS)


@pytest.mark.parametrize(("format_", "key"), [(f, key) for f, keys in KEYS.items() for key in keys])
def test_every_key_is_needed(tasks: Path, format_: Format, key: str) -> None:
    written = record(format_)
    del written[key]
    assert any(m.startswith(f"{key} is missing") for m in messages(tasks, format_, written))


@pytest.mark.parametrize(
    ("changes", "accepted", "message"),
    [
        ({"Collection": "govt"}, True, "Collection is 'govt', the task's is 'fiqa'"),
        ({"input": []}, True, "input differs from the task's turns"),
        ({"contexts": []}, True, "contexts is empty"),
        ({"contexts": "d1"}, False, "contexts must be a list, got 'd1'"),
        ({"contexts": ["d1"]}, False, "contexts[0] must be an object, got 'd1'"),
        ({"contexts": [context(i) for i in "abcdefghijk"]}, False, "11 contexts, 10 are allowed"),
        ({"contexts": [context(), context()]}, True, "contexts[1].document_id 'd1' stands twice"),
        ({"contexts": [context(7)]}, False, "document_id must be a non-empty string, got 7"),
        ({"contexts": [context(score=True)]}, True, "contexts[0].score must be a finite number"),
        ({"contexts": [context(score="1")]}, False, "contexts[0].score must be a finite number"),
        ({"contexts": [context(text=" ")]}, True, "contexts[0].text must be a non-empty string"),
        ({"predictions": []}, True, "predictions must be a non-empty list, got []"),
        ({"predictions": ["No."]}, False, "predictions[0] must be an object, got 'No.'"),
        ({"predictions": [{"text": ""}]}, True, "predictions[0].text must be a non-empty string"),
    ],
)
def test_refused(tasks: Path, changes: Changes, accepted: bool, message: str) -> None:
    """`accepted`: whether the official checker finds nothing; its exit code is always 0."""
    written = record(Format.MTRAG_C, **changes)
    (found,) = messages(tasks, Format.MTRAG_C, written)
    assert message in found
    assert accepts(Format.MTRAG_C, json.dumps(written), TASKS) is accepted


def test_retrieval_needs_no_text(tasks: Path) -> None:
    bare = {"document_id": "d1", "score": 1}
    assert messages(tasks, Format.MTRAG_A, record(Format.MTRAG_A, contexts=[bare])) == []
    assert messages(tasks, Format.MTRAG_B, record(Format.MTRAG_B, contexts=[bare])) == [
        "contexts[0].text is missing, expected a non-empty string"
    ]


def test_nan_score(tasks: Path) -> None:
    line = json.dumps(record(Format.MTRAG_A, contexts=[context(score=float("nan"))]))
    assert accepts(Format.MTRAG_A, line, TASKS)
    assert messages(tasks, Format.MTRAG_A, line) == [
        "NaN is not a JSON number",
        "contexts[0].score must be a finite number, got nan",
    ]


def test_given_contexts_may_be_none(tasks: Path) -> None:
    assert messages(tasks, Format.MTRAG_B, record(Format.MTRAG_B, contexts=[]))
    task = json.loads(tasks.read_text(encoding="utf-8")) | {"contexts": []}
    tasks.write_text(json.dumps(task), encoding="utf-8")
    assert messages(tasks, Format.MTRAG_B, record(Format.MTRAG_B, contexts=[])) == []
    assert messages(tasks, Format.MTRAG_C, record(Format.MTRAG_C, contexts=[]))


def test_each_task_once_and_no_others(tasks: Path) -> None:
    first, other = record(Format.MTRAG_A), record(Format.MTRAG_A, task_id="c::1")
    assert messages(tasks, Format.MTRAG_A, first, first, other) == [
        "answered again, first on line 1",
        "is not among the queries asked",
    ]
    assert messages(tasks, Format.MTRAG_A, other)[-1] == "is not answered"


def test_a_task_answered_for_another_is_named(tasks: Path) -> None:
    """The official checker says that the other is missing, and nothing of the one that is there."""
    task = json.loads(tasks.read_text(encoding="utf-8"))
    second = json.dumps(task | {"task_id": "c<::>2"})
    tasks.write_text(f"{json.dumps(task)}\n{second}\n", encoding="utf-8")
    first = record(Format.MTRAG_A)
    assert messages(tasks, Format.MTRAG_A, first, first) == [
        "answered again, first on line 1",
        "is not answered",
    ]


def test_size(tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mtrag.MAX_BYTES == 20 * 2**20
    monkeypatch.setattr(mtrag, "MAX_BYTES", 100)
    written = record(Format.MTRAG_A)
    (found,) = messages(tasks, Format.MTRAG_A, written)
    assert found.endswith("100 are allowed")
    assert accepts(Format.MTRAG_A, json.dumps(written), TASKS), "its size is only printed there"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"task_id": "a", "turns": []}\n', "t.jsonl:1: expected task_id, Collection and input"),
        ('{"task_id": "a", "collection": "c", "turns": []}\n' * 2, "t.jsonl:2: task 'a' stands"),
    ],
)
def test_bad_tasks_are_input_errors(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_tasks(path)


def test_queries_cannot_stand_for_tasks(tmp_path: Path) -> None:
    query = Query("c<::>1", "And installment?", Candidates.whole_index())
    with pytest.raises(InputError, match="mtrag needs the tasks' file"):
        validate(tmp_path / "p.jsonl", format=Format.MTRAG_A, queries=[query])


@pytest.mark.skipif(not SLICE.is_file(), reason="the MTRAG-UN slice is not here")
def test_slice_answered_with_its_own_turns_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    tasks = [json.loads(line) for line in SLICE.read_text(encoding="utf-8").splitlines()]
    records = [
        record(Format.MTRAG_C, task_id=t["task_id"], Collection=t["collection"], input=t["turns"])
        for t in tasks
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert validate(path, format=Format.MTRAG_C, queries=SLICE) == []
