"""
An answer by a language model, from evidence alone. Pure: who is asked, and how, is the caller's.

The same course whether a model replies at once or a batch has replied before: the request, its
reply read, one second try for what was wrong, limits, support, citations.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ccrag.answering.citations import DraftSentence, assemble
from ccrag.answering.replies import STAGE, ParsedReply, better, read_reply
from ccrag.answering.support import SupportCheck, checked
from ccrag.errors import InvariantError, UnusableReplyError
from ccrag.llm.calls import AskModel, call_record
from ccrag.llm.history import history_lines
from ccrag.llm.prompts import Prompt
from ccrag.llm.quote import quoted, quoted_object
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import (
    ChatMessage,
    ChatParameters,
    ChatRequest,
    ReplySchema,
    closed_object,
)
from ccrag.text.analysis import budget_words
from ccrag.types import (
    JSON,
    Answer,
    DocId,
    Evidence,
    ModelCall,
    Note,
    Passage,
    PassageId,
    Query,
    Unit,
)


@dataclass(frozen=True, slots=True)
class Generation:
    """The settings of generated answers: all that decides a request and how its reply is used."""

    prompt: Prompt
    parameters: ChatParameters
    max_sentences: int
    max_words: int
    """Of the whole answer, kept by whole sentences."""
    abstention: str
    support: SupportCheck
    show_title: bool = True
    show_date: bool = False
    min_score: float | None = None
    """The best evidence must have this score, or no model is asked."""
    clarify: bool = False
    """A model that declines may ask back instead of the abstention."""


@dataclass(frozen=True, slots=True)
class Generated:
    """An answer, and how it came about."""

    answer: Answer
    notes: tuple[Note, ...] = ()
    calls: tuple[ModelCall, ...] = ()


def generate(
    query: Query,
    evidence: Sequence[Evidence],
    passages: Mapping[PassageId, Passage],
    generation: Generation,
    ask: AskModel,
    *,
    units: Sequence[Unit] = (),
) -> Generated:
    """
    Return the answer to `query` out of `evidence`; the abstention when there is too little of it.

    `ask` is called once, and once more when sentences named no shown evidence or the reply could
    not be read; with equal replies the answer is equal. Whatever `ask` raises is passed on.
    A model abstains by saying so, never by a reply that cannot be used.

    Args:
        passages: those the evidence stands in, for titles and dates.
        units: what was read together, if units were, for the headers of documents.

    Raises:
        CandidateLeakError: evidence from a document that is not a candidate.
        UnusableReplyError: a reply is empty, cut off, filtered, or names no shown evidence.
    """
    weak = _too_weak(evidence, generation.min_score)
    if weak:
        answer, _ = assemble(query, (), evidence, abstention=generation.abstention)
        return Generated(answer, (Note(STAGE, weak),))
    request = generation_request(query, evidence, passages, generation, units=units)
    reading, calls = _ask_and_read(request, evidence, generation, ask)
    drafts, cut = within_limits(reading.drafts, generation)
    if reading.drafts and not drafts:
        raise UnusableReplyError(
            f"its first sentence alone has more than answer.max_words={generation.max_words} words"
        )
    drafts, unsupported = checked(drafts, evidence, generation.support)
    asks_back = reading.asks_back if generation.clarify else ""
    answer, unresolved = assemble(
        query, drafts, evidence, abstention=asks_back or generation.abstention
    )
    notes = (*reading.notes, *_declined(reading, asks_back), *cut, *unsupported)
    return Generated(answer, (*notes, *unresolved), calls)


def _too_weak(evidence: Sequence[Evidence], min_score: float | None) -> str | None:
    if not evidence:
        return "no evidence, so no model was asked"
    best = max(item.score for item in evidence)
    if min_score is not None and best < min_score:
        return f"the best evidence scores {best:.3g}, less than {min_score:g}: no model was asked"
    return None


def _declined(reading: ParsedReply, asks_back: str) -> tuple[Note, ...]:
    if not reading.declined:
        return ()
    if asks_back:
        return (Note(STAGE, "the model finds the question unclear and asks back"),)
    return (Note(STAGE, "the model says that the evidence does not answer"),)


def _ask_and_read(
    request: ChatRequest, evidence: Sequence[Evidence], generation: Generation, ask: AskModel
) -> tuple[ParsedReply, tuple[ModelCall, ...]]:
    others = other_ids(evidence, generation.prompt)
    reply = ask(request)
    reading = read_reply_of(reply, evidence, others)
    calls: tuple[ModelCall, ...] = (call_record(request, reply),)
    again = retry_request(request, reply.text, reading)
    if again is not None:
        second = ask(again)
        reading = better(reading, read_reply_of(second, evidence, others))
        calls = (*calls, call_record(again, second))
    if not reading.answers:
        raise UnusableReplyError("; ".join(reading.complaints))
    return reading, calls


def read_reply_of(
    reply: ChatReply, evidence: Sequence[Evidence], others: Collection[str] = ()
) -> ParsedReply:
    """
    Return what a reply says.

    Raises:
        UnusableReplyError: it is empty, cut off, filtered, refused or all thinking.
    """
    if reply.fault is not None:
        raise UnusableReplyError(reply.fault)
    return read_reply(reply.text, evidence, other_ids=others)


def other_ids(evidence: Sequence[Evidence], prompt: Prompt) -> frozenset[str]:
    """Return the ids that `prompt` shows beside those of evidence: documents', if any."""
    shows_documents = any("documents" in template for _, template in prompt.templates)
    return frozenset(item.doc_id for item in evidence) if shows_documents else frozenset()


