"""Keys and types of parsed JSON or YAML."""

import math
import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeGuard

FieldKind = Literal[
    "a non-empty string",
    "a non-empty string or a whole number",
    "a whole number",
    "a finite number",
    "true or false",
    "a list",
    "a non-empty list",
    "an object",
]
Kinds = Mapping[str, FieldKind]
"""The kind of value under each key; a dotted key leads into nested mappings."""


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether it is an int; `true` is one for Python and none for us."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: object) -> TypeGuard[str]:
    """Tell whether it is a string that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_finite(value: object) -> TypeGuard[float]:
    """Tell whether it is an int or a float, neither NaN nor infinite nor a bool."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


TESTS: Mapping[FieldKind, Callable[[object], bool]] = {
    "a non-empty string": is_text,
    "a non-empty string or a whole number": lambda value: is_text(value) or is_whole(value),
    "a whole number": is_whole,
    "a finite number": is_finite,
    "true or false": lambda value: isinstance(value, bool),
    "a list": lambda value: isinstance(value, list),
    "a non-empty list": lambda value: isinstance(value, list) and bool(value),
    "an object": lambda value: isinstance(value, Mapping),
}


def shape_problems(value: object, kinds: Kinds, *, within: str = "") -> Iterator[str]:
    """
    Yield a message for every key of `kinds` that is missing or of another kind.

    Args:
        value: should be a mapping.
        kinds: keys it does not name are left alone.
        within: where `value` stands, for the messages.
    """
    if not isinstance(value, Mapping):
        yield f"{within or 'the record'} must be an object, got {reprlib.repr(value)}"
        return
    prefix = f"{within}." if within else ""
    for key, kind in kinds.items():
        found = at(value, key)
        if found is None:
            yield f"{prefix}{key} is missing, expected {kind}"
        elif not TESTS[kind](found):
            yield f"{prefix}{key} must be {kind}, got {reprlib.repr(found)}"


def at(value: object, key: str) -> object:
    """Return what a dotted key leads to; None where the way ends early."""
    for name in key.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def items(value: object) -> list[object]:
    """Return the members of a list; none for anything else, which `shape_problems` has reported."""
    return value if isinstance(value, list) else []
