"""Settings of a query's stages, in the order in which they run."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from ccrag.config.section import SettingsSection


class CandidateSettings(SettingsSection):
    """The check of a query's candidate list."""

    unknown: Literal["error", "warn"] = "error"
    """A candidate id the index does not hold: refuse the query, or note it and go on."""


PlainVariantName = Literal["original", "keywords", "temporal", "method"]


TurnVariantName = Literal[
    "last-two", "last-three", "user-turns", "dialogue", "decayed", "rewrite", "llm-rewrite"
]
"""Variants made of a dialogue's turns; a lone question is its own variant in each."""

LLM_REWRITE = "llm-rewrite"
"""The variant of a dialogue's question that a language model makes."""

ListName = Literal["candidate-order", "bm25", "dense", "outline"]
"""The kinds of first lists; `pipeline.retrievers` makes them."""


class VariantSettings(SettingsSection):
    """The variants of a query that get a list of their own."""

    use: tuple[PlainVariantName | TurnVariantName, ...] = (
        "original",
        "keywords",
        "temporal",
        "method",
    )
    """Those that get a BM25 list. `original` is the question: of a dialogue, its last turn."""
    dense: tuple[Literal["original"] | TurnVariantName, ...] = ("original",)
    """Those that get a dense list, where `retrieval.lists` has `dense`."""
    max_keywords: int = Field(12, ge=1)
    """Keywords that are taken from a question at most."""
    min_chars: int = Field(3, ge=1)
    """Shorter words are not keywords."""
    decay: tuple[float, ...] = (1.0, 0.5, 0.25)
    """
    `decayed`: weights of the question, of the user's turn before it, and so on; the last is that of
    all older turns together.
    """
    question: Literal["original"] | TurnVariantName = "original"
    """The variant that reranking, evidence and answer take for the question."""

    @field_validator("decay")
    @classmethod
    def _check_decay(cls, decay: tuple[float, ...]) -> tuple[float, ...]:
        if not decay or decay[0] <= 0 or min(decay) < 0:
            raise ValueError("weights are 0 or more, and the question's is more than 0")
        return decay


class RewriteSettings(SettingsSection):
    """`llm-rewrite`, the variant of a dialogue's question that a language model makes."""

    prompt: str = "rewrite"
    """A packaged prompt, or a `.md` file of your own."""
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] = 0.3
    """Instead of `llm.temperature`."""
    count: int = Field(1, ge=1, le=5)
    """Variants asked for; each gets its list: `llm-rewrite`, `llm-rewrite-2`, and so on."""
    failure: Literal["error", "rules"] = "error"
    """Without a rewrite to be had: give the query up, or note it and take the variant `rewrite`."""


class FeedbackSettings(SettingsSection):
    """Pseudo-relevance feedback: terms of the best passages as one more list."""

    enabled: bool = True
    """Add a list for the terms of the best passages."""
    passages: int = Field(4, ge=1)
    """Best passages of the list `bm25:original` that give terms."""
    max_terms: int = Field(6, ge=1)
    """Terms that are added to the keywords at most."""
    min_chars: int = Field(4, ge=1)
    """Characters of a term at least."""


class RetrievalSettings(SettingsSection):
    """The first lists."""

    lists: tuple[ListName, ...] = ("bm25",)
    """
    `bm25`: one list per variant of `variants.use`, and feedback. `dense`: one per variant of
    `variants.dense`. `outline`: the question against the headings above a passage and how its
    section begins (blocks only). `candidate-order` ranks nothing: passages as the candidates list
    their documents; it stands alone.
    """
    depth: int = Field(200, ge=1, le=10_000)
    """Hits kept per list (per document with `candidate-order`)."""
    batch: int = Field(16, ge=1)
    """Queries that share their requests."""


class FusionSettings(SettingsSection):
    """The fusion of several lists into one."""

    method: Literal["rrf", "highest"] = "rrf"
    """
    `rrf`: reciprocal rank fusion. `highest`: a passage's highest score in any list, which compares
    scores, so the lists must come from one source.
    """
    rrf_k: int = Field(60, ge=1)
    """Damping constant; not a depth."""
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """`rrf`: weight of a list, by its name (`bm25:decayed`); 1 where none is given."""


