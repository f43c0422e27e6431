"""Describe every setting: as a pipeline file with comments, and as the page `docs/settings.md`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import orjson
import tomli_w
from pydantic import SecretStr

from ccrag.config import PipelineSettings, Settings
from ccrag.config.section import SettingsSection

WIDTH = 100
PAGE_HEAD = """# Settings

Every setting, made from the code by `ccrag pipelines --settings > docs/settings.md`.

A setting is given by `--set SECTION.KEY=VALUE`, by the environment (`CCRAG_SECTION__KEY`), or in a
pipeline's TOML file; the first of these that names it wins, then its default holds.
`ccrag pipelines NAME` prints a pipeline in full, `--changed` only what differs from the defaults.
"""


class DescribedSetting(NamedTuple):
    """One setting, as `--set` names it."""

    section: str
    key: str
    default: object
    """As JSON has it; None: unset."""
    meaning: str
    """One line; empty where the name says all."""

    @property
    def name(self) -> str:
        """Return the name that `--set` takes."""
        return f"{self.section}.{self.key}"


def described_settings() -> Iterator[DescribedSetting]:
    """Yield all settings, section by section, in the order they are written in."""
    for name, section in _sections(Settings()):
        meanings = dict(_meanings(type(section)))
        for key, default in section.model_dump(mode="json").items():
            yield DescribedSetting(name, key, default, meanings.get(key, ""))


def settings_page() -> str:
    """Return the page of all settings as Markdown."""
    lines = [PAGE_HEAD]
    sections = dict(_sections(Settings()))
    last = ""
    for setting in described_settings():
        if setting.section != last:
            last = setting.section
            lines.append(f"\n## {last}\n\n{_first_line(sections[last])}\n")
        default = "unset" if setting.default is None else f"`{_inline(setting.default)}`"
        meaning = f": {setting.meaning}" if setting.meaning else ""
        lines.append(f"- **`{setting.name}`** ({default}){meaning}")
    return "\n".join(lines) + "\n"


def pipeline_toml(settings: Settings, *, changed: bool = False) -> str:
    """
    Return a pipeline as TOML, with the meaning of each setting as a comment above it.

    Given back as a pipeline file it makes the same settings. What is unset stands as a comment,
    since TOML has no null; so does a secret, which is never printed.

    Args:
        changed: print only what differs from the defaults.
    """
    parts = [f"summary = {_inline(settings.summary)}\n"]
    defaults = dict(_sections(Settings()))
    for name, section in _sections(settings):
        if changed and section == defaults[name]:
            continue
        lines = [*_comment(_first_line(section)), f"[{name}]"]
        meanings = dict(_meanings(type(section)))
        for key, value in section:
            if changed and value == getattr(defaults[name], key):
                continue
            lines += ["", *_comment(meanings.get(key, ""))] if not changed else []
            lines.append(_toml_line(key, value, section.model_dump(mode="json")[key]))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _sections(settings: Settings) -> Iterator[tuple[str, SettingsSection]]:
    """Yield the sections by name, those of a pipeline's stages first."""
    for name in sorted(Settings.model_fields, key=lambda n: n not in PipelineSettings.model_fields):
        section = getattr(settings, name)
        if isinstance(section, SettingsSection):
            yield name, section


def _toml_line(key: str, value: object, dumped: object) -> str:
    if isinstance(value, SecretStr):
        return f"# {key} is set; a secret is not printed"
    return f"# {key} is unset" if dumped is None else f"{key} = {_inline(dumped)}"


def _inline(value: object) -> str:
    """Return a value in TOML, on one line."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{orjson.dumps(k).decode()} = {_inline(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return tomli_w.dumps({"v": value}).strip().removeprefix("v = ")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _first_line(section: SettingsSection) -> str:
    return (inspect.getdoc(type(section)) or "").split("\n")[0]


def _meanings(section: type[SettingsSection]) -> Iterator[tuple[str, str]]:
    """
    Yield the name of each field of a section and the docstring below it, on one line.

    Read from the source here and not by pydantic's `use_attribute_docstrings`, which reads all
    sources whenever settings are imported: 20 ms more at the start of every command.
    """
    [written] = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    for pair in pairwise(ast.iter_child_nodes(written)):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=str(field))),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield field, " ".join(text.split())
