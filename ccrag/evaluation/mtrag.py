"""
MTRAGEval in evaluation: predictions as runs, and what its task files know of the answers.

A tasks file may hold, beside each dialogue, `relevant` (ids of relevant passages), `targets` (gold
answers) and `answerability`. Ids of tasks are written `conversation::turn` in some of the official
files and `conversation<::>turn` in others; they mean the same.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from ccrag.errors import InputError
from ccrag.evaluation.records import by_query, checked_records
from ccrag.evaluation.rundata import Ranked, RunAnswer, RunSentence
from ccrag.evaluation.validate.jsonl import JsonlRecord
from ccrag.evaluation.validate.shape import Kinds, is_finite, is_text, items
from ccrag.formats.trec_run import QrelsByQuery
from ccrag.types import QueryId

RETRIEVAL_MEASURES = tuple(f"{name}@{k}" for name in ("nDCG", "R") for k in (1, 3, 5, 10))
"""Task A's; R is Recall."""
GENERATION_MEASURES = (
    *("rougeL", "rouge1", "question-rougeL", "bertscore", "words", "query-coverage"),
    *("abstention-accuracy", "abstention-precision", "abstention-recall"),
)
"""Of tasks B and C, those that need no judge; ROUGE unstemmed, as the organisers have it."""
ABSTENTION = "i do not have specific information"
"""The words of an abstention in a prediction without provenance."""
PREDICTION_KINDS: Kinds = {"contexts": "a list"}
V = TypeVar("V")


def is_task_file(path: Path) -> bool:
    """Tell whether the first record of a JSON Lines file has a `task_id`."""
    if ".jsonl" not in path.suffixes:
        return False
    first = next(iter(checked_records(path, {})), None)
    return first is not None and "task_id" in first.value


def read_predictions(
    path: Path,
) -> tuple[dict[QueryId, RunAnswer] | None, dict[QueryId, Ranked] | None]:
    """
    Return answers and rankings of a file of predictions for task A, B or C; None: it holds none.

    Raises:
        InputError: a record without contexts, or with one that has no id or score.
    """
    records = by_query(path, PREDICTION_KINDS, lambda record: record)
    rankings = {task_id: _ranked(path, record) for task_id, record in records.items()}
    answers = {
        task_id: _answer(record)
        for task_id, record in records.items()
        if "predictions" in record.value
    }
    return answers or None, rankings


def read_relevant(path: Path) -> QrelsByQuery:
    """
    Return the `relevant` ids of each task, as judgements of 1; tasks that list none are not judged.
    """
    lists = _lists(path, "relevant")
    return {task_id: {str(doc_id): 1 for doc_id in ids} for task_id, ids in lists if ids}


def read_targets(path: Path) -> dict[QueryId, str]:
    """Return the first of each task's `targets`; a text, or an object that holds one."""
    targets: dict[QueryId, str] = {}
    for task_id, found in _lists(path, "targets"):
        texts = [item.get("text") if isinstance(item, Mapping) else item for item in found]
        if texts and is_text(texts[0]):
            targets[task_id] = texts[0]
    return targets


def read_answerability(path: Path) -> dict[QueryId, bool]:
    """
    Tell whether each task can be answered, in part at least; what is underspecified is neither.
    """
    known: dict[QueryId, bool] = {}
    for task_id, labels in (*_lists(path, "answerability"), *_lists(path, "Answerability")):
        if "UNDERSPECIFIED" not in labels:
            known[task_id] = "UNANSWERABLE" not in labels
    return known


def with_ids_of(queries: Mapping[QueryId, str], known: Mapping[QueryId, V]) -> dict[QueryId, V]:
    """
    Return `known` under the ids that `queries` have, where only the mark between the parts differs.
    """
    ids = {_plain(query_id): query_id for query_id in queries}
    return {ids.get(_plain(task_id), task_id): value for task_id, value in known.items()}


def conversation_of(task_id: QueryId) -> str:
    """
    Return the conversation that a task is a turn of; an id that names no turn is one by itself.
    """
    return _plain(task_id).rpartition("::")[0] or task_id


def _plain(task_id: QueryId) -> QueryId:
    return task_id.replace("<::>", "::")


def _lists(path: Path, key: str) -> Iterator[tuple[QueryId, list[object]]]:
    for record in checked_records(path, {"task_id": "a non-empty string"}):
        if key in record.value:
            yield str(record.value["task_id"]).strip(), items(record.value[key])


def _ranked(path: Path, record: JsonlRecord) -> Ranked:
    ranked: dict[str, float] = {}
    for position, context in enumerate(items(record.value["contexts"])):
        doc_id = context.get("document_id") if isinstance(context, Mapping) else None
        score = context.get("score") if isinstance(context, Mapping) else None
        if not is_text(doc_id) or not is_finite(score):
            problem = f"contexts[{position}] needs a document_id and a score that is a number"
            raise InputError(problem, path=path, line=record.line)
        ranked.setdefault(doc_id, float(score))
    return tuple(ranked.items())


def _answer(record: JsonlRecord) -> RunAnswer:
    predictions = items(record.value["predictions"])
    texts = [item.get("text") for item in predictions if isinstance(item, Mapping)]
    text = next(filter(is_text, texts), "")
    return RunAnswer((RunSentence(text),), (), abstained=ABSTENTION in text.lower())
