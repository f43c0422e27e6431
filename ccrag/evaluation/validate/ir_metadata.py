"""LongEval's `ir-metadata.yml`: every mandatory key filled, and of the organisers' type."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from ccrag.evaluation.validate.problems import Problem
from ccrag.evaluation.validate.shape import Kinds, at, is_text, items, shape_problems
from ccrag.formats.plain_files import file_bytes

PLACEHOLDER = "ENTER_VALUE_HERE"
KINDS: Kinds = {
    "tag": "a non-empty string",
    "actor.team": "a non-empty string",
    "research goal.description": "a non-empty string",
    "platform.software.libraries": "a non-empty list",
    "implementation.source.repository": "a non-empty string",
    "data.training data": "a non-empty list",
    "method.automatic": "true or false",
    "method.retrieval": "a non-empty list",
    "method.generation.description": "a non-empty string",
    "method.generation.prompt": "a non-empty string",
    "method.generation.llm": "a non-empty string",
    "method.generation.reasoning": "true or false",
    "method.generation.agents": "true or false",
}
DATA_KINDS: Kinds = {"name": "a non-empty string"}
RETRIEVAL_KINDS: Kinds = {
    "name": "a non-empty string",
    "documents": "a whole number",
    "chunking": "true or false",
    "chunk_ranking": "true or false",
    "single_stage_retrieval": "true or false",
}


def ir_metadata_problems(path: Path) -> list[Problem]:
    """Return everything that is wrong with the file, its absence included."""
    if not path.is_file():
        return [Problem(path, None, None, "is missing; LongEval demands it beside the answers")]
    try:
        content = yaml.safe_load(file_bytes(path))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        return [Problem(path, line, None, f"is not YAML: {error.problem}")]
    except yaml.YAMLError as error:
        return [Problem(path, None, None, f"is not YAML: {str(error).splitlines()[0]}")]
    return [Problem(path, None, None, message) for message in _messages(content)]


def _messages(content: object) -> Iterator[str]:
    yield from shape_problems(content, KINDS)
    for position, library in enumerate(items(at(content, "platform.software.libraries"))):
        if not is_text(library):
            yield f"platform.software.libraries[{position}] must be a non-empty string"
    yield from _list_problems(content, "data.training data", DATA_KINDS)
    yield from _list_problems(content, "method.retrieval", RETRIEVAL_KINDS)
    for key in _placeholders(content):
        yield f"{key} still holds {PLACEHOLDER}"


def _list_problems(content: object, key: str, kinds: Kinds) -> Iterator[str]:
    for position, entry in enumerate(items(at(content, key))):
        yield from shape_problems(entry, kinds, within=f"{key}[{position}]")


def _placeholders(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _placeholders(below, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for position, below in enumerate(value):
            yield from _placeholders(below, f"{key}[{position}]")
    elif isinstance(value, str) and PLACEHOLDER in value:
        yield key
