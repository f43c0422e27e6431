"""Tell what a pipeline needs beside its index, as one value that is derived from its settings."""

from dataclasses import dataclass

from ccrag.config import PipelineSettings
from ccrag.config.stages import LLM_REWRITE


@dataclass(frozen=True, slots=True)
class Requirements:
    """The models that the stages of a pipeline ask; what is False or None is never loaded."""

    index_encoder: bool
    """Passages are cut or stored with an encoder's help."""
    question_vectors: bool
    """A stage compares the question's vector with something."""
    sentence_vectors: bool
    """Evidence is scored by cosines of its sentences with the question."""
    token_vectors: bool
    """A signal of the shortlist, or the ranking of evidence, compares single tokens."""
    cross_encoder: bool
    llm_rewrite: bool
    """A language model makes a variant of a dialogue's question."""
    llm_rerank: bool
    """A language model orders the shortlist."""
    llm_answer: bool
    """A language model writes the answer."""
    support_model: str | None
    """The entailment model, by folder or hub name, that checks generated sentences."""

    @property
    def llm_before_answer(self) -> bool:
        """Tell whether a language model is asked before the answer is written."""
        return self.llm_rewrite or self.llm_rerank

    @property
    def llm(self) -> bool:
        """Tell whether any stage asks a language model."""
        return self.llm_before_answer or self.llm_answer


def requirements(settings: PipelineSettings) -> Requirements:
    """Return what the pipeline of `settings` needs."""
    lists, rerank, answer = settings.retrieval.lists, settings.rerank, settings.answer
    signals = rerank.signal_weights if rerank.method == "signals" else {}
    sentence_vectors = settings.evidence.scorer in ("bi-encoder", "fused", "learnt")
    linked_vectors = settings.select.read == "linked" and settings.linked.scorer == "fused"
    checks_support = answer.generator == "llm" and answer.unsupported != "keep"
    return Requirements(
        index_encoder=settings.vectors.mode in ("exact", "hnsw")
        or settings.chunking.method in ("semantic", "topic-shift"),
        question_vectors=sentence_vectors
        or linked_vectors
        or "dense" in lists
        or not signals.keys().isdisjoint(("dense", "sentence")),
        sentence_vectors=sentence_vectors,
        token_vectors=settings.evidence.scorer == "learnt"
        or not signals.keys().isdisjoint(("tokens", "sentence-tokens")),
        cross_encoder=rerank.method == "cross-encoder"
        or (rerank.method == "published-code" and rerank.code_model > 0)
        or settings.evidence.scorer == "cross-encoder",
        llm_rewrite=LLM_REWRITE in (*settings.searched_variants, settings.variants.question),
        llm_rerank=rerank.method == "listwise",
        llm_answer=answer.generator == "llm",
        support_model=answer.support_model if checks_support else None,
    )
