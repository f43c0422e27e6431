"""
Every setting, its default, its range and its meaning. `layers` says where values come from.

Pure stages never see these objects: `pipeline` hands them the values they need.
"""

from typing import NamedTuple, Self

from pydantic import PrivateAttr, model_validator

from ccrag.config.index import (
    Bm25Settings,
    BudgetSettings,
    ChunkingSettings,
    ReadingSettings,
    UnitSettings,
    VectorSettings,
)
from ccrag.config.models import EncoderSettings, LlmSettings, RerankerSettings
from ccrag.config.section import SettingsSection
from ccrag.config.services import (
    BatchSettings,
    ChatSettings,
    EngineSettings,
    NodeSettings,
    OutputSettings,
    ProviderSettings,
    ServeSettings,
)
from ccrag.config.stages import (
    LLM_REWRITE,
    AnswerSettings,
    CandidateSettings,
    EvidenceSettings,
    FeedbackSettings,
    FusionSettings,
    LinkedSettings,
    ListName,
    RerankSettings,
    RetrievalSettings,
    RewriteSettings,
    SelectSettings,
    VariantSettings,
)
from ccrag.types import ranking_name

__all__ = [
    "AnswerSettings",
    "BatchSettings",
    "Bm25Settings",
    "BudgetSettings",
    "CandidateSettings",
    "ChatSettings",
    "ChunkingSettings",
    "EncoderSettings",
    "EngineSettings",
    "EvidenceSettings",
    "FeedbackSettings",
    "FusionSettings",
    "LinkedSettings",
    "LlmSettings",
    "NodeSettings",
    "OutputSettings",
    "PipelineSettings",
    "ProviderSettings",
    "ReadingSettings",
    "RerankSettings",
    "RerankerSettings",
    "RetrievalSettings",
    "RewriteSettings",
    "SelectSettings",
    "ServeSettings",
    "Settings",
    "SettingsSection",
    "SettingsSource",
    "UnitSettings",
    "VariantSettings",
    "VectorSettings",
]


class PipelineSettings(SettingsSection):
    """A named, complete setting of all stages."""

    name: str = "default"
    summary: str = ""
    candidates: CandidateSettings = CandidateSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    bm25: Bm25Settings = Bm25Settings()
    encoder: EncoderSettings = EncoderSettings()
    vectors: VectorSettings = VectorSettings()
    variants: VariantSettings = VariantSettings()
    rewrite: RewriteSettings = RewriteSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    fusion: FusionSettings = FusionSettings()
    rerank: RerankSettings = RerankSettings()
    reranker: RerankerSettings = RerankerSettings()
    select: SelectSettings = SelectSettings()
    linked: LinkedSettings = LinkedSettings()
    budget: BudgetSettings = BudgetSettings()
    units: UnitSettings = UnitSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    answer: AnswerSettings = AnswerSettings()
    llm: LlmSettings = LlmSettings()

    @model_validator(mode="after")
    def _check_stages_fit(self) -> Self:
        if self.feedback.enabled and "original" not in self.variants.use:
            raise ValueError('feedback reads the "original" list; add it to variants.use')
        lists = self.retrieval.lists
        if not lists or ("candidate-order" in lists and len(lists) > 1):
            raise ValueError("retrieval.lists needs a list; candidate-order stands alone")
        if self.feedback.enabled and "bm25" not in lists:
            raise ValueError("feedback reads the BM25 list; set feedback.enabled=false")
        if "outline" in lists and not self.chunking.plain:
            raise ValueError("an outline list needs chunking.method=blocks")
        by_bm25 = self.rerank.method == "signals" and self.rerank.signal_bm25 > 0
        if by_bm25 and ("bm25" not in lists or "original" not in self.variants.use):
            raise ValueError("rerank.signal_bm25 reads the original's bm25 list; set it to 0")
        if "dense" in lists and self.vectors.mode == "none":
            raise ValueError("a dense list needs vectors; set vectors.mode=exact, for instance")
        if self.answer.shows == "runs" and self.budget.max_tokens is None:
            raise ValueError(
                "answer.shows=runs fills budget.max_tokens: set it, to 2000 for instance"
            )
        learnt = self.evidence.scorer in ("learnt", "learnt-lexical")
        if self.evidence.ranking is not None and not learnt:
            raise ValueError("evidence.ranking is for evidence.scorer=learnt or learnt-lexical")
        if self.answer.document_ratio and not learnt:
            raise ValueError("answer.document_ratio compares probabilities: evidence.scorer=learnt")
        self._check_units()
        return self

    def _check_units(self) -> None:
        if self.units.grouping == "file" and self.units.file is None:
            raise ValueError("units.grouping=file needs units.file")
        if self.select.read != "passages" and self.select.neighbours:
            raise ValueError("select.neighbours belongs to select.read=passages; set it to 0")
        if self.linked.mention and self.linked.scorer == "lexical":
            raise ValueError(
                "linked.mention compares meanings; set it to 0, or linked.scorer=fused"
            )

    @model_validator(mode="after")
    def _check_fusion(self) -> Self:
        names = self.list_names()
        if self.fusion.method == "highest" and len(set(self.retrieval.lists)) > 1:
            raise ValueError(
                "fusion.method=highest compares scores, and those of bm25 and dense lists are of "
                "different scales; use lists of one source, or fusion.method=rrf"
            )
        unknown = [name for name in self.fusion.weights if name not in names]
        if unknown:
            raise ValueError(
                f"fusion.weights names {unknown[0]!r}; the lists are {', '.join(names)}"
            )
        return self

    def list_variants(self, source: ListName) -> tuple[str, ...]:
        """Return the variants that each get a list of the kind `source`."""
        match source:
            case "bm25":
                variants = self.variants.use
            case "dense":
                variants = self.variants.dense
            case _:
                return ("original",)
        if LLM_REWRITE not in variants:
            return variants
        # each further rewrite that the model is asked for gets a list of its own
        more = (f"{LLM_REWRITE}-{number}" for number in range(2, self.rewrite.count + 1))
        return (*variants, *more)

    @property
    def searched_variants(self) -> frozenset[str]:
        """Return the variants that some first list searches."""
        return frozenset(v for source in self.retrieval.lists for v in self.list_variants(source))

    def list_names(self) -> tuple[str, ...]:
        """Return the first lists, and feedback's, as rankings and `fusion.weights` call them."""
        names = [
            ranking_name(source, variant)
            for source in self.retrieval.lists
            for variant in self.list_variants(source)
        ]
        return (*names, *((ranking_name("bm25", "feedback"),) if self.feedback.enabled else ()))


class SettingsSource(NamedTuple):
    """Where settings came from, as it would be typed again."""

    pipeline: str = ""
    """A packaged name or a TOML file's path; empty: they were not loaded."""
    overrides: tuple[str, ...] = ()
    """`section.key=value`, as `--set` takes them."""


class Settings(PipelineSettings):
    """All settings of one command."""

    _source: SettingsSource = PrivateAttr(default=SettingsSource())

    @property
    def source(self) -> SettingsSource:
        """Return where they came from, for the commands in errors; no part of any digest."""
        return self._source

    def came_from(self, source: SettingsSource) -> Self:
        """Keep where they came from, and return them."""
        self._source = source
        return self

    engine: EngineSettings = EngineSettings()
    node: NodeSettings = NodeSettings()
    reading: ReadingSettings = ReadingSettings()
    provider: ProviderSettings = ProviderSettings()
    batch: BatchSettings = BatchSettings()
    output: OutputSettings = OutputSettings()
    serve: ServeSettings = ServeSettings()
    chat: ChatSettings = ChatSettings()
