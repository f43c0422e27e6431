"""The files that say what was asked: TREC RAG topics and MTRAGEval tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ccrag.errors import InputError
from ccrag.evaluation.validate.jsonl import JsonlRecord, read_lenient
from ccrag.evaluation.validate.shape import is_text, is_whole, items
from ccrag.formats.plain_files import plain_text
from ccrag.types import Candidates, Query

TOPIC_ID_KEYS = ("query_id", "id", "topic_id", "narrative_id")
TOPIC_TEXT_KEYS = ("query", "title", "topic", "narrative", "text")

Turns = tuple[tuple[object, object], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One dialogue whose last turn is to be answered."""

    task_id: str
    collection: str
    turns: Turns
    """Speaker and text of each."""
    contexts: int | None
    """The number of contexts that the task gives (task B); None when it gives no list."""


def turns_of(value: object) -> Turns:
    """Return speaker and text of each turn; other keys do not matter."""
    return tuple(
        (turn.get("speaker"), turn.get("text"))
        for turn in items(value)
        if isinstance(turn, Mapping)
    )


def read_tasks(path: Path) -> list[Task]:
    """
    MTRAGEval tasks: the organisers' `Collection` and `input`, or `collection` and `turns`.

    Raises:
        InputError: a line is no task, or a task id stands twice.
    """
    tasks: dict[str, Task] = {}
    for record in _records(path):
        task = _task(path, record)
        if task.task_id in tasks:
            raise InputError(f"task {task.task_id!r} stands twice", path=path, line=record.line)
        tasks[task.task_id] = task
    return list(tasks.values())


def read_topics(path: Path) -> list[Query]:
    """
    TREC RAG topics, to be answered from the whole collection.

    `.jsonl` holds objects with an id and a text; any other file, id and text parted by a tab.

    Raises:
        InputError: a line is no topic, or an id stands twice.
    """
    rows = _json_topics(path) if path.suffix == ".jsonl" else _tsv_topics(path)
    topics: dict[str, Query] = {}
    for line, topic_id, text in rows:
        if topic_id in topics:
            raise InputError(f"topic {topic_id!r} stands twice", path=path, line=line)
        topics[topic_id] = Query(topic_id, text, Candidates.whole_index())
    return list(topics.values())


def _records(path: Path) -> list[JsonlRecord]:
    records, problems = read_lenient(path)
    for problem in problems:
        raise InputError(problem.message, path=path, line=problem.line)
    return records


def _task(path: Path, record: JsonlRecord) -> Task:
    task_id = record.value.get("task_id")
    collection = record.value.get("Collection", record.value.get("collection"))
    turns = record.value.get("input", record.value.get("turns"))
    if not (is_text(task_id) and is_text(collection) and isinstance(turns, list)):
        raise InputError(
            "expected task_id, Collection and input (or collection and turns)",
            path=path,
            line=record.line,
        )
    contexts = record.value.get("contexts")
    given = len(contexts) if isinstance(contexts, list) else None
    return Task(task_id, collection, turns_of(turns), given)


def _json_topics(path: Path) -> list[tuple[int, str, str]]:
    rows = []
    for record in _records(path):
        topic_id = _first(record.value, TOPIC_ID_KEYS)
        text = _first(record.value, TOPIC_TEXT_KEYS)
        if not (is_text(topic_id) or is_whole(topic_id)) or not is_text(text):
            raise InputError(
                f"expected an id ({', '.join(TOPIC_ID_KEYS)}) and a text "
                f"({', '.join(TOPIC_TEXT_KEYS)})",
                path=path,
                line=record.line,
            )
        rows.append((record.line, str(topic_id), text))
    return rows


def _first(value: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((value[key] for key in keys if key in value), None)


def _tsv_topics(path: Path) -> list[tuple[int, str, str]]:
    rows = []
    for line, raw in enumerate(plain_text(path).split("\n"), start=1):
        topic_id, tab, text = raw.partition("\t")
        if tab:
            rows.append((line, topic_id.strip(), text.strip()))
        elif topic_id.strip():
            raise InputError("expected a topic id, a tab and a text", path=path, line=line)
    return rows