def generation_request(
    query: Query,
    evidence: Sequence[Evidence],
    passages: Mapping[PassageId, Passage],
    generation: Generation,
    *,
    units: Sequence[Unit] = (),
) -> ChatRequest:
    """
    Return the request that asks for an answer out of `evidence`, which must not be empty.

    No text but the evidence's reaches the prompt; titles and dates if wanted; and, where a prompt
    shows evidence by document, a header with the document's id, title, date and version.
    A dialogue's earlier turns stand in a place of their own, and have no ids to be cited by.

    Raises:
        InvariantError: no evidence; there is nothing to ask then.
    """
    if not evidence:
        raise InvariantError(f"query {query.query_id!r}: a model asked without evidence")
    messages = generation.prompt.messages(
        question=quoted(query.text),
        history=history_lines(query.turns),
        evidence=[_shown(item, passages[item.passage_id], generation) for item in evidence],
        documents=_by_document(evidence, passages, units),
        max_sentences=generation.max_sentences,
        max_words=generation.max_words,
        clarify=generation.clarify,
    )
    ids = [item.evidence_id for item in evidence]
    schema = answer_schema(ids, clarify=generation.clarify)
    others = other_ids(evidence, generation.prompt)
    return ChatRequest(
        messages,
        generation.parameters,
        schema,
        generation.prompt.label,
        readable=lambda text: read_reply(text, evidence, other_ids=others).answers,
    )


def _shown(item: Evidence, passage: Passage, generation: Generation) -> str:
    values = {"id": item.evidence_id}
    if generation.show_title and passage.title:
        values["title"] = passage.title
    if generation.show_date and passage.date:
        values["date"] = passage.date
    return quoted_object({**values, "text": item.text})


def _by_document(
    evidence: Sequence[Evidence], passages: Mapping[PassageId, Passage], units: Sequence[Unit]
) -> list[JSON]:
    """
    Return evidence below its document's header; documents in the order of their first evidence.
    """
    versions = {part.doc_id: part.version for unit in units for part in unit.parts}
    documents: dict[DocId, JSON] = {}
    for item in evidence:
        if item.doc_id not in documents:
            passage = passages[item.passage_id]
            header = {
                "document": item.doc_id,
                "title": passage.title,
                "date": passage.date,
                "version": versions.get(item.doc_id),
            }
            known = {name: value for name, value in header.items() if value}
            documents[item.doc_id] = {"header": quoted_object(known), "evidence": []}
        shown = quoted_object({"id": item.evidence_id, "text": item.text})
        documents[item.doc_id]["evidence"].append(shown)
    return list(documents.values())


def answer_schema(evidence_ids: Sequence[str], *, clarify: bool = False) -> ReplySchema:
    """
    Return the reply's JSON schema, which knows the shown ids and no others; and a question back.
    """
    ids = {"type": "array", "items": {"type": "string", "enum": list(evidence_ids)}}
    sentence = closed_object({"text": {"type": "string"}, "evidence": ids})
    sentences = {"type": "array", "items": sentence}
    back: JSON = {"clarify": {"type": "string"}} if clarify else {}
    reply = closed_object({"answerable": {"type": "boolean"}, "sentences": sentences, **back})
    return ReplySchema("answer", reply)


def retry_request(request: ChatRequest, reply: str, reading: ParsedReply) -> ChatRequest | None:
    """
    Return the request that tells the model what was wrong with its reply; None when nothing was.
    """
    if not reading.complaints:
        return None
    wrong = "\n".join(f"- {complaint}" for complaint in reading.complaints)
    again = (
        f"Your reply cannot be used as it is:\n{wrong}\n"
        "Reply again with the whole JSON object and nothing else. Leave out every sentence that no "
        "evidence states."
    )
    messages = (*request.messages, ChatMessage("assistant", reply), ChatMessage("user", again))
    return replace(request, messages=messages)


def within_limits(
    drafts: Sequence[DraftSentence], generation: Generation
) -> tuple[tuple[DraftSentence, ...], tuple[Note, ...]]:
    """
    Return the first drafts that fit, whole, and a note on those that do not.

    The answer ends before the first that does not fit: what follows may build on it.
    """
    kept: list[DraftSentence] = []
    words_left = generation.max_words
    for draft in drafts[: generation.max_sentences]:
        words_left -= budget_words(draft.text)
        if words_left < 0:
            break
        kept.append(draft)
    if len(kept) == len(drafts):
        return tuple(kept), ()
    limits = f"{generation.max_sentences} sentences and {generation.max_words} words"
    left_out = len(drafts) - len(kept)
    return tuple(kept), (Note(STAGE, f"the last {left_out} sentences are beyond {limits}"),)
