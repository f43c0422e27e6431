"""Every setting by name, with its default and what its docstring says."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from pydantic import BaseModel

from ccrag.config import Settings


class DescribedSetting(NamedTuple):
    """One setting, as `--set` names it."""

    name: str
    default: object
    """As JSON has it; None: unset."""
    meaning: str
    """One line; empty where the name says all."""


def described_settings() -> Iterator[DescribedSetting]:
    """Yield all settings, section by section, in the order they are written in."""
    for section, default in Settings():
        if isinstance(default, BaseModel):
            meanings = _meanings(type(default))
            for field, value in default.model_dump(mode="json").items():
                yield DescribedSetting(f"{section}.{field}", value, meanings.get(field, ""))


def _meanings(section: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field of a class and of its bases, on one line."""
    found: dict[str, str] = {}
    for kind in reversed(section.__mro__):
        if not issubclass(kind, BaseModel) or kind is BaseModel:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        children = body.body if isinstance(body, ast.ClassDef) else []
        for field, below in pairwise(children):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(ast.Constant(str(text))):
                        found[field.target.id] = " ".join(text.split())
    return found
