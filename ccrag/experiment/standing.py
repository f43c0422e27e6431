"""Whether a run's folder can be reused, gone on with, or has to be written anew."""

from enum import Enum
from pathlib import Path

import orjson

from ccrag.runs.files import IR_METADATA, PROVENANCE, TREC_RUN
from ccrag.runs.journal import FILE_NAME as JOURNAL
from ccrag.runs.shapes import RESPONSES


class Standing(Enum):
    """What lies in a run's folder; the value is how a person reads it."""

    NEW = "new"
    UNFINISHED = "unfinished"
    """The same run was stopped, or queries of it failed."""
    FINISHED = "finished"
    CHANGED = "of other settings, index or queries"


def standing(folder: Path, digest: str) -> Standing:
    """
    What `folder` holds of the run whose `run_digest` is `digest`.

    Only the first line of a file is read, however long the run was.
    """
    journal, provenance = folder / JOURNAL, folder / PROVENANCE
    if journal.exists():
        same = _run_of(journal, close="") == digest
        return Standing.UNFINISHED if same else Standing.CHANGED
    if not provenance.exists():
        return Standing.NEW
    complete = all((folder / name).exists() for name in (RESPONSES, TREC_RUN, IR_METADATA))
    same = _run_of(provenance, close="]}") == digest
    return Standing.FINISHED if complete and same else Standing.CHANGED


def _run_of(path: Path, *, close: str) -> object:
    """The digest in the first line, `close` ending its JSON; None where there is none."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        head = orjson.loads(first + close.encode())
    except orjson.JSONDecodeError:
        return None
    return head.get("run") if isinstance(head, dict) else None
