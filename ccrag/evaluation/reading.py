"""Runs and gold data from files."""

from pathlib import Path

from ccrag.evaluation.gold import Quote
from ccrag.evaluation.rundata import RunData
from ccrag.types import QueryId


def read_run_data(path: Path, *, name: str | None = None) -> RunData:
    """
    A run: a folder (`responses.jsonl`, `run.trec`, `provenance.json`, any of them), a file of
    responses (`.jsonl`), or a TREC run (any other name).

    Args:
        name: what to call it; None: the folder's or file's name without suffix.

    Raises:
        InputError: nothing of a run is there, or a file of it cannot be read.
    """
    raise NotImplementedError


def read_gold_answers(path: Path) -> dict[QueryId, str]:
    """JSONL `query_id, gold_answer`."""
    raise NotImplementedError


def read_quotes(path: Path) -> dict[QueryId, tuple[Quote, ...]]:
    """JSONL `query_id, doc_id, quote`, one quote a line."""
    raise NotImplementedError


def read_answerable(path: Path) -> dict[QueryId, bool]:
    """JSONL `query_id, answerable`."""
    raise NotImplementedError
