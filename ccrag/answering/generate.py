"""
An answer by a language model: the request made of evidence alone, and its reply read. Pure.

A reply is foreign too. What it says is taken sentence by sentence; a sentence counts by the shown
evidence it names, and every other id is reported. Asking and asking again is `stages.generating`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ccrag.answering.citations import DraftSentence
from ccrag.chat.json_in_text import find_json, json_values
from ccrag.chat.prompts import Prompt
from ccrag.chat.quoting import quoted, quoted_object
from ccrag.chat.request import ChatMessage, ChatParameters, ChatRequest, ReplySchema
from ccrag.errors import InvariantError
from ccrag.types import JSON, Evidence, Note, Passage, PassageId, Query

STAGE = "generation"
SENTENCES = ("sentences", "answer", "answers", "response", "output")
"""Keys under which models put the sentences; the first is the one asked for."""
TEXT = ("text", "sentence", "content")
IDS = ("evidence", "evidence_ids", "evidences", "citations", "ids")
MAX_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class GenerationLimits:
    """What a generated answer may hold, and what stands beside its evidence."""

    max_sentences: int
    max_words: int
    """Of the whole answer, kept by whole sentences."""
    show_title: bool = True
    show_date: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says."""

    drafts: tuple[DraftSentence, ...] = ()
    """Sentences that name shown evidence; of each, the shown ids alone, each once."""
    declined: bool = False
    """The model says that the evidence does not answer the question."""
    complaints: tuple[str, ...] = ()
    """What the model may be asked to do better: sentences left without evidence, no JSON."""
    notes: tuple[Note, ...] = ()


def generation_request(
    query: Query,
    evidence: Sequence[Evidence],
    passages: Mapping[PassageId, Passage],
    *,
    prompt: Prompt,
    limits: GenerationLimits,
    parameters: ChatParameters,
) -> ChatRequest:
    """
    The request that asks for an answer out of `evidence`, which must not be empty.

    No document id and no text but the evidence's reaches the prompt; titles and dates where
    `limits` want them.

    Args:
        passages: those the evidence stands in, for titles and dates.

    Raises:
        InvariantError: no evidence; there is nothing to ask then.
    """
    if not evidence:
        raise InvariantError(f"query {query.query_id!r}: a model asked without evidence")
    messages = prompt.messages(
        question=quoted(query.text),
        evidence=[_shown(item, passages[item.passage_id], limits) for item in evidence],
        max_sentences=limits.max_sentences,
        max_words=limits.max_words,
    )
    ids = [item.evidence_id for item in evidence]
    return ChatRequest(messages, parameters, answer_schema(ids), prompt.label)


def _shown(item: Evidence, passage: Passage, limits: GenerationLimits) -> str:
    values = {"id": item.evidence_id}
    if limits.show_title and passage.title:
        values["title"] = passage.title
    if limits.show_date and passage.date:
        values["date"] = passage.date
    return quoted_object({**values, "text": item.text})


def answer_schema(evidence_ids: Sequence[str]) -> ReplySchema:
    """The reply's JSON schema, which knows the shown ids and no others."""
    ids = {"type": "array", "items": {"type": "string", "enum": list(evidence_ids)}}
    sentence = _closed({"text": {"type": "string"}, "evidence": ids})
    sentences = {"type": "array", "items": sentence}
    return ReplySchema(
        "answer", _closed({"answerable": {"type": "boolean"}, "sentences": sentences})
    )


