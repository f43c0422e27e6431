"""List every setting by name, with its default and what its docstring says."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ccrag.config import Settings
from ccrag.config.section import SettingsSection


class DescribedSetting(NamedTuple):
    """Describe one setting, as `--set` names it."""

    name: str
    default: object
    """As JSON has it; None: unset."""
    meaning: str
    """One line; empty where the name says all."""


def described_settings() -> Iterator[DescribedSetting]:
    """Yield all settings, section by section, in the order they are written in."""
    for section, default in Settings():
        if isinstance(default, SettingsSection):
            meanings = dict(_meanings(type(default)))
            for field, value in default.model_dump(mode="json").items():
                yield DescribedSetting(f"{section}.{field}", value, meanings.get(field, ""))


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
