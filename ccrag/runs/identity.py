"""Compute the digest of all that decides the files of a run, and in what two runs differ."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ccrag.config import Settings
from ccrag.engine.index import IndexInfo
from ccrag.formats import Format
from ccrag.pipeline.calibrations import NONE, calibration_label
from ccrag.runs.files import pipeline_json, prompt_of, stage_prompts_of
from ccrag.text.truncate import short_repr
from ccrag.types import JSON, Query
from ccrag.version import __version__

WORDS = {
    "version": "the version of ccrag",
    "queries": "the queries or their candidates",
    "index": "the index (another one, or built from other documents)",
    "prompt": "the prompt",
    "stage_prompts": "the prompts of stages before the answer",
    "calibration": "the calibration",
    "format": "the format",
}
"""Names of the parts in messages; settings are called by their own names."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The digest of all that decides the files of a run, and the parts it is made of."""

    digest: str
    """32 hex digits."""
    parts: JSON
    """The same by name, for messages; the queries as a digest."""

    @property
    def head(self) -> JSON:
        """Return what the first line of a run's files says of it."""
        return {"run": self.digest, "identity": self.parts}


def run_identity(
    settings: Settings,
    info: IndexInfo,
    queries: Sequence[Query],
    *,
    file_format: Format = Format.LONGEVAL,
) -> RunIdentity:
    """Return the identity: version, format, settings, prompts, index and queries decide it."""
    decides: JSON = {
        "version": __version__,
        "format": file_format.value,
        "pipeline": pipeline_json(settings),
        "output": settings.output.model_dump(mode="json"),
        "index": [info.passages_id, info.documents_index],
    }
    if (prompt := prompt_of(settings)) is not None:
        decides["prompt"] = prompt.digest
    if stages := stage_prompts_of(settings):
        decides["stage_prompts"] = {stage: prompt.digest for stage, prompt in stages.items()}
    if settings.answer.answerability != NONE:
        decides["calibration"] = calibration_label(settings.answer.answerability)
    decides["queries"] = _digest([_query_json(query) for query in queries])
    return RunIdentity(_digest(decides), decides)


def differences(head: JSON, parts: JSON) -> list[str]:
    """
    Return in what the run that wrote `head` differs from one of these `parts`.

    Only what both tell of is compared.

    Args:
        head: the first line of its journal or provenance.
    """
    theirs = head.get("identity") or {"pipeline": head.get("pipeline")}
    found: list[str] = []
    for name in ("pipeline", "output"):
        found += _settings(theirs.get(name), parts.get(name), "" if name == "pipeline" else name)
    for name, word in WORDS.items():
        # A part that only one of them has is a difference too, if the other tells of its parts.
        comparable = name in theirs or ("version" in theirs and "version" in parts)
        if comparable and theirs.get(name) != parts.get(name):
            found.append(word)
    return found


def _settings(theirs: object, here: object, section: str) -> Iterator[str]:
    """Yield every setting that differs, with both values."""
    if isinstance(theirs, Mapping) and isinstance(here, Mapping):
        for key in sorted(theirs.keys() | here.keys()):
            name = f"{section}.{key}" if section else str(key)
            yield from _settings(theirs.get(key), here.get(key), name)
    elif theirs != here and section not in ("", "summary"):
        yield f"{section} {short_repr(theirs)} (here {short_repr(here)})"


def _query_json(query: Query) -> list[Any]:
    """Return all of a query that decides its answer."""
    candidates = query.candidates
    turns = [[turn.speaker, turn.text] for turn in query.turns]
    return [query.query_id, query.text, candidates.doc_ids, candidates.collection, turns]


def _digest(value: object) -> str:
    canonical = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=16).hexdigest()