def _closed(properties: JSON) -> JSON:
    """An object with exactly these properties, as strict modes demand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def retry_request(request: ChatRequest, reply: str, reading: Reading) -> ChatRequest | None:
    """The request that tells the model what was wrong with its reply; None when nothing was."""
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


def better(first: Reading, second: Reading) -> Reading:
    """
    The reading that counts after a retry, with the notes of both.

    The second, unless fewer of its sentences name evidence. A second reply may decline.
    """
    worse = not second.declined and len(second.drafts) < len(first.drafts)
    kept = first if worse else second
    told = Note(STAGE, f"asked again, the {'first' if worse else 'second'} reply counts")
    return replace(kept, notes=(*first.notes, told, *second.notes))


def read_reply(text: str, evidence: Sequence[Evidence]) -> Reading:
    """
    The sentences of a reply to `generation_request`, and what was wrong with them.

    Never raises: a reply that cannot be read is a complaint. Ids count only if they are the strings
    that were shown; whatever else stands in their place is noted and left out.
    """
    found = find_json(text, wanted=_is_answer)
    if found is None:
        return _salvaged(text, evidence)
    value, notes = found.value, [Note(STAGE, f"reply: {repair}") for repair in found.repairs]
    sentences = _sentences_of(value)
    if isinstance(value, dict) and value.get("answerable") is False:
        if sentences:
            notes.append(Note(STAGE, f"declined; its {len(sentences)} sentences are left out"))
        return Reading(declined=True, notes=tuple(notes))
    return _read_sentences(sentences, evidence, notes)


def _is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_sentence(item) for item in value) and bool(value)
    return isinstance(value, dict) and (
        value.get("answerable") is False or any(key in value for key in SENTENCES)
    )


def _is_sentence(value: object) -> bool:
    return isinstance(value, dict) and any(key in value for key in TEXT)


def _sentences_of(value: Any) -> list[Any]:
    """The list below the first known key, through objects that hold nothing else."""
    if isinstance(value, list):
        return value
    if _is_sentence(value):
        return [value]
    inner: Any = next((value[key] for key in SENTENCES if key in value), [])
    if isinstance(inner, dict):
        return _sentences_of(inner)
    return inner if isinstance(inner, list) else [inner]


def _salvaged(text: str, evidence: Sequence[Evidence]) -> Reading:
    """What can be had from a reply that is cut off or not JSON: its whole sentences."""
    whole = [value for value in json_values(text) if _is_sentence(value)]
    complaint = "it is not one whole JSON object of the form asked for"
    note = Note(STAGE, f"reply: {complaint}; {len(whole)} whole sentences in {_short(text)}")
    reading = _read_sentences(whole, evidence, [note])
    return replace(reading, complaints=(complaint, *reading.complaints))


def _read_sentences(
    sentences: Sequence[object], evidence: Sequence[Evidence], notes: Sequence[Note]
) -> Reading:
    shown = frozenset(item.evidence_id for item in evidence)
    drafts: list[DraftSentence] = []
    complaints: list[str] = []
    told = list(notes)
    for number, sentence in enumerate(sentences, start=1):
        text, ids = _parts(sentence)
        known, problems = _resolve(ids, shown)
        told += [Note(STAGE, f"sentence {number}: {problem}") for problem in problems]
        if not text:
            told.append(Note(STAGE, f"sentence {number}: no text in {_short(sentence)}"))
        elif known:
            drafts.append(DraftSentence(text, known))
        else:
            why = "; ".join(problems) or "names no evidence"
            complaints.append(f"sentence {number} has no evidence that was shown: {why}")
            told.append(
                Note(STAGE, f"sentence {number}: no shown evidence, left out: {_short(text)}")
            )
    return Reading(tuple(drafts), complaints=tuple(complaints), notes=tuple(told))


def _parts(sentence: object) -> tuple[str, object]:
    """A sentence's text, on one line, and whatever stands for its ids."""
    if isinstance(sentence, str):
        return " ".join(sentence.split()), []
    if not isinstance(sentence, dict):
        return "", []
    text = next((sentence[key] for key in TEXT if key in sentence), "")
    ids: object = next((sentence[key] for key in IDS if key in sentence), [])
    return " ".join(text.split()) if isinstance(text, str) else "", ids


def _resolve(ids: object, shown: frozenset[str]) -> tuple[tuple[str, ...], list[str]]:
    """The shown ids, each once in order, and what is wrong with the rest."""
    known: dict[str, None] = {}
    problems: list[str] = []
    for named in ids if isinstance(ids, list) else [ids]:
        if not isinstance(named, str):
            problems.append(f"{_short(named)} is not an evidence id")
        elif named not in shown:
            problems.append(f"{_short(named)} was not shown")
        elif named in known:
            problems.append(f"{_short(named)} is named more than once")
        else:
            known[named] = None
    return tuple(known), problems


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= MAX_SHOWN_CHARS else shown[: MAX_SHOWN_CHARS - 1] + "…"
