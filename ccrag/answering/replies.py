"""
A model's reply, read to answer sentences with the evidence they name. Pure.

A reply is foreign too. What it says is taken sentence by sentence; a sentence counts by the shown
evidence it names, and every other id is reported.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ccrag.answering.citations import DraftSentence
from ccrag.llm.json_extraction import find_json
from ccrag.llm.labels import Letter, inner_id, leaves, named_ids
from ccrag.llm.plain_words import plain_words
from ccrag.llm.quote import visible
from ccrag.text.truncate import short_repr
from ccrag.types import Evidence, Note

STAGE = "generation"
SENTENCES = ("sentences", "answer", "answers", "response", "output")
"""Keys under which models put the sentences; the first is the one asked for."""
TEXT = ("text", "sentence", "content")
IDS = ("evidence", "evidence_ids", "evidences", "citations", "ids")
LETTER: Letter = "e"
"""Begins the id of evidence."""
MAX_QUESTION_WORDS = 40
_MARKERS = re.compile(r" ?[\[(【（] ?e ?\d{1,6}(?: ?[,;] ?e ?\d{1,6})* ?[\])】）]", re.IGNORECASE)
"""Ids that a model writes into its sentence, though it is told not to: `[e1, e3]`, `(E2)`."""
NO_JSON = "it is not one whole JSON object of the form asked for"
NO_SENTENCES = "it says that the question can be answered, and gives no sentence"
DECLINED = frozenset({"false", "no"})


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A model's reply as drafts of sentences, or why it has none."""

    drafts: tuple[DraftSentence, ...] = ()
    """Sentences that name shown evidence; of each, the shown ids alone, each once."""
    declined: bool = False
    """The model says that the evidence does not answer the question."""
    asks_back: str = ""
    """One short question to the user, of a model that declined since the question is unclear."""
    complaints: tuple[str, ...] = ()
    """Faults that the model may be asked to mend: sentences left without evidence, no JSON."""
    notes: tuple[Note, ...] = ()

    @property
    def answers(self) -> bool:
        """Return whether it says something: sentences with evidence, or that there is no answer."""
        return self.declined or bool(self.drafts)


def read_reply(
    text: str, evidence: Sequence[Evidence], *, other_ids: Collection[str] = ()
) -> ParsedReply:
    """
    Return the sentences of a reply to a generation request, and what was wrong with them.

    Never raises: a reply that cannot be read is a complaint. Ids count in whatever digits, case and
    brackets they are written, see `ccrag.llm.labels`; whatever else stands in their place is noted
    and left out.

    Args:
        other_ids: ids of other things that were shown; where one of them could be meant as well,
            no evidence is.
    """
    found = find_json(text, wanted=_is_answer)
    if found is None:
        note = Note(STAGE, f"reply: {NO_JSON}: {short_repr(text)}")
        return ParsedReply(complaints=(NO_JSON,), notes=(note,))
    value, notes = found.value, [Note(STAGE, f"reply: {repair}") for repair in found.repairs]
    sentences = _sentences_of(value)
    if _declines(value):
        if sentences:
            notes.append(Note(STAGE, f"declined; its {len(sentences)} sentences are left out"))
        asks_back = _asks_back(value.get("clarify"))
        return ParsedReply(declined=True, asks_back=asks_back, notes=tuple(notes))
    reading = _read_sentences(sentences, _ShownEvidence(evidence, other_ids), notes)
    if found.values == 1:
        return reading
    complaint = f"it holds {found.values} JSON answers where one was asked for"
    return replace(reading, complaints=(complaint, *reading.complaints))


def better(first: ParsedReply, second: ParsedReply) -> ParsedReply:
    """
    Return the reading that counts after a second reply, with the notes of both.

    The second, unless fewer of its sentences name evidence. It may decline.
    """
    worse = not second.declined and len(second.drafts) < len(first.drafts)
    kept = first if worse else second
    told = Note(STAGE, f"asked again; the {'first' if worse else 'second'} reply counts")
    return replace(kept, notes=(*first.notes, told, *second.notes))


def _asks_back(clarify: object) -> str:
    """
    Return `clarify` as a question; empty when it is none, or so long that it says something too.
    """
    question = plain_words(_MARKERS.sub("", clarify)) if isinstance(clarify, str) else ""
    asks = question.endswith(("?", "？", "؟"))
    return question if asks and len(question.split()) <= MAX_QUESTION_WORDS else ""


