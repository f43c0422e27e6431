"""
The lines of a dialogue's file, and what is wrong with one. Pure.

The first says what the dialogue is over, which never changes: index, pipeline, candidates. Each
further one is an exchange, or `{"new": true}` where the user began afresh.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

import orjson
from pydantic import BaseModel, ValidationError, model_validator

from ccrag.chat.exchanges import Exchange
from ccrag.config import Settings
from ccrag.errors import InputError
from ccrag.formats.provenance import QueryRecord
from ccrag.runs.files import pipeline_json
from ccrag.types import Candidates
from ccrag.version import __version__

FORMAT = 1
IDS_SHOWN = 3
RecordType = TypeVar("RecordType", bound=BaseModel)


class _Candidates(BaseModel):
    """Which documents they are, whatever the order they were named in."""

    doc_ids: list[str] | None = None
    collection: str | None = None
    """Without either, the whole index."""

    @classmethod
    def of(cls, candidates: Candidates) -> Self:
        ids = candidates.doc_ids
        return cls(doc_ids=None if ids is None else sorted(ids), collection=candidates.collection)

    def option(self) -> str:
        """Return what names them on the command line; of many ids the first."""
        if self.doc_ids is None:
            return "--all" if self.collection is None else f"--collection {self.collection}"
        count = len(self.doc_ids)
        more = f",… ({count} documents)" if count > IDS_SHOWN else ""
        return f"--docs {','.join(self.doc_ids[:IDS_SHOWN])}{more}"


class _HeadRecord(BaseModel):
    """The first line, as far as it is read."""

    chat: Literal[1]
    index: str
    candidates: _Candidates
    pipeline: dict[str, Any]


class _Sentence(BaseModel):
    text: str
    evidence: list[str]
    citations: list[int]


class _Evidence(BaseModel):
    evidence_id: str
    passage_id: str
    doc_id: str
    section: list[str]
    start: int
    end: int
    text: str
    score: float


class _PassageRecord(BaseModel):
    passage_id: str
    doc_id: str
    title: str


class _VariantRecord(BaseModel):
    name: str
    text: str


class _Ranking(BaseModel):
    stage: str
    hits: list[tuple[str, float]]


class _Note(BaseModel):
    stage: str
    message: str


class _Call(BaseModel):
    model: str
    prompt: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached: bool
    digest: str


class _ExchangeRecord(BaseModel):
    """An exchange's record, as far as it is shown or built upon."""

    query: str
    answer: list[_Sentence]
    references: list[str]
    evidence: list[_Evidence]
    read: list[_PassageRecord]
    variants: list[_VariantRecord]
    rankings: list[_Ranking]
    notes: list[_Note]
    seconds: dict[str, float]
    calls: list[_Call]

    @model_validator(mode="after")
    def _check_citations(self) -> Self:
        documents = {item.evidence_id: item.doc_id for item in self.evidence}
        for sentence in self.answer:
            cited = {documents.get(evidence_id) for evidence_id in sentence.evidence}
            if not cited <= set(self.references):
                raise ValueError("a sentence rests on evidence that is not here or not cited")
            if not set(sentence.citations) <= set(range(len(self.references))):
                raise ValueError("a sentence cites a document that is not there")
        return self


class _TranscriptLine(BaseModel):
    """A line after the first: one of the two."""

    new: Literal[True] | None = None
    exchange: _ExchangeRecord | None = None
    turns_read: int = 0

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.new is None) == (self.exchange is None):
            raise ValueError("neither an exchange nor a new dialogue, or both")
        return self


@dataclass(frozen=True, slots=True)
class Ground:
    """The index, candidates and pipeline of a dialogue, which do not change."""

    index: str
    candidates: Candidates
    settings: Settings

    def line(self) -> bytes:
        """Return the file's first line."""
        head = {
            "chat": FORMAT,
            "ccrag": __version__,
            "index": self.index,
            "candidates": _Candidates.of(self.candidates).model_dump(exclude_none=True),
            "pipeline": pipeline_json(self.settings),
        }
        return orjson.dumps(head) + b"\n"

    def check(self, line: bytes) -> None:
        """
        Let a file go on whose first line says the same.

        Raises:
            InputError: it does not; says what to give instead.
        """
        head = _parsed(_HeadRecord, line)
        wrong: str | None = None
        if head.index != self.index:
            wrong = f"index {head.index!r}; give --index {head.index}"
        elif head.candidates != _Candidates.of(self.candidates):
            wrong = f"other documents; give {head.candidates.option()}"
        elif head.pipeline.get("name") != self.settings.name:
            wrong = f"pipeline {head.pipeline.get('name')}; give it by --pipeline"
        elif difference := _difference(head.pipeline, pipeline_json(self.settings)):
            wrong = f"other settings: {difference}; give the same"
        if wrong is not None:
            raise InputError(f"is a dialogue over {wrong}, or another --file")


NEW_LINE = orjson.dumps({"new": True}) + b"\n"
"""A new dialogue begins."""


def exchange_line(exchange: Exchange) -> bytes:
    """Return the line that keeps `exchange`."""
    return orjson.dumps({"exchange": exchange.record, "turns_read": exchange.turns_read}) + b"\n"


def read_exchange(line: bytes) -> Exchange | None:
    """
    Return what a line after the first keeps; None: a new dialogue begins.

    Raises:
        InputError: it is damaged.
    """
    read = _parsed(_TranscriptLine, line)
    record: QueryRecord | None = orjson.loads(line).get("exchange")
    return None if record is None else Exchange(record, read.turns_read)


def _parsed(kind: type[RecordType], line: bytes) -> RecordType:
    try:
        return kind.model_validate_json(line, strict=True)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = "".join(f"{part}." for part in problem["loc"]).rstrip(".")
        told = f"{where}: {problem['msg']}" if where else problem["msg"]
        raise InputError(
            f"not a line that ccrag chat writes ({told}); mend it, or give another --file"
        ) from error


def _difference(saved: Mapping[str, Any], current: Mapping[str, Any]) -> str | None:
    """Return the first setting of `saved` that has another value now; new settings do not count."""
    for section, values in saved.items():
        now = current.get(section)
        if section in ("name", "summary") or now == values:
            continue
        if not isinstance(values, dict) or not isinstance(now, dict):
            return section
        for key, value in values.items():
            if now.get(key) != value:
                return f"{section}.{key}={value}, which is {now.get(key)} here"
    return None