class RerankSettings(SettingsSection):
    """The reranking of the shortlist."""

    method: Literal["none", "paper", "published-code", "cross-encoder", "listwise", "signals"] = (
        "paper"
    )
    """
    `listwise`: a language model reads all passages at once and puts them in order. `signals`: the
    weighted sum of how well words, meaning and tokens match; no cross-encoder needed.
    """
    shortlist: int = Field(24, ge=1)
    """Passages of the fused list that are reordered and may be read."""
    citation_weight: float = Field(0.05, ge=0)
    """`paper` only: weight of G(d)."""
    temporal_weight: float = Field(0.05, ge=0)
    """`paper` only: weight of T(q, p)."""
    code_coverage: float = Field(0.35, ge=0)
    """`published-code`: weight of the share of the query's terms in the passage."""
    code_title: float = Field(0.15, ge=0)
    """`published-code`: weight of the share of the query's terms in the title."""
    code_phrase: float = Field(0.15, ge=0)
    """`published-code`: weight of the query's term pairs side by side in the passage."""
    code_temporal: float = Field(0.10, ge=0)
    """`published-code`: weight of T(q, p), as in `paper`."""
    code_citation: float = Field(0.05, ge=0)
    """`published-code`: weight of the citation prior, as in `paper`."""
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
    `signals`: weight of the score in the list `bm25:original`. Each signal is standardised over the
    shortlist; a weight of 0 leaves it out.
    """
    signal_dense: float = Field(0.0, ge=0)
    """`signals`: weight of the cosine of passage and query."""
    signal_sentence: float = Field(0.0, ge=0)
    """`signals`: weight of the cosine of the query and the passage's closest sentence."""
    signal_tokens: float = Field(1.0, ge=0)
    """`signals`: weight of how close each query token's closest passage token is, by idf."""
    signal_sentence_tokens: float = Field(1.0, ge=0)
    """`signals`: weight of the token closeness within the best sentence."""

    @property
    def signal_weights(self) -> dict[str, float]:
        """Return the signals in use with their weights, in a fixed order."""
        weights = {
            "bm25": self.signal_bm25,
            "dense": self.signal_dense,
            "sentence": self.signal_sentence,
            "tokens": self.signal_tokens,
            "sentence-tokens": self.signal_sentence_tokens,
        }
        return {name: weight for name, weight in weights.items() if weight}


class SelectSettings(SettingsSection):
    """Which of the ranked passages are read."""

    read: Literal["passages", "units", "linked"] = "passages"
    """
    `passages`: the best, as the other settings here say. `units`: whole units of linked documents,
    by their best passages. `linked`: the best sentences of the best passages and of what their
    units hold. The last two read up to `budget.max_tokens`.
    """
    passages: int = Field(20, ge=1)
    """Passages that are read at most."""
    max_per_document: int | None = Field(None, ge=1)
    """Passages of one document that are read at most."""
    near_duplicate: float = Field(0.9, gt=0, le=1)
    """Passages whose word 3-shingles overlap (Jaccard) at least this much are duplicates."""
    temporal_coverage: bool = True
    """For a query with temporal intent: let each year of the shortlist be seen once, early."""
    neighbours: int = Field(0, ge=0)
    """Passages added on each side of a selected one, inside its section."""
    max_words: int | None = Field(None, ge=1)
    """Budget over all selected passages."""


class LinkedSettings(SettingsSection):
    """`select.read=linked`: how the budget is spread over what belongs together."""

    scorer: Literal["fused", "lexical"] = "fused"
    """Runs of sentences by words and by meaning, or by words alone, which needs no encoder."""
    window: int = Field(1, ge=0)
    """Sentences read on each side of a chosen one, inside its section."""
    spread: float = Field(0.1, ge=0)
    """A document's n-th run counts 1 / (1 + spread * (n - 1)): more reads more documents."""
    bonus: float = Field(0.25, ge=0)
    """
    The first run of each document in the unit of the best passage counts 1 + bonus; of other
    documents, 1.
    """
    mention: float = Field(0.0, ge=0)
    """Weight of how close such a document's sentences are to the run that opened the unit."""
    max_share: float = Field(1.0, gt=0, le=1)
    """Of the budget, for one document."""
    rrf_k: int = Field(20, ge=1)
    """Damping constant: the scores are sums of 1 / (rrf_k + rank)."""


