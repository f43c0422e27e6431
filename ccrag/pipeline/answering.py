"""From evidence to the answer: sentences of the evidence, or a language model's. One interface."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ccrag.answering.citations import assemble
from ccrag.answering.documents import likely_documents
from ccrag.answering.extractive import ExtractLimits, extract
from ccrag.answering.generate import Generation, generate
from ccrag.answering.strength import UNANSWERED, strength_of
from ccrag.answering.support import Support, SupportCheck
from ccrag.concurrency import all_at_once
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError, some_ids
from ccrag.llm.client import Llm, parameters_of
from ccrag.llm.prompts import Prompt, load_prompt
from ccrag.pipeline.state import QueryState
from ccrag.pipeline.support_weights import why_unsupported, word_support
from ccrag.types import Answer, Evidence


class AnswerGenerator(Protocol):
    """Answers queries from their evidence."""

    def write(self, states: Sequence[QueryState]) -> None:
        """Give each query, which has its evidence, an answer or an error."""
        ...


def make_answer_generator(
    settings: PipelineSettings, llm: Llm | None, *, support: Support | None = None
) -> AnswerGenerator:
    """
    Return the writer that `answer.generator` names.

    Args:
        support: how much of a sentence its evidence supports; None: `word_support`.

    Raises:
        ModelError: it is a language model and none is given.
        ConfigError: no such prompt.
    """
    if settings.answer.generator == "extractive":
        return ExtractiveAnswerGenerator(settings)
    if llm is None:
        raise ModelError(f"pipeline {settings.name}: answer.generator=llm needs a language model")
    return LlmAnswerGenerator(generation_of(settings, support=support), llm)


def generation_of(
    settings: PipelineSettings, *, support: Support | None = None, prompt: Prompt | None = None
) -> Generation:
    """
    Return what `settings` say of generated answers.

    Args:
        prompt: one that was read before; None: the one `settings` name.

    Raises:
        ConfigError: no such prompt.
    """
    answer = settings.answer
    return Generation(
        prompt=prompt or load_prompt(answer.prompt),
        parameters=parameters_of(settings.llm),
        max_sentences=answer.max_sentences,
        max_words=answer.max_words,
        abstention=answer.abstention,
        support=SupportCheck(
            answer.unsupported,
            answer.support_threshold,
            support or word_support,
            reason=None if support else why_unsupported,
        ),
        show_title=answer.show_title,
        show_date=answer.show_date,
        min_score=answer.min_evidence_score,
        clarify=answer.clarify,
    )


def generate_answers(generator: AnswerGenerator, states: Sequence[QueryState]) -> None:
    """Answer the queries that no stage has answered yet; every answer tells its strength."""
    generator.write([state for state in states if state.answer is None])
    _tell_strength(states)


def _tell_strength(states: Sequence[QueryState]) -> None:
    """Let each answer say how far its evidence matches the question."""
    for state in states:
        answer = state.answer
        if answer is None or not (answer.sentences or answer.evidence):
            continue
        if answer.abstained:
            state.answer = replace(answer, strength=UNANSWERED)
            continue
        used = answer.evidence
        strength = strength_of(
            state.question,
            [_in_place(item, state) for item in used],
            among=[passage.text for passage in state.passages.values()],
            closest=max(
                (state.cosines[e.key] for e in used if e.key in state.cosines), default=None
            ),
        )
        state.answer = replace(answer, strength=strength)


def _in_place(item: Evidence, state: QueryState) -> str:
    """Return a piece of evidence under the title and headings it stands under."""
    passage = state.passages.get(item.passage_id)
    title = "" if passage is None else passage.title
    return "\n".join((title, *item.section, item.text))


class NoAnswerGenerator:
    """Leaves answers to be written elsewhere, from the evidence; a provider's batch, for one."""

    def write(self, states: Sequence[QueryState]) -> None:
        """Give each query an answer that holds its evidence and no sentence."""
        for state in states:
            state.answer = Answer(state.query_id, (), (), state.evidence)


class ExtractiveAnswerGenerator:
    """Sentences of the evidence as they stand."""

    def __init__(self, settings: PipelineSettings) -> None:
        answer = settings.answer
        self._answer = answer
        self._limits = ExtractLimits(
            max_sentences=answer.max_sentences,
            max_words=answer.max_words,
            max_per_document=answer.max_per_document,
            min_coverage=answer.min_coverage,
            must_share=settings.evidence.scorer in ("order", "lexical", "bm25", "learnt-lexical"),
        )

    def write(self, states: Sequence[QueryState]) -> None:
        for state in states:
            extracted = extract(
                self._citable(state),
                query_text=state.question,
                limits=self._limits,
                merit=state.merits,
                trim=self._answer.trim,
            )
            state.answer, notes = assemble(
                state.query, extracted.drafts, state.evidence, abstention=self._answer.abstention
            )
            state.notes += notes
            if extracted.left_out:
                told = ", ".join(f"{name} ({why})" for name, why in extracted.left_out.items())
                state.note("answer", f"evidence not in the answer: {told}")

    def _citable(self, state: QueryState) -> tuple[Evidence, ...]:
        """Return the evidence of the documents that an answer may cite; note the others."""
        if not self._answer.document_ratio:
            return state.evidence
        likely = likely_documents(state.evidence, ratio=self._answer.document_ratio)
        left_out = sorted({e.doc_id for e in state.evidence} - likely)
        if left_out:
            state.note("answer", f"not cited, by answer.document_ratio: {some_ids(left_out)}")
        return tuple(item for item in state.evidence if item.doc_id in likely)


class LlmAnswerGenerator:
    """A language model's sentences; the queries of a batch are asked at the same time."""

    def __init__(self, generation: Generation, llm: Llm) -> None:
        self._generation = generation
        self._llm = llm

    def write(self, states: Sequence[QueryState]) -> None:
        all_at_once(self._write_one, states)  # the model bounds itself

    def _write_one(self, state: QueryState) -> None:
        try:
            generated = generate(
                state.query,
                state.evidence,
                state.passages,
                self._generation,
                self._llm.complete,
                units=state.units,
            )
        except ModelError as error:
            state.error = error
            return
        state.answer = generated.answer
        state.notes += generated.notes
        state.calls += generated.calls
