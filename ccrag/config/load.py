"""
Where a command's settings come from, and in which order.

Flags (`--set section.key=value`) win over the environment (`CCRAG_SECTION__KEY`), that over the
pipeline's TOML, that over the defaults in `config`. A name that nobody knows is an error in every
layer. `.env` files are left to docker compose.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from pydantic import SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from ccrag.config import Settings, SettingsSource
from ccrag.config.defaults import PIPELINE_VARIABLE, unnamed_pipeline
from ccrag.errors import ConfigError

ENV_PREFIX = "CCRAG_"

Layer = dict[str, Any]


def load_settings(
    pipeline: str | Path | Layer | None = None, overrides: Sequence[str] = ()
) -> Settings:
    """
    Merge all layers into one frozen `Settings`.

    Args:
        pipeline: a packaged name, a TOML file's path, or what such a file holds; None means the
            one that `CCRAG_PIPELINE` in the environment names, else the best that can run here.
        overrides: `section.key=value`; the value is read as TOML, else taken as a string.

    Raises:
        ConfigError: no such pipeline, an unknown name, or a value out of range, in any layer.
    """
    _refuse_unknown_variables(os.environ)
    named = pipeline or unnamed_pipeline().name
    named = named if isinstance(named, dict) else str(named)
    toml = named if isinstance(named, dict) else read_pipeline(named)

    class Layered(Settings, BaseSettings):
        model_config = SettingsConfigDict(
            env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, toml)

    try:
        loaded = Layered(**_override_layer(overrides))
    except ValidationError as error:
        raise ConfigError(_first_problem(error, named, toml)) from error
    given = loaded.name if isinstance(named, dict) else named
    return loaded.came_from(SettingsSource(given, tuple(overrides)))


def pipeline_names() -> list[str]:
    """Return the names of the packaged pipelines, sorted."""
    folder = resources.files("ccrag") / "pipelines"
    names = [entry.name for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return sorted(name.removesuffix(".toml") for name in names)


def read_pipeline(pipeline: str | Path) -> Layer:
    """
    Return the TOML of a packaged pipeline, or of a file, as nested dicts with its `name`.

    Raises:
        ConfigError: no such pipeline, or the file is not TOML.
    """
    name = str(pipeline)
    if name.endswith(".toml"):
        return {"name": Path(name).stem, **_parse_toml(name, _read_file(Path(name)))}
    if name not in pipeline_names():
        known = ", ".join(pipeline_names())
        hint = did_you_mean(name, pipeline_names())
        raise ConfigError(f"no pipeline {name!r}{hint}; there are {known}; or give a .toml file")
    packaged = resources.files("ccrag") / "pipelines" / f"{name}.toml"
    return {"name": name, **_parse_toml(name, packaged.read_text(encoding="utf-8"))}


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"no pipeline file {path}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8") from error


def _parse_toml(name: str, text: str) -> Layer:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `, did you mean A or B?` with the nearest names; empty where none is near."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f", did you mean {' or '.join(near)}?" if near else ""


def _override_layer(overrides: Sequence[str]) -> Layer:
    layer: Layer = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        path = key.strip().split(".")
        if not equals or not all(path):
            raise ConfigError(f"--set {override!r}: expected section.key=value")
        _require_utf8(f"--set {override!r}", override)
        section = layer
        for part in path[:-1]:
            section = section.setdefault(part, {})
        section[path[-1]] = _toml_value(value.strip(), takes_text=_takes_text(path))
    return layer


def _toml_value(value: str, *, takes_text: bool) -> object:
    """
    Read a value as TOML, or a bare word as a string: `rerank.method=paper` needs no quotes.

    Args:
        takes_text: the setting is a text, so `engine.password=1234` is one, too.
    """
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    return read if isinstance(read, str) or not takes_text else value


def _takes_text(path: Sequence[str]) -> bool:
    """Tell whether the setting at `path` takes a text and nothing else."""
    section = Settings.model_fields.get(path[0])
    fields = getattr(section.annotation, "model_fields", {}) if section and len(path) == 2 else {}
    annotation = fields[path[1]].annotation if path[-1] in fields else None
    kinds = set(get_args(annotation) or (annotation,)) - {NoneType}
    return bool(kinds) and kinds <= {str, SecretStr}


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """pydantic-settings ignores a misspelt section; a typo must not change a run in silence."""
    known = {f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields} | {PIPELINE_VARIABLE}
    names = sorted(name for name in environ if name.upper().startswith(ENV_PREFIX))
    for name in names:
        _require_utf8(f"the value of {name}", environ[name])
    unknown = [name for name in names if name.upper().split("__")[0] not in known]
    if unknown:
        sections = ", ".join(sorted(known))
        hint = did_you_mean(unknown[0].upper().split("__")[0], known)
        raise ConfigError(f"unknown setting {unknown[0]}{hint}; sections are {sections}")


def _require_utf8(what: str, value: str) -> None:
    """Refuse bytes that were no text: a file that a run writes could not hold them."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{what} is not UTF-8") from error


def _first_problem(error: ValidationError, named: str | Layer, toml: Layer) -> str:
    """Return one line: where, what, and the names that would have been right."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    line = _line_in_file(named, toml, [str(part) for part in problem["loc"]])
    if problem["type"] == "extra_forbidden":
        hint = did_you_mean(where, setting_names())
        return f"{line}unknown setting {where}{hint}; `ccrag pipelines --settings` prints all"
    return f"{line}setting {where or 'combination'}: {problem['msg']}"


def setting_names() -> list[str]:
    """Return the names of all settings, as `--set` takes them, and of their sections."""
    names: list[str] = []
    for section, field in Settings.model_fields.items():
        names.append(section)
        keys = getattr(field.annotation, "model_fields", ())
        names += [f"{section}.{key}" for key in keys]
    return names


def _line_in_file(named: str | Layer, toml: Layer, path: Sequence[str]) -> str:
    """Return `FILE:LINE: ` where a pipeline file sets `path`; empty where it does not."""
    if isinstance(named, dict) or not named.endswith(".toml") or not path:
        return ""
    section, key = (path[0], path[1]) if len(path) > 1 else ("", path[0])
    found = toml.get(section, {}) if section else toml
    if not isinstance(found, dict) or key not in found:
        return f"{named}: " if section in toml else ""
    current = ""
    for number, text in enumerate(_read_file(Path(named)).splitlines(), start=1):
        text = text.strip()
        if text.startswith("["):
            current = text.strip("[] ").split("#")[0].strip().strip("]")
            if not section and current == key:
                return f"{named}:{number}: "
        elif current == section and text.split("=")[0].strip().strip("\"'") == key:
            return f"{named}:{number}: "
    return f"{named}: "
