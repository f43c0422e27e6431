"""One call to a language model: how stages ask, and what is kept of it. Pure."""

from collections.abc import Callable

from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatRequest, sampling_json
from ccrag.types import ModelCall

AskModel = Callable[[ChatRequest], ChatReply]
"""Asks once; raises `ModelError` when no reply can be had."""


def is_usable(request: ChatRequest, reply: ChatReply) -> bool:
    """Return whether `reply` says something that answers `request`; only then it may be cached."""
    if reply.fault is not None:
        return False
    return request.readable is None or request.readable(reply.text)


def call_record(request: ChatRequest, reply: ChatReply) -> ModelCall:
    """Return what is kept of a call."""
    return ModelCall(
        prompt=request.prompt,
        digest=request.digest,
        model=reply.model or request.parameters.model,
        parameters=sampling_json(request.parameters),
        prompt_tokens=reply.usage.prompt_tokens if reply.usage else None,
        completion_tokens=reply.usage.completion_tokens if reply.usage else None,
        finish_reason=reply.finish_reason,
        cached=reply.cached,
    )
