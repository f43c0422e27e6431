"""Runs and experiments of one folder, read when asked for; nothing is written."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from ccrag.formats.provenance import QueryRecord
from ccrag.formats.run_folder import PROVENANCE, REPORT, RESPONSES, RESULTS
from ccrag.types import QueryId
from ccrag.web.problems import ProblemError

MAX_DEPTH = 5
KEPT = 4
"""Files kept in memory: the run that is looked at, and what it is compared with."""


@dataclass(frozen=True, slots=True)
class StoredRunHead:
    """A run in a list; its name is its folder's path below the root."""

    name: str
    queries: int
    experiment: str | None
    """The experiment it is part of, by name."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A whole run."""

    name: str
    pipeline: str
    index: str
    version: str
    failures: tuple[tuple[QueryId, str], ...]
    queries: Mapping[QueryId, QueryRecord]
    """Provenance records, in query order; see `runs.provenance.result_json`."""


@dataclass(frozen=True, slots=True)
class StoredExperimentHead:
    """An experiment in a list."""

    name: str
    runs: tuple[str, ...]
    has_report: bool


RunFigures = Mapping[str, Mapping[QueryId, float]]
"""Measure → query → figure."""


class RunStore:
    """The runs below one folder; safe for threads."""

    def __init__(self, root: Path | None) -> None:
        """Take a folder that need not exist yet; None shows nothing."""
        self._root = root
        self._kept: OrderedDict[tuple[Path, int], Any] = OrderedDict()
        self._lock = Lock()

    def runs(self) -> list[StoredRunHead]:
        """Return all runs, by name."""
        found = [
            StoredRunHead(self._name(folder), _count(folder), self._experiment_of(folder))
            for folder in self._folders()
            if (folder / PROVENANCE).is_file()
        ]
        return sorted(found, key=lambda run: run.name)

    def experiments(self, runs: Sequence[StoredRunHead]) -> list[StoredExperimentHead]:
        """Return all experiments, by name, each with those of `runs` that are part of it."""
        return sorted(
            (
                StoredExperimentHead(
                    name := self._name(folder),
                    tuple(run.name for run in runs if run.experiment == name),
                    (folder / REPORT).is_file(),
                )
                for folder in self._folders()
                if (folder / RESULTS).is_file()
            ),
            key=lambda experiment: experiment.name,
        )

    def listed(self) -> tuple[list[StoredRunHead], list[StoredExperimentHead]]:
        """Return all runs and all experiments, the folders' files counted once."""
        runs = self.runs()
        return runs, self.experiments(runs)

    def run(self, name: str) -> RunRecord:
        """
        Return one run, whole.

        Raises:
            ProblemError: there is none of this name, or its file is not one that `ccrag run` wrote.
        """
        told = self._read(self._folder(name) / PROVENANCE)
        try:
            return RunRecord(
                name=name,
                pipeline=str(told["pipeline"]["name"]),
                index=str(told["index"]["name"]),
                version=str(told["ccrag"]),
                failures=tuple((f["query_id"], f["error"]) for f in told["failures"]),
                queries={record["query_id"]: record for record in told["queries"]},
            )
        except (KeyError, TypeError) as error:
            raise _damaged(name) from error

    def figures(self, name: str) -> RunFigures:
        """
        Return what an experiment measured of one of its runs; nothing of a run that is in none.

        Measures of which more or less is better come first.
        """
        folder = self._folder(name)
        experiment = self._experiment_of(folder)
        if experiment is None:
            return {}
        told = self._read(self._folder(experiment, RESULTS) / RESULTS)
        try:
            folders = {made["folder"]: made["run"] for made in told["made"]}
            own = folders.get(f"runs/{folder.name}")
            [measured] = [run["measures"] for run in told["runs"] if run["run"] == own] or [{}]
            directed = sorted(measured.items(), key=lambda m: m[1]["higher_is_better"] is None)
            return {measure: figures["per_query"] for measure, figures in directed}
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(experiment) from error

    def report(self, name: str) -> bytes:
        """
        Return the HTML report of an experiment.

        Raises:
            ProblemError: there is none.
        """
        return (self._folder(name, REPORT) / REPORT).read_bytes()

    def _folders(self) -> Iterator[Path]:
        """Yield every folder that may hold something, links not followed."""
        waiting = [(self._root, 0)] if self._root is not None and self._root.is_dir() else []
        while waiting:
            folder, depth = waiting.pop()
            yield folder
            if depth < MAX_DEPTH:
                waiting += [
                    (inner, depth + 1)
                    for inner in folder.iterdir()
                    if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith(".")
                ]

    def _folder(self, name: str, holds: str = PROVENANCE) -> Path:
        """Return the folder of a name that a list has shown; a name is never used as a path."""
        for folder in self._folders():
            if self._name(folder) == name and (folder / holds).is_file():
                return folder
        raise ProblemError("unknown_run", "no such run or experiment is available")

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self._root or folder).as_posix()

    def _experiment_of(self, folder: Path) -> str | None:
        above = folder.parent.parent
        inside = self._root is not None and above.is_relative_to(self._root)
        if folder.parent.name == "runs" and inside and (above / RESULTS).is_file():
            return self._name(above)
        return None

    def _read(self, path: Path) -> Any:
        key = (path, path.stat().st_mtime_ns)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        try:
            value = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise _damaged(self._name(path.parent)) from error
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return value


def _count(folder: Path) -> int:
    """Count the queries of a run: the lines of its responses."""
    responses = folder / RESPONSES
    return responses.read_bytes().count(b"\n") if responses.is_file() else 0


def _damaged(name: str) -> ProblemError:
    return ProblemError("invalid_request", f"the files of {name!r} are not those of a run")