class EvidenceSettings(SettingsSection):
    """Which sentences of the selected passages are shown."""

    scorer: Literal[
        "order",
        "lexical",
        "bm25",
        "cross-encoder",
        "bi-encoder",
        "fused",
        "learnt",
        "learnt-lexical",
    ] = "lexical"
    """
    `order` keeps passage order; `lexical` scores by the query's terms; `bm25` over the sentences;
    `cross-encoder` and `bi-encoder` by a model; `fused` by RRF of bi-encoder and `bm25`. `learnt`:
    the probability to be evidence, by weights learnt from questions with gold quotes, over words,
    cosines and tokens; `learnt-lexical`: over words alone, without a model.
    """
    ranking: str | None = None
    """
    `learnt`, `learnt-lexical`: a file of weights that `ccrag models train-evidence` made; None: the
    packaged ones.
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
    """Sentences that are shown at most."""
    max_sentence_words: int = Field(120, ge=1)
    """A longer sentence (a table, a failed extraction) comes after others that say as much."""


class AnswerSettings(SettingsSection):
    """The answer from the evidence."""

    generator: Literal["extractive", "llm"] = "extractive"
    """Sentences of the evidence as they stand, or sentences a language model writes from it."""
    prompt: str = "answer"
    """`llm`: a packaged prompt, or a `.md` file of your own."""
    show_title: bool = True
    """`llm`: the document's title stands beside each piece of evidence."""
    show_date: bool = False
    """`llm`: so does the document's date."""
    shows: Literal["chosen", "runs", "sentences", "paragraphs"] = "chosen"
    """
    `llm`: the text that the model sees: the chosen sentences; `runs`, the best sentences with
    `linked.window` around each, up to `budget.max_tokens`; or everything that was read, in reading
    order, with an id for each sentence or paragraph.
    """
    answerability: str = "none"
    """
    The calibration that decides, before anything is written, whether the candidates answer: a
    packaged one, a file that `ccrag calibrate` made, or `none`.
    """
    abstain_from: float = Field(0.5, ge=0, le=1)
    """`answerability`: from this probability on that they do not, the query gets the abstention."""
    min_evidence_score: float | None = None
    """`llm`: with no evidence of this score, on its scorer's scale, abstain and ask nothing."""
    unsupported: Literal["keep", "flag", "drop"] = "flag"
    """`llm`: a sentence that its evidence does not support: kept unchecked, flagged, or dropped."""
    support_model: str | None = None
    """`llm`: a cross-encoder of natural language inference, by folder or hub name; None: words."""
    support_threshold: float = Field(0.5, ge=0, le=1)
    """
    `llm`: the probability, by words or by the model, from which a sentence counts as supported.
    """
    max_sentences: int = Field(5, ge=1)
    """Sentences of an answer at most."""
    max_per_document: int | None = Field(None, ge=1)
    """Sentences of an extractive answer from one document at most."""
    document_ratio: float = Field(0.0, ge=0, le=1)
    """
    Extractive answers from `learnt` evidence: a document is cited only if the probability that one
    of its sentences is evidence is at least this share of the best document's.
    """
    max_words: int = Field(400, ge=1)
    """Kept by whole sentences."""
    min_words: int = Field(5, ge=1)
    """A shorter sentence comes after others that answer nearly as well."""
    max_sentence_words: int | None = Field(None, ge=1)
    """So does a longer one; None: `evidence.max_sentence_words` decides."""
    trim: bool = False
    """Leave citation markers and leading connectives out of the answer."""
    min_coverage: float = Field(0.0, ge=0, le=1)
    """Share of the query's keywords an answer sentence must hold; with 0, one is enough."""
    abstention: str = "The given documents do not answer this question."
    """The one sentence of an answer where the candidates do not answer."""
    clarify: bool = False
    """`llm`: a question that may mean several things is answered by asking back, if the prompt
    offers it (as `answer-dialogue` does); what asks back counts as an abstention."""
