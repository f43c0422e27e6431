"""
A question that stands by itself, by a language model that reads the whole history.

Pure: who is asked is the caller's. A rewrite is searched for and read by; it is no fact, and no
sentence of an answer rests on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccrag.errors import ModelError
from ccrag.llm.calls import AskModel, call_record
from ccrag.llm.history import history_lines
from ccrag.llm.json_extraction import find_json
from ccrag.llm.prompts import Prompt
from ccrag.llm.quote import quoted, visible
from ccrag.llm.request import ChatParameters, ChatRequest, ReplySchema, closed_object
from ccrag.text.truncate import short_repr
from ccrag.types import ModelCall, Note, Turn

STAGE = "rewrite"
KEYS = ("questions", "question", "rewrites", "rewrite", "rewritten", "queries", "query")
"""Keys under which models put the questions; the first is the one asked for."""
TEXT = ("question", "text", "query", "rewrite")
"""Keys of a question's text, where an object stands in its place."""
MAX_WORDS = 100
"""A longer text is no question: the history itself, for one."""


@dataclass(frozen=True, slots=True)
class ModelRewrite:
    """The settings of rewrites by a model: all that decides a request."""

    prompt: Prompt
    parameters: ChatParameters
    count: int
    """Variants that are asked for, in one call."""


@dataclass(slots=True)
class Rewritten:
    """Variants of a question, or why there are none; and what that took."""

    texts: tuple[str, ...] = ()
    failure: str | None = None
    notes: list[Note] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)


def model_rewrites(
    question: str, turns: Sequence[Turn], *, rewrite: ModelRewrite, ask: AskModel
) -> Rewritten:
    """
    Return up to `rewrite.count` variants of `question` that can be understood without `turns`.

    Without turns nothing is missing: nobody is asked, and the question is its own variant.
    """
    if not turns:
        return Rewritten((question,) * rewrite.count)
    request = rewrite_request(question, turns, rewrite)
    try:
        reply = ask(request)
    except ModelError as error:
        return Rewritten(failure=str(error))
    calls = [call_record(request, reply)]
    if reply.fault is not None:
        return Rewritten(failure=reply.fault, calls=calls)
    texts, told = read_rewrites(reply.text, rewrite.count)
    done = Rewritten(texts, calls=calls)
    if texts:
        done.notes = [Note(STAGE, f"reply: {repair}") for repair in told]
    else:
        done.failure = "; ".join(told) or "it names no question"
    return done


def rewrite_request(question: str, turns: Sequence[Turn], rewrite: ModelRewrite) -> ChatRequest:
    """Return the request that asks for rewrites; turns stand in it as data, oldest first."""
    messages = rewrite.prompt.messages(
        question=quoted(question), history=history_lines(turns), count=rewrite.count
    )
    questions = {"type": "array", "items": {"type": "string"}}
    schema = ReplySchema("rewrites", closed_object({"questions": questions}))
    return ChatRequest(
        messages,
        rewrite.parameters,
        schema,
        rewrite.prompt.label,
        readable=lambda text: bool(read_rewrites(text, rewrite.count)[0]),
    )


def read_rewrites(text: str, count: int) -> tuple[tuple[str, ...], list[str]]:
    """
    Return the first `count` different questions of a reply, and what was repaired or is wrong with
    it.

    Never raises. Questions are read as one line of visible characters.
    """
    found = find_json(text, wanted=_is_reply)
    if found is None:
        return (), [f"no question in {short_repr(text)}"]
    kept: dict[str, str] = {}
    told = list(found.repairs)
    for item in _items(found.value):
        question = _question(item)
        if not question:
            told.append(f"no question: {short_repr(item)}")
        elif len(question.split()) > MAX_WORDS:
            told.append(f"longer than {MAX_WORDS} words, left out: {short_repr(question)}")
        elif question.casefold() in kept:
            told.append(f"said twice: {short_repr(question)}")
        else:
            kept[question.casefold()] = question
    texts = tuple(kept.values())
    if len(texts) > count:
        told.append(f"{len(texts)} questions, of which the first {count} count")
    elif 0 < len(texts) < count:
        told.append(f"{len(texts)} questions instead of {count}")
    return texts[:count], told


def _is_reply(value: Any) -> bool:
    return isinstance(value, Mapping) and any(key in value for key in KEYS)


def _items(value: Mapping[str, Any]) -> list[Any]:
    under: Any = next(value[key] for key in KEYS if key in value)
    return under if isinstance(under, list) else [under]


def _question(item: Any) -> str:
    if isinstance(item, Mapping):
        item = next((item[key] for key in TEXT if key in item), None)
    text = " ".join(visible(item).split()) if isinstance(item, str) else ""
    return text if any(map(str.isalnum, text)) else ""
