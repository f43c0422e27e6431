"""
A request to a language model: its values, the JSON body it becomes, and its digest.

The body is made in one place, so that a request asked at once and one put into a provider batch are
the same bytes and have the same digest.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from ccrag.types import JSON

Role = Literal["system", "user", "assistant"]
Structured = Literal["json-schema", "json-object", "off"]
MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

CHAT_URL: Final = "/v1/chat/completions"
"""The endpoint that a line of a provider batch names."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON that is wanted back, for servers that hold a model to it."""

    name: str
    schema: JSON


@dataclass(frozen=True, slots=True)
class ChatParameters:
    """Which model, and how it samples; what is None is not sent, so the server's default holds."""

    model: str
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    """Of the reply."""
    max_tokens_field: MaxTokensField = "max_tokens"
    structured: Structured = "json-schema"
    """The way a schema is sent: whole, as a wish for any JSON object, or not at all."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the body, for what one server alone knows."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to a model. Equal bodies have equal digests, whoever sends them and how."""

    messages: tuple[ChatMessage, ...]
    parameters: ChatParameters
    schema: ReplySchema | None = None
    prompt: str = ""
    """Name and version of the prompt file, e.g. `answer@1`; for the record, not sent."""
    readable: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)
    """Tells whether a text can be used as a reply; None: any text can. Not sent."""

    @property
    def digest(self) -> str:
        """Return 32 hex digits over the body."""
        return body_digest(request_body(self))


def body_digest(body: JSON) -> str:
    """Return 32 hex digits over a request's body, however its keys are ordered."""
    canonical = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=16).hexdigest()


def request_body(request: ChatRequest) -> JSON:
    """Return the JSON body of `/v1/chat/completions`."""
    parameters = request.parameters
    body: JSON = {
        "model": parameters.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        **sampling_json(parameters),
    }
    if request.schema is not None and parameters.structured != "off":
        body["response_format"] = _response_format(request.schema, parameters.structured)
    return {**body, **parameters.extra}


def sampling_json(parameters: ChatParameters) -> JSON:
    """Return the sampling parameters that are sent, under the names they are sent by."""
    sent = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "seed": parameters.seed,
        parameters.max_tokens_field: parameters.max_tokens,
    }
    return {name: value for name, value in sent.items() if value is not None}


def closed_object(properties: JSON) -> JSON:
    """Return the schema of an object with exactly these properties, as strict modes demand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _response_format(schema: ReplySchema, structured: Structured) -> JSON:
    if structured == "json-object":
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "strict": True, "schema": schema.schema},
    }
