"""MTRAGEval's tasks A (retrieval), B (generation from given contexts) and C (both)."""

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ccrag.evaluation.validate.shape import Kinds, items, shape_problems
from ccrag.evaluation.validate.submission import Rules
from ccrag.evaluation.validate.tasks import Task, turns_of

MtragTask = Literal["a", "b", "c"]

MAX_CONTEXTS = 10
MAX_BYTES = 20 * 1024 * 1024
KINDS: Mapping[MtragTask, Kinds] = {
    "a": {
        "task_id": "a non-empty string",
        "Collection": "a non-empty string",
        "contexts": "a list",
    },
    "b": {
        "task_id": "a non-empty string",
        "input": "a list",
        "contexts": "a list",
        "predictions": "a non-empty list",
    },
    "c": {
        "task_id": "a non-empty string",
        "Collection": "a non-empty string",
        "input": "a list",
        "contexts": "a list",
        "predictions": "a non-empty list",
    },
}
CONTEXT_KINDS: Kinds = {"document_id": "a non-empty string", "score": "a finite number"}
READ_CONTEXT_KINDS: Kinds = {
    "document_id": "a non-empty string",
    "score": "a finite number",
    "text": "a non-empty string",
}
PREDICTION_KINDS: Kinds = {"text": "a non-empty string"}


def mtrag_rules(mtrag_task: MtragTask, tasks: Sequence[Task] | None) -> Rules:
    """
    Yield what one of the three tasks asks; without the tasks file, ids and inputs are not compared.
    """
    known = None if tasks is None else {task.task_id: task for task in tasks}

    def check(record: Mapping[str, object]) -> Iterator[str]:
        yield from shape_problems(record, KINDS[mtrag_task])
        task = None if known is None else known.get(str(record.get("task_id")))
        if task is not None:
            yield from _agreement_problems(record, task)
        yield from _context_problems(record, with_text=mtrag_task != "a")
        given_none = mtrag_task == "b" and task is not None and task.contexts == 0
        if record.get("contexts") == [] and not given_none:
            yield "contexts is empty"
        for position, prediction in enumerate(items(record.get("predictions"))):
            within = f"predictions[{position}]"
            yield from shape_problems(prediction, PREDICTION_KINDS, within=within)

    return Rules(check=check, id_key="task_id", asked=known, max_bytes=MAX_BYTES)


def _agreement_problems(record: Mapping[str, object], task: Task) -> Iterator[str]:
    collection = record.get("Collection", task.collection)
    if collection != task.collection:
        yield f"Collection is {reprlib.repr(collection)}, the task's is {task.collection!r}"
    if isinstance(record.get("input"), list) and turns_of(record["input"]) != task.turns:
        yield "input differs from the task's turns"


def _context_problems(record: Mapping[str, object], *, with_text: bool) -> Iterator[str]:
    contexts = items(record.get("contexts"))
    if len(contexts) > MAX_CONTEXTS:
        yield f"{len(contexts)} contexts, {MAX_CONTEXTS} are allowed"
    kinds = READ_CONTEXT_KINDS if with_text else CONTEXT_KINDS
    seen: set[str] = set()
    for position, context in enumerate(contexts):
        within = f"contexts[{position}]"
        yield from shape_problems(context, kinds, within=within)
        doc_id = context.get("document_id") if isinstance(context, Mapping) else None
        if not isinstance(doc_id, str):
            continue
        if doc_id in seen:
            yield f"{within}.document_id {doc_id!r} stands twice"
        seen.add(doc_id)