def _declines(value: Any) -> bool:
    said = value.get("answerable") if isinstance(value, dict) else None
    return said is False or (isinstance(said, str) and said.strip().casefold() in DECLINED)


def _is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_sentence(item) for item in value)
    return isinstance(value, dict) and (_declines(value) or any(key in value for key in SENTENCES))


def _is_sentence(value: object) -> bool:
    return isinstance(value, dict) and any(key in value for key in TEXT)


def _sentences_of(value: Any) -> list[Any]:
    """Return the list below the first known key, through objects that hold it."""
    if isinstance(value, list):
        return value
    if _is_sentence(value):
        return [value]
    inner: Any = next((value[key] for key in SENTENCES if key in value), [])
    if isinstance(inner, dict):
        return _sentences_of(inner)
    return inner if isinstance(inner, list) else [inner]


def _read_sentences(
    sentences: Sequence[object], shown: "_ShownEvidence", notes: Sequence[Note]
) -> ParsedReply:
    drafts: list[DraftSentence] = []
    complaints: list[str] = []
    told = list(notes)
    for number, sentence in enumerate(sentences, start=1):
        text, ids = _parts(sentence)
        known, problems = shown.resolve(ids)
        told += [Note(STAGE, f"sentence {number}: {problem}") for problem in problems]
        if not any(map(str.isalnum, text)):
            told.append(Note(STAGE, f"sentence {number}: no text in {short_repr(sentence)}"))
        elif known:
            drafts.append(DraftSentence(text, known))
        else:
            why = "; ".join(problems) or "names no evidence"
            complaints.append(f"sentence {number} has no evidence that was shown: {why}")
            left_out = f"sentence {number}: no shown evidence, left out: {short_repr(text)}"
            told.append(Note(STAGE, left_out))
    if not drafts and not complaints:
        complaints.append(NO_SENTENCES)
    return ParsedReply(tuple(drafts), complaints=tuple(complaints), notes=tuple(told))


def _parts(sentence: object) -> tuple[str, object]:
    """Return a sentence's text, on one line, and whatever stands for its ids."""
    if isinstance(sentence, str):
        return _plain(sentence), []
    if not isinstance(sentence, dict):
        return "", []
    text = next((sentence[key] for key in TEXT if key in sentence), "")
    ids: object = next((sentence[key] for key in IDS if key in sentence), [])
    return _plain(text) if isinstance(text, str) else "", ids


def _plain(text: str) -> str:
    """Return one line of visible characters, without ids in brackets."""
    line = " ".join(visible(text).split())
    return " ".join(_MARKERS.sub("", line).split())


class _ShownEvidence:
    """The evidence that a model was shown, and what its ids may be mistaken for."""

    def __init__(self, evidence: Sequence[Evidence], other_ids: Collection[str]) -> None:
        self._ids = frozenset(item.evidence_id for item in evidence)
        self._others = frozenset(other_ids)

    def resolve(self, named: object) -> tuple[tuple[str, ...], list[str]]:
        """Return the shown ids, each once in order, and what is wrong with the rest."""
        known: dict[str, None] = {}
        problems: list[str] = []
        for name in leaves(named if isinstance(named, list) else [named])[0]:
            ids, problem = self._read(name)
            problems += [problem] if problem else []
            for evidence_id in ids:
                if evidence_id in known:
                    problems.append(f"{short_repr(name)} is named more than once")
                elif evidence_id in self._ids:
                    known[evidence_id] = None
                else:
                    problems.append(f"{short_repr(name)} was not shown")
        return tuple(known), problems

    def _read(self, name: object) -> tuple[Sequence[str], str]:
        """Return the ids that `name` stands for, shown or not, and why it stands for none."""
        said = inner_id(name)
        if isinstance(said, str) and said in self._ids:
            return (said,), ""
        if str(said).strip() in self._others:
            return (), f"{short_repr(name)} is the id of a document, not of evidence"
        numbers = named_ids(said, LETTER)
        if numbers is None:
            return (), f"{short_repr(name)} is not an evidence id"
        return [f"{LETTER}{number}" for number in numbers], ""
