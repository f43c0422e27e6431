"""The `ir-metadata.yml` that LongEval demands beside a run. Values in, text out; no files."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from ccrag.errors import InputError

PLACEHOLDER = "ENTER_VALUE_HERE"
"""The placeholder of the organisers' skeleton, where a value is due."""


@dataclass(frozen=True, slots=True)
class RetrievalEntry:
    """One retrieval approach; field names are the file's keys."""

    name: str
    documents: int
    """The number of documents or chunks that reach generation."""
    chunking: bool
    chunk_ranking: bool
    single_stage_retrieval: bool
    """As the key says; the skeleton's comment asks the opposite question."""


@dataclass(frozen=True, slots=True)
class GenerationEntry:
    """
    The generation of the answer; field names are the file's keys. Without an LLM, say so in words.
    """

    description: str
    prompt: str
    llm: str
    reasoning: bool
    agents: bool


def ir_metadata(
    *,
    tag: str,
    team: str,
    goal: str,
    libraries: Sequence[str],
    repository: str,
    data_name: str,
    retrieval: Sequence[RetrievalEntry],
    generation: GenerationEntry,
    automatic: bool = True,
) -> dict[str, Any]:
    """
    Return every mandatory key of the organisers' skeleton.

    Raises:
        InputError: a value is blank or still the placeholder, or a list is empty.
    """
    content = {
        "tag": tag,
        "actor": {"team": team},
        "research goal": {"description": goal},
        "platform": {"software": {"libraries": list(libraries)}},
        "implementation": {"source": {"repository": repository}},
        "data": {"training data": [{"name": data_name}]},
        "method": {
            "automatic": automatic,
            "retrieval": [asdict(entry) for entry in retrieval],
            "generation": asdict(generation),
        },
    }
    for key in _unfilled(content):
        raise InputError(f"ir-metadata: {key} has no value; give one")
    return content


def render(content: dict[str, Any]) -> str:
    """Return `content` as YAML, keys sorted; the same content gives the same bytes."""
    return yaml.safe_dump(content, sort_keys=True, allow_unicode=True, width=100)


def _unfilled(value: object, key: str = "") -> Iterator[str]:
    """Yield the keys below `value` that hold nothing or the placeholder."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _unfilled(below, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value:
        for position, below in enumerate(value):
            yield from _unfilled(below, f"{key}[{position}]")
    elif value == [] or (isinstance(value, str) and (not value.strip() or PLACEHOLDER in value)):
        yield key
