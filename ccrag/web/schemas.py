"""Requests and replies of the API, for validation and for OpenAPI."""

from typing import Annotated, Any, Literal, Required

from pydantic import BaseModel, ConfigDict, Field

from ccrag.formats.provenance import AnswerRecord, PassageRecord, TraceRecord
from ccrag.web.problems import ProblemCode

MAX_ID_CHARS = 480
DocIdField = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]


class CollectionCandidates(BaseModel):
    """Every document that its index files under this collection."""

    model_config = ConfigDict(extra="forbid")
    collection: str = Field(min_length=1, max_length=MAX_ID_CHARS)


CandidatesField = Annotated[
    Literal["all"] | list[DocIdField] | CollectionCandidates,
    Field(
        description="Ids of the documents that may answer; or a collection of the index; or "
        "`all`: every document of the "
        "index that the caller may read. Nothing outside them is retrieved, shown or cited.",
    ),
]

ASK_EXAMPLE: dict[str, Any] = {
    "index": "demo",
    "text": "Is assert still checked with -O?",
    "candidates": ["assert", "debugger"],
}


class SearchRequest(BaseModel):
    """A question, and the only documents whose passages may be ranked for it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{**ASK_EXAMPLE, "top": 5}]}
    )
    index: str = Field(min_length=1, max_length=80)
    text: str = Field(min_length=1, description="The question.")
    candidates: CandidatesField
    pipeline: str | None = Field(None, description="A named pipeline; null: the server's default.")
    top: int = Field(10, ge=1, le=200, description="Passages to return.")
    explain: bool = Field(False, description="Add variants, every ranking, notes and seconds.")


class AskRequest(BaseModel):
    """A question, and the only documents that may answer it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [ASK_EXAMPLE]})
    index: str = Field(min_length=1, max_length=80)
    text: str = Field(min_length=1, description="The question.")
    candidates: CandidatesField
    pipeline: str | None = Field(None, description="A named pipeline; null: the server's default.")
    explain: bool = Field(False, description="Add variants, every ranking, notes and seconds.")


SUPPORT_CLAIM_CHARS, SUPPORT_TEXT_CHARS, SUPPORT_TEXTS = 1_000, 4_000, 20
"""The most that one request compares: the time it takes grows with both lengths multiplied."""


class SupportRequest(BaseModel):
    """A claim, and the texts that should support it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "claim": "The dam is 61 metres high.",
                    "evidence": ["The dam, finished in 1931, is 61 metres high."],
                }
            ]
        },
    )
    claim: str = Field(min_length=1, max_length=SUPPORT_CLAIM_CHARS)
    evidence: list[Annotated[str, Field(min_length=1, max_length=SUPPORT_TEXT_CHARS)]] = Field(
        max_length=SUPPORT_TEXTS
    )
    question: str | None = Field(
        None, max_length=SUPPORT_CLAIM_CHARS, description="The question it answers, if known."
    )


class SupportPlace(BaseModel):
    """Words of an evidence text: `evidence[text_index][start:end]`."""

    text_index: int
    start: int
    end: int


class SupportResponse(BaseModel):
    """The judgement whether the evidence supports the claim, by its words."""

    verdict: Literal["supported", "partly", "unsupported"]
    probability: float = Field(description="The probability that the evidence supports the claim.")
    reason: str = Field(description="What differs or is missing.")
    spans: list[SupportPlace] = Field(
        description="The best sentence of the evidence, and what contradicts the claim."
    )


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:ccrag:problem:not_available",
                    "title": "not available",
                    "status": 404,
                    "code": "not_available",
                    "detail": "a document that was asked for is not available; correct the ids",
                    "request_id": "5f1c9a7be0d24c31",
                }
            ]
        }
    )
    type: str
    title: str
    status: int
    code: ProblemCode
    detail: str
    request_id: str


class PassageHit(PassageRecord):
    """A ranked passage."""

    rank: Annotated[int, Field(ge=1)]
    score: float
    text: str


class SearchResponse(TraceRecord):
    """The best passages of the candidates."""

    index: Required[str]
    pipeline: Required[str]
    query: Required[str]
    hits: Required[list[PassageHit]]


class AskResponse(AnswerRecord, TraceRecord):
    """An answer whose every sentence leads back to the characters of a document."""

    index: str
    pipeline: str


class ReadIndex(BaseModel):
    """An index as far as the caller may read it."""

    name: str
    documents: int
    pipelines: list[str] = Field(description="Pipelines it has been indexed for.")


class IndexList(BaseModel):
    """The indexes that can be asked."""

    indexes: list[ReadIndex]


class NamedPipeline(BaseModel):
    """A named setting of all stages."""

    name: str
    summary: str
    default: bool


class PipelineList(BaseModel):
    """The pipelines that a request may choose."""

    pipelines: list[NamedPipeline]


class ListedDocument(BaseModel):
    """A document in a list."""

    doc_id: str
    title: str
    date: str | None


class DocumentList(BaseModel):
    """A page of documents."""

    documents: list[ListedDocument]
    next: str | None = Field(description="Cursor of the next page; null: this is the last.")


class DocumentPart(BaseModel):
    """A piece of a document's text."""

    start: int
    end: int
    text: str
    highlighted: bool


class DocumentView(BaseModel):
    """A document's text in parts; joined they are its text at `start:end`."""

    doc_id: str
    title: str
    date: str | None
    links: list[str] = Field(description="Documents it links to, as far as the caller may read.")
    length: int = Field(description="Of the whole text, in code points.")
    start: int
    end: int
    parts: list[DocumentPart]


class Uploaded(BaseModel):
    """A paper that can be asked now, as an index of its own."""

    index: str
    documents: int
    passages: int
    notes: list[str] = Field(description="What a person should know of how the file was read.")
    pipeline: str
    kept_minutes: float = Field(description="How long it stays after it was last asked.")


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok", "unavailable"]


class RunSummary(BaseModel):
    """A run in a list."""

    name: str = Field(description="Its folder below the one the server shows.")
    queries: int
    experiment: str | None


class ExperimentSummary(BaseModel):
    """An experiment in a list."""

    name: str
    runs: list[str]
    has_report: bool


class RunList(BaseModel):
    """The runs and experiments of the server."""

    runs: list[RunSummary]
    experiments: list[ExperimentSummary]


class RunQueryHead(BaseModel):
    """A query of a run."""

    query_id: str
    query: str
    abstained: bool
    references: list[str]


class RunDetails(BaseModel):
    """A run."""

    name: str
    pipeline: str
    index: str
    queries: list[RunQueryHead]
    failures: list[dict[str, str]]


class RunSide(BaseModel):
    """The outcome of a query in one of two runs."""

    answered: bool
    abstained: bool
    answer: str
    references: list[str]
    figure: float | None


class ComparedQuery(BaseModel):
    """A query in two runs."""

    query_id: str
    query: str
    same_answer: bool
    references_shared: float = Field(description="Jaccard of the cited documents.")
    read_shared: float = Field(description="Jaccard of the documents read.")
    difference: float | None = Field(description="Right less left on the measure.")
    left: RunSide
    right: RunSide


class ComparedRuns(BaseModel):
    """Two runs, query by query."""

    left: str
    right: str
    measure: str | None
    measures: list[str]
    same_answers: int
    queries: list[ComparedQuery]
