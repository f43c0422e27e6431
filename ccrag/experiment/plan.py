"""Which runs an experiment holds: its pipelines, each in every combination of the grid."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ccrag.config import Settings
from ccrag.config.load import load_settings
from ccrag.errors import ConfigError

MAX_FOLDER_CHARS = 100
UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
OPENING, CLOSING, QUOTES = "[{", "]}", "\"'"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One pipeline in one combination of the grid."""

    name: str
    """The pipeline's name and what the grid sets, e.g. `rrf-no-rerank fusion.rrf_k=10`."""
    folder: str
    """The name as a folder and a run id can have it; differs from every other run's."""
    settings: Settings


def plan_runs(
    pipelines: Sequence[str], *, overrides: Sequence[str] = (), grid: Sequence[str] = ()
) -> tuple[PlannedRun, ...]:
    """
    Return every pipeline in every combination of `grid`, pipelines in the order given.

    Args:
        pipelines: packaged names or TOML files.
        overrides: `section.key=value`, for all runs alike.
        grid: `section.key=value,value`, each an axis; see `expand_grid`.

    Raises:
        ConfigError: no pipeline, one named twice, a bad grid, or settings nobody knows.
    """
    if not pipelines:
        raise ConfigError("no pipelines; name some, e.g. --pipelines single-query-bm25,default")
    axes = expand_grid(grid)
    _refuse_repeated(
        [axis.partition("=")[0].strip() for axis in grid]
        + [override.partition("=")[0].strip() for override in overrides],
        "set more than once among --set and --grid",
    )
    loaded = [
        (combination, load_settings(pipeline, [*overrides, *combination]))
        for pipeline in pipelines
        for combination in axes
    ]
    names = [" ".join((settings.name, *combination)) for combination, settings in loaded]
    _refuse_repeated(names, "named twice; leave one out, or rename its file")
    folders = folder_names(names)
    return tuple(
        PlannedRun(name, folder, _with_run_id(settings, folder))
        for name, folder, (_, settings) in zip(names, folders, loaded, strict=True)
    )


def expand_grid(axes: Sequence[str]) -> list[tuple[str, ...]]:
    """
    Return all combinations of `section.key=a,b,c` as overrides, the last axis changing fastest.

    No axes give one combination, of nothing. Commas inside brackets and quotes part no values, so
    `retrieval.lists=["bm25"],["bm25","dense"]` holds two.

    Raises:
        ConfigError: an axis without a key or with an empty or repeated value.
    """
    return list(product(*(_axis(axis) for axis in axes)))


def _axis(axis: str) -> list[str]:
    key, equals, text = axis.partition("=")
    values = [value.strip() for value in split_values(text)]
    if not equals or not key.strip() or not all(values):
        raise ConfigError(f"--grid {axis!r}: expected section.key=value,value")
    _refuse_repeated(values, f"repeated in --grid {axis!r}")
    return [f"{key.strip()}={value}" for value in values]


def split_values(text: str) -> list[str]:
    """Return `text` at its commas, those inside brackets or quotes excepted."""
    parts = [""]
    depth, quote = 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in QUOTES:
            quote = character
        else:
            depth += (character in OPENING) - (character in CLOSING)
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def folder_names(names: Sequence[str]) -> list[str]:
    """
    Return a safe folder name for each of `names`, which differ; no two are equal on any file
    system.

    A space becomes `_`. A name that needs more than that, is too long, or would meet another gets
    the digest of the whole name at its end.
    """
    readable = [name.replace(" ", "_") for name in names]
    counts = Counter(name.casefold() for name in readable)
    return [
        safe
        if safe == UNSAFE.sub("_", safe)
        and len(safe) <= MAX_FOLDER_CHARS
        and not safe.startswith(".")
        and counts[safe.casefold()] == 1
        else _with_digest(name)
        for name, safe in zip(names, readable, strict=True)
    ]


def _with_digest(name: str) -> str:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{UNSAFE.sub('_', name).lstrip('.')[:MAX_FOLDER_CHARS]}-{digest}"


def _with_run_id(settings: Settings, folder: str) -> Settings:
    """Return a run id of its own for every run, so that their submissions can be told apart."""
    if settings.output.run_id is not None:
        return settings
    return settings.model_copy(
        update={"output": settings.output.model_copy(update={"run_id": folder})}
    )


def _refuse_repeated(names: Sequence[str], problem: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(f"{name}: {problem}")
