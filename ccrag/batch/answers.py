"""Prepared queries and the replies that came: the answers, or the requests that wait. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ccrag.answering.generate import Generation, generate
from ccrag.answering.strength import UNANSWERED
from ccrag.batch.manifest import Prepared
from ccrag.errors import InputError, UnusableReplyError
from ccrag.llm.reply import ChatReply, parse_reply
from ccrag.llm.request import ChatRequest
from ccrag.types import JSON, Result

ReplyOf = Callable[[str], JSON | None]
"""The body of the reply to a custom id, if it has come."""


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A query that cannot be answered before this request has a reply."""

    request: ChatRequest
    again: bool
    """Its first reply came, and the model is asked once more."""
    unusable: str = ""
    """Why the reply that came to this very request cannot be used."""


class _NoReplyError(Exception):
    """Stops the writing of an answer; never leaves this module."""

    def __init__(self, request: ChatRequest) -> None:
        super().__init__(request.digest)
        self.request = request


def answer(
    prepared: Prepared, generation: Generation, reply_of: ReplyOf
) -> Result | PendingRequest:
    """
    Return the result of a query, by the same course as at once; or the request it waits for.

    Raises:
        InputError: this version of ccrag would ask something else than was prepared.
    """
    asked: list[ChatRequest] = []

    def ask(request: ChatRequest) -> ChatReply:
        custom_id = request.digest
        if not asked and prepared.custom_id not in (None, custom_id):
            raise InputError(
                f"query {prepared.result.query.query_id!r} was prepared by a version of ccrag that "
                "asks another way; go on with that version, or prepare anew in another folder"
            )
        asked.append(request)
        body = reply_of(custom_id)
        if body is None:
            raise _NoReplyError(request)
        return parse_reply(body)

    result = prepared.result
    if result.answer.abstained:  # before a model would have been asked
        return result
    evidence = result.answer.evidence
    try:
        generated = generate(
            result.query, evidence, result.passages, generation, ask, units=result.units
        )
    except _NoReplyError as missing:
        return PendingRequest(missing.request, again=len(asked) > 1)
    except UnusableReplyError as error:
        return PendingRequest(asked[-1], again=len(asked) > 1, unusable=error.reason)
    trace = replace(
        result.trace,
        notes=(*result.trace.notes, *generated.notes),
        calls=(*result.trace.calls, *generated.calls),
    )
    told = result.answer.strength
    strength = UNANSWERED if told is not None and generated.answer.abstained else told
    return replace(result, answer=replace(generated.answer, strength=strength), trace=trace)


def first_request(result: Result, generation: Generation) -> ChatRequest | None:
    """Return what a model is asked first for `result`; None: nothing, its evidence is too weak."""
    outcome = answer(Prepared(result, None), generation, lambda _: None)
    return outcome.request if isinstance(outcome, PendingRequest) else None
