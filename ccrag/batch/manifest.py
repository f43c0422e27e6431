"""
Store what `prepare` settles for good: the manifest, and each query as it was prepared.

They hold all that a reply needs to become an answer: query, evidence down to the characters, trace,
prompt, settings, index. Neither the index nor the prompt's file is read again.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import orjson
from pydantic import TypeAdapter, ValidationError

from ccrag.config import PipelineSettings, Settings
from ccrag.engine.index import IndexInfo
from ccrag.errors import ConfigError, InputError
from ccrag.llm.prompts import Prompt
from ccrag.runs.files import pipeline_json, replacing
from ccrag.runs.identity import RunIdentity
from ccrag.types import JSON, QueryId, Result
from ccrag.version import __version__

FILE_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The settings that all queries of a batch share."""

    ccrag: str
    """The version that prepared it."""
    run: str
    """The run's digest, as `ccrag run` would have it; what is kept in the folder belongs to it."""
    settings: JSON
    """Stages, output, provider and limits, as a pipeline's TOML would hold them; no secrets."""
    prompt: Prompt
    index: IndexInfo
    queries: tuple[QueryId, ...]
    """All that were asked, in order."""
    failures: tuple[tuple[QueryId, str], ...]
    """Those that could not be prepared, and why."""
    identity: JSON
    """Names all that decides the files of the run; see `runs.identity`."""

    @property
    def head(self) -> JSON:
        """Return the head of the run's provenance, as `ccrag run` would write it."""
        return {"run": self.run, "identity": self.identity}


@dataclass(frozen=True, slots=True)
class Prepared:
    """One query, ready for a reply."""

    result: Result
    """With its evidence, and no sentence yet."""
    custom_id: str | None
    """Of the first request; None: the evidence is too weak to ask a model."""


_MANIFEST = TypeAdapter(Manifest)
_PREPARED = TypeAdapter(Prepared)


def manifest_of(
    settings: Settings,
    prompt: Prompt,
    index: IndexInfo,
    *,
    identity: RunIdentity,
    queries: tuple[QueryId, ...],
    failures: tuple[tuple[QueryId, str], ...],
) -> Manifest:
    """Return the manifest of queries that were prepared under `settings`."""
    kept = {*PipelineSettings.model_fields, "output", "provider", "batch"}
    stored = settings.model_dump(mode="json", include=kept, exclude={"provider": {"api_key"}})
    stored["provider"]["base_url"] = _without_password(settings.provider.base_url)
    return Manifest(
        ccrag=__version__,
        run=identity.digest,
        settings=stored,
        prompt=prompt,
        index=index,
        queries=queries,
        failures=failures,
        identity=identity.parts,
    )


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write it whole or not at all."""
    with replacing(folder / FILE_NAME) as file:
        file.write(_MANIFEST.dump_json(manifest, indent=1) + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """
    Return the manifest in `folder`.

    Raises:
        InputError: nothing was prepared there, or the file is broken.
    """
    path = folder / FILE_NAME
    try:
        return _MANIFEST.validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(
            f"nothing is prepared; run: ccrag batch prepare QUERIES --index NAME --out {folder}",
            path=folder,
        ) from error
    except ValidationError as error:
        raise InputError("not a batch's manifest; prepare in another folder", path=path) from error


def check_settings(manifest: Manifest, settings: Settings) -> None:
    """
    Let nobody change after `prepare` what it settled.

    Raises:
        ConfigError: a setting of a stage or of the output is another one now.
    """
    now = {**pipeline_json(settings), "output": settings.output.model_dump(mode="json")}
    settled = {name: manifest.settings[name] for name in now}
    if orjson.dumps(now) == orjson.dumps(settled):
        return
    section = next(name for name in now if orjson.dumps(now[name]) != orjson.dumps(settled[name]))
    raise ConfigError(
        f"settings of {section} were settled when the batch was prepared; take them out of flags "
        "and environment, or prepare anew in another folder"
    )


def prepared_json(prepared: Prepared) -> JSON:
    """As JSON, with nothing lost: `prepared_of` gives the same value back."""
    content: JSON = _PREPARED.dump_python(prepared, mode="json")
    return content


def prepared_of(content: JSON) -> Prepared:
    """Return the value that `prepared_json` was made from."""
    return _PREPARED.validate_python(content)
