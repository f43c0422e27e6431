"""
Every setting, its default, its range and its meaning. `layers` says where values come from.

Pure stages never see these objects: `pipeline` hands them the values they need.
"""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class Section(BaseModel):
    """A group of settings; frozen, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineSettings(Section):
    """Which OpenSearch, and how to talk to it."""

    url: str | None = None
    """None: the embedded node is started on demand."""
    user: str | None = None
    password: SecretStr | None = None
    ca_file: Path | None = None
    verify_certs: bool = True
    timeout_s: float = Field(30.0, gt=0)
    """Per request; loading and merging use `bulk_timeout_s`."""
    bulk_timeout_s: float = Field(300.0, gt=0)
    bulk_max_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    """A bulk request is sent before it would grow past this (one larger item travels alone)."""
    bulk_retries: int = Field(6, ge=0)
    """How often an item refused with 429 is sent again, with doubling pauses from 1 s."""
    msearch_max_searches: int = Field(96, ge=1)
    """Sub-searches per request; more are sent in several."""
    shards: int = Field(1, ge=1)
    replicas: int = Field(0, ge=0)


class NodeSettings(Section):
    """The embedded node; read only when `engine.url` is not set."""

    data: Path | None = None
    """None: the per-user data directory."""
    port: int | None = Field(None, ge=1, le=65535)
    """None: a free one."""
    heap_mb: int = Field(512, ge=256)
    start_timeout_s: float = Field(90.0, gt=0)


class CandidateSettings(Section):
    """What to do about a query's candidate list."""

    unknown: Literal["error", "warn"] = "error"
    """A candidate id the index does not hold: refuse the query, or note it and go on."""


class ChunkingSettings(Section):
    """How documents become passages."""

    method: Literal["window"] = "window"
    max_words: int = Field(140, ge=8)
    """Cap of a passage; a longer sentence is cut at clause or word boundaries."""
    overlap_sentences: int = Field(1, ge=0)
    """Sentences a window repeats from the one before, as far as the cap allows."""


class Bm25Settings(Section):
    """Lexical scoring. `k1` and `b` belong to the index; the rest to the query."""

    k1: float = Field(1.5, ge=0)
    b: float = Field(0.75, ge=0, le=1)
    statistics: Literal["index", "candidates"] = "index"
    """Term statistics over the whole index, or over the query's own passages."""
    title_weight: float = Field(0.0, ge=0)
    """Weight of a title match beside the text match; 0 leaves the title out."""


class VariantSettings(Section):
    """The wordings of a query that get a list of their own."""

    use: tuple[Literal["original", "keywords", "temporal", "method"], ...] = (
        "original",
        "keywords",
        "temporal",
        "method",
    )
    max_keywords: int = Field(12, ge=1)
    min_chars: int = Field(3, ge=1)
    """Shorter words are not keywords."""


class FeedbackSettings(Section):
    """Pseudo-relevance feedback: terms of the best passages as one more list."""

    enabled: bool = True
    passages: int = Field(4, ge=1)
    max_terms: int = Field(6, ge=1)
    min_chars: int = Field(4, ge=1)


class RetrievalSettings(Section):
    """The first lists."""

    lists: Literal["candidate-order", "bm25"] = "bm25"
    """`candidate-order` ranks nothing: passages as the candidates list their documents."""
    depth: int = Field(200, ge=1, le=10_000)
    """Hits kept per list (per document with `candidate-order`)."""
    batch: int = Field(16, ge=1)
    """Queries that share their requests."""


class FusionSettings(Section):
    """Reciprocal rank fusion."""

    rrf_k: int = Field(60, ge=1)
    """Damping constant; not a depth."""


class RerankSettings(Section):
    """What reorders the shortlist."""

    method: Literal["none", "paper", "published-code"] = "paper"
    shortlist: int = Field(24, ge=1)
    citation_weight: float = Field(0.05, ge=0)
    """`paper` only: weight of G(d)."""
    temporal_weight: float = Field(0.05, ge=0)
    """`paper` only: weight of T(q, p)."""
    code_coverage: float = Field(0.35, ge=0)
    """This and the next four: the terms of `published-code`."""
    code_title: float = Field(0.15, ge=0)
    code_phrase: float = Field(0.15, ge=0)
    code_temporal: float = Field(0.10, ge=0)
    code_citation: float = Field(0.05, ge=0)


class SelectSettings(Section):
    """Which of the ranked passages are read."""

    passages: int = Field(20, ge=1)
    max_per_document: int | None = Field(None, ge=1)
    near_duplicate: float = Field(0.9, gt=0, le=1)
    """Passages whose word 3-shingles overlap (Jaccard) at least this much are duplicates."""
    temporal_coverage: bool = True
    """For a query with temporal intent: let each year of the shortlist be seen once, early."""
    neighbours: int = Field(0, ge=0)
    """Passages added on each side of a selected one, inside its section."""
    max_words: int | None = Field(None, ge=1)
    """Budget over all selected passages."""


class EvidenceSettings(Section):
    """Which sentences of the selected passages are shown."""

    scorer: Literal["order", "lexical"] = "lexical"
    """`order` keeps passage order; `lexical` scores by the query's terms."""
    sentences_per_passage: int = Field(5, ge=1)
    """Only the first so many sentences of a passage are considered."""
    max_sentences: int = Field(10, ge=1)
    max_sentence_words: int = Field(120, ge=1)
    """A longer sentence (a table, a failed extraction) is not evidence."""


class AnswerSettings(Section):
    """How evidence becomes an answer."""

    max_sentences: int = Field(5, ge=1)
    max_words: int = Field(400, ge=1)
    """Kept by whole sentences."""
    min_words: int = Field(5, ge=1)
    """A shorter sentence is a fragment."""
    min_coverage: float = Field(0.0, ge=0, le=1)
    """Share of the query's keywords an answer sentence must hold; with 0, one is enough."""
    abstention: str = "The given documents do not answer this question."


class OutputSettings(Section):
    """What a run's files say about it."""

    team_id: str = "ccrag"
    run_id: str | None = None
    """None: the pipeline's name."""
    run_level: Literal["document", "passage"] = "document"
    """What `run.trec` ranks: documents by their best passage, or passages."""
    description: str = "Search-backed question answering inside each query's candidate documents."
    repository: str = "local"
    data_name: str = "local"


class PipelineSettings(Section):
    """A named, complete setting of all stages."""

    name: str = "default"
    summary: str = ""
    candidates: CandidateSettings = CandidateSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    bm25: Bm25Settings = Bm25Settings()
    variants: VariantSettings = VariantSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    fusion: FusionSettings = FusionSettings()
    rerank: RerankSettings = RerankSettings()
    select: SelectSettings = SelectSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    answer: AnswerSettings = AnswerSettings()

    @model_validator(mode="after")
    def _check_stages_fit(self) -> Self:
        if self.feedback.enabled and "original" not in self.variants.use:
            raise ValueError('feedback reads the "original" list; add it to variants.use')
        if self.feedback.enabled and self.retrieval.lists == "candidate-order":
            raise ValueError("feedback needs a ranking; set feedback.enabled=false")
        return self


class Settings(PipelineSettings):
    """All settings of one command."""

    engine: EngineSettings = EngineSettings()
    node: NodeSettings = NodeSettings()
    output: OutputSettings = OutputSettings()
