"""A model's reply: its value, and reading it from the server's JSON. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ccrag.errors import ModelError
from ccrag.shortening import short_repr

MAX_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back for one request."""

    text: str
    """Empty when the model gave none (see `refusal` and `finish_reason`)."""
    model: str
    """As the server names it; may be more exact than what was asked for."""
    usage: Usage | None = None
    """None: the server did not say."""
    finish_reason: str = ""
    """`length`: cut off at `max_tokens`."""
    refusal: str = ""
    """What the model says when it declines by the provider's own rules."""
    cached: bool = False

    @property
    def refused(self) -> bool:
        """Whether the model declined by the provider's rules and said nothing else."""
        return bool(self.refusal) and not self.text

    @property
    def cut_off(self) -> bool:
        """Whether it ends at `max_tokens` and not where the model meant to end."""
        return self.finish_reason == "length"


def parse_reply(body: object) -> ChatReply:
    """
    The reply in a body of `/v1/chat/completions`, from a live call or a line of a batch.

    Raises:
        ModelError: it has not the form of a chat completion.
    """
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(body, Mapping) or not isinstance(message, Mapping):
        raise ModelError(f"not a chat completion: no message in {_shown(body)}")
    return ChatReply(
        text=_text(message.get("content")),
        model=str(body.get("model") or ""),
        usage=_usage(body.get("usage")),
        finish_reason=str(choice.get("finish_reason") or ""),
        refusal=str(message.get("refusal") or ""),
    )


def _first_choice(body: object) -> Mapping[str, object]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelError(f"not a chat completion: no choices in {_shown(body)}")
    return choices[0]


def _text(content: object) -> str:
    """The content as one text; some servers give it in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        if len(parts) == len(content) and all(isinstance(part, str) for part in parts):
            return "".join(map(str, parts))
    raise ModelError(f"not a chat completion: content is {_shown(content)}")


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    prompt, completion = (n if type(n) is int and n >= 0 else 0 for n in counts)
    return Usage(prompt, completion)


def _shown(value: object) -> str:
    return short_repr(value, max_chars=MAX_SHOWN_CHARS)
