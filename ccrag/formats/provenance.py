"""
The record of one query, shared by `provenance.json`, the HTTP API, the page, the file of a chat,
experiments and measures. Types alone: what mypy checks here is what readers and OpenAPI see.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs this one below Python 3.12


class PassageRecord(TypedDict):
    """A passage: where its text stands, in code points of the document."""

    passage_id: str
    doc_id: str
    title: str
    date: str | None
    section: Sequence[str]
    start: int
    end: int
    page: Annotated[
        int | None, Field(description="The page it starts on, from 1, if the document has pages.")
    ]


class EvidenceRecord(TypedDict):
    """Words that may support the answer: `text` is the document's text at `start:end`."""

    evidence_id: str
    passage_id: str
    doc_id: str
    section: Sequence[str]
    start: int
    end: int
    text: str
    score: float
    reasons: NotRequired[
        Annotated[
            Sequence[tuple[str, float]],
            Field(
                description="Where a learnt ranking chose it: its strongest features, in log-odds."
            ),
        ]
    ]


class SentenceRecord(TypedDict):
    """A sentence of an answer."""

    text: str
    evidence: Annotated[
        Sequence[str], Field(description="Ids of the evidence it rests on, best first.")
    ]
    citations: Annotated[
        Sequence[int], Field(description="Indices into `references`, from 0, best first.")
    ]
    supported: NotRequired[
        Annotated[bool, Field(description="Whether a check found it supported; absent: none did.")]
    ]


class StrengthRecord(TypedDict):
    """The match of the evidence with the question, as far as words and cosines tell."""

    level: Literal["strong", "weak", "none"]
    reason: str
    covered: Annotated[
        float,
        Field(description="Share of the question's content words in the evidence, by idf."),
    ]
    missing: Annotated[
        Sequence[str], Field(description="Content words that the evidence does not hold.")
    ]


class UnitRecord(TypedDict):
    """Linked documents that were read together, in reading order."""

    unit_id: str
    documents: Sequence[str]


class VariantRecord(TypedDict):
    """A variant of the query that was searched."""

    name: str
    text: str


class RankingRecord(TypedDict):
    """A ranking; `hits` are [passage_id, score], best first."""

    stage: str
    hits: Sequence[tuple[str, float]]


class NoteRecord(TypedDict):
    """A remark of a stage."""

    stage: str
    message: str


class CallRecord(TypedDict):
    """A call to a language model."""

    prompt: str
    digest: str
    model: str
    parameters: Mapping[str, Any]
    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: str
    cached: bool


class AnswerabilityRecord(TypedDict):
    """The decision whether the candidates answer the query."""

    calibration: str
    probability: Annotated[
        float, Field(description="The probability that they do not answer, 0 to 1.")
    ]
    threshold: float
    abstains: bool
    features: Mapping[str, float]
    contributions: Mapping[str, float]


class AnswerRecord(TypedDict):
    """An answer whose every sentence leads back to the characters of a document."""

    query_id: str
    query: str
    abstained: bool
    answer: Sequence[SentenceRecord]
    strength: Annotated[
        StrengthRecord | None,
        Field(description="How far the evidence matches the question; null: not computed."),
    ]
    references: Annotated[Sequence[str], Field(description="Cited documents, each once.")]
    evidence: Sequence[EvidenceRecord]
    read: Annotated[
        Sequence[PassageRecord],
        Field(description="Passages the answer was read from, in reading order."),
    ]
    selected: Annotated[
        Sequence[str], Field(description="Ids of the ranked passages that were selected to read.")
    ]
    units: NotRequired[
        Annotated[
            Sequence[UnitRecord], Field(description="Where units are read: those, best first.")
        ]
    ]
    ranked: Annotated[
        Sequence[tuple[str, int, int]],
        Field(description="The final ranking as [doc_id, start, end], best first."),
    ]


class TraceRecord(TypedDict, total=False):
    """The trace of how the passages were found; over HTTP with `explain` only."""

    variants: Sequence[VariantRecord]
    rankings: Annotated[Sequence[RankingRecord], Field(description="Every ranking.")]
    notes: Sequence[NoteRecord]
    seconds: Annotated[Mapping[str, float], Field(description="Seconds by stage.")]
    calls: Sequence[CallRecord]
    answerability: AnswerabilityRecord


class QueryRecord(AnswerRecord, TraceRecord):
    """One query of `provenance.json`: its answer, and how it came about."""
