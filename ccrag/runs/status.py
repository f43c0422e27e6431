"""Tell whether a run's folder is free, or holds this run, finished or not, or another one."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import orjson

from ccrag.errors import InputError
from ccrag.formats.run_folder import IR_METADATA, PREDICTIONS, PROVENANCE, RESPONSES, TREC_RUN
from ccrag.runs.identity import differences
from ccrag.runs.journal import FILE_NAME as JOURNAL
from ccrag.types import JSON

DIFFERENCES_SHOWN = 4


class RunState(Enum):
    """The state of a run's folder; the value is how a person reads it."""

    NEW = "new"
    UNFINISHED = "unfinished"
    """The same run was stopped, or queries of it failed."""
    FINISHED = "finished"
    INCOMPLETE = "without all of its files"
    """The same run, some of whose files are gone or were never written."""
    OTHER = "of other settings, index or queries"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of a folder, and what makes another run of what it holds."""

    state: RunState
    differs: tuple[str, ...] = ()
    """In what the run that lies there differs."""

    @property
    def blocks(self) -> bool:
        """Tell whether only `--overwrite` makes room."""
        return self.state in (RunState.OTHER, RunState.INCOMPLETE)


def run_status(
    folder: Path, digest: str, *, parts: JSON | None = None, responses_name: str = RESPONSES
) -> RunStatus:
    """
    Return what `folder` holds of the run whose digest is `digest`.

    Only the first line of a file is read, however long the run was.

    Args:
        parts: of the run's identity, to say in what another run differs.
        responses_name: of the run's file of answers.
    """
    journal, provenance = folder / JOURNAL, folder / PROVENANCE
    if journal.exists() and (head := _head(journal, close="")):
        # A journal without a whole first line is that of a run killed before it began.
        if head.get("run") == digest:
            return RunStatus(RunState.UNFINISHED)
        return RunStatus(RunState.OTHER, _differences(head, parts))
    names = (RESPONSES, PREDICTIONS, TREC_RUN, IR_METADATA)
    if not provenance.exists():
        strangers = [name for name in names if (folder / name).exists()]
        if not strangers:
            return RunStatus(RunState.NEW)
        return RunStatus(RunState.OTHER, (f"{strangers[0]} is there without {PROVENANCE}",))
    head = _head(provenance, close="]}")
    if head.get("run") != digest:
        return RunStatus(RunState.OTHER, _differences(head, parts))
    gone = [
        name for name in (responses_name, TREC_RUN, IR_METADATA) if not (folder / name).exists()
    ]
    if gone:
        return RunStatus(RunState.INCOMPLETE, tuple(f"{name} is missing" for name in gone))
    return RunStatus(RunState.UNFINISHED if head.get("failures") else RunState.FINISHED)


def other_run(folder: Path, status: RunStatus) -> InputError:
    """Return the error that another run lies in `folder`, with what differs and the ways out."""
    shown = "; ".join(status.differs[:DIFFERENCES_SHOWN])
    more = len(status.differs) - DIFFERENCES_SHOWN
    told = f"{shown}; and {more} more" if more > 0 else shown
    return InputError(
        f"another run lies here, which differs in: {told}; use another --out, or --overwrite to "
        "replace it",
        path=folder,
    )


def kept_entries(folder: Path, responses_name: str) -> Iterator[JSON]:
    """
    Yield what the files of a run hold about each answered query, as its journal held it.

    Raises:
        InputError: the files do not belong together.
    """
    provenance = orjson.loads((folder / PROVENANCE).read_bytes())["queries"]
    records = (folder / responses_name).read_bytes().splitlines()
    ranked: dict[str, list[str]] = {}
    for line in (folder / TREC_RUN).read_text(encoding="utf-8").splitlines():
        ranked.setdefault(line.split(maxsplit=1)[0], []).append(line)
    if len(records) != len(provenance):
        problem = f"{responses_name} and {PROVENANCE} tell of different queries; --overwrite"
        raise InputError(problem, path=folder)
    for record, told in zip(records, provenance, strict=True):
        query_id = told["query_id"]
        yield {
            "query_id": query_id,
            "record": orjson.loads(record),
            "trec": ranked.get(query_id, []),
            "provenance": told,
        }


def _differences(head: JSON, parts: JSON | None) -> tuple[str, ...]:
    return tuple(differences(head, parts or {})) or (RunState.OTHER.value.removeprefix("of "),)


def _head(path: Path, *, close: str) -> JSON:
    """Return the object in the first line, `close` ending its JSON; empty where there is none."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        head = orjson.loads(first + close.encode())
    except orjson.JSONDecodeError:
        return {}
    return head if isinstance(head, dict) else {}
