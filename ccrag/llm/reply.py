"""A model's reply: its value, and reading it from the server's JSON. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ccrag.errors import ModelError
from ccrag.llm.json_extraction import without_thinking
from ccrag.llm.quote import visible
from ccrag.text.truncate import short_repr

MAX_SHOWN_CHARS = 120
LIMIT = "llm.max_tokens"
"""The setting that limits the tokens of a reply."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "incomplete"})
"""The servers' words for a reply that ends at the limit of tokens."""
FILTERED = frozenset(
    {
        "content_filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "refusal",
        "sensitive",
        "guardrail_intervened",
    }
)
"""The servers' words for a reply that they hold back, whole or in part."""
THINKING_PARTS = frozenset({"thinking", "reasoning", "redacted_thinking"})
"""Types of parts of a content that are no answer."""
TOO_MANY = 429
UNAVAILABLE = 503
STATUS_NAMES: Mapping[int, tuple[str, ...]] = {
    TOO_MANY: ("rate_limit", "too_many", "throttl", "resource_exhausted", "quota", "ratelimit"),
    UNAVAILABLE: (
        "overload",
        "unavailable",
        "timeout",
        "timed_out",
        "server_error",
        "internal",
        "upstream",
        "bad_gateway",
        "capacity",
        "try_again",
    ),
    401: ("api_key", "authentication", "unauthorized", "unauthenticated"),
    403: ("permission", "forbidden"),
    404: ("not_found",),
    400: ("invalid", "bad_request", "context_length"),
}
"""Parts of names by which servers call errors, by the status that says the same."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply to one request."""

    text: str
    """Empty when the model gave none; `fault` says why."""
    model: str
    """As the server names it; may be more exact than what was asked for."""
    usage: Usage | None = None
    """None: the server did not say."""
    finish_reason: str = ""
    """`length`: cut off at the limit of tokens."""
    refusal: str = ""
    """The model's words when it declines by the provider's own rules."""
    cached: bool = False
    reasoned: bool = False
    """True where the server gave thoughts beside the text, or counted tokens for them."""
    called_tools: bool = False
    """True where the model asks for a tool, though none was offered."""

    @property
    def cut_off(self) -> bool:
        """Return whether it ends at the limit of tokens and not where the model meant to end."""
        return self.finish_reason.casefold() in CUT_OFF

    @property
    def fault(self) -> str | None:
        """
        Return why nothing may be read from this reply; None when its text can be read.

        A reply that is cut off is never read, however much of it came: what is missing could
        change its sense.
        """
        if self.refusal:
            return f"refused: {short_repr(self.refusal)}"
        if self.finish_reason.casefold() in FILTERED:
            return f"filtered by the provider (finish_reason {self.finish_reason!r})"
        if self.finish_reason.casefold() == "error":
            return "the server broke off (finish_reason 'error')"
        said = visible(without_thinking(self.text)).strip()
        if self.cut_off:
            thought = not said and (self.reasoned or self.text.strip())
            spent = "all tokens went into reasoning" if thought else "cut off"
            return f"{spent}: raise {LIMIT} (finish_reason {self.finish_reason!r})"
        if said:
            return None
        if self.called_tools:
            return "tool calls instead of a text"
        if visible(self.text).strip():
            return "the reply is all thinking"
        return "the reply is empty" + (" but for its reasoning" if self.reasoned else "")


@dataclass(frozen=True, slots=True)
class BodyError:
    """A fault in a body that came with status 200."""

    status: int | None
    """The status that says the same; None: there is none, the body is of another kind."""
    said: str


def body_error(body: object) -> BodyError | None:
    """
    Return the error that a body of status 200 holds, as some gateways send them.

    Read are `error` in the body or in its first choice, and bodies in which the choices or the
    message are missing, which stand for a model that was not to be had.
    """
    if not isinstance(body, Mapping):
        return BodyError(None, f"not a chat completion: {_shown(body)}")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    told = body.get("error") or (first.get("error") if isinstance(first, Mapping) else None)
    if told or body.get("object") == "error":
        return _told_error(told or body)
    if "choices" in body and not choices:
        return BodyError(UNAVAILABLE, f"a reply without choices: {_shown(body)}")
    if isinstance(first, Mapping) and "message" in first and not first["message"]:
        return BodyError(UNAVAILABLE, f"a reply without a message: {_shown(body)}")
    if not isinstance(first, Mapping) or not isinstance(first.get("message"), Mapping):
        missing = "message" if isinstance(first, Mapping) else "choices"
        return BodyError(None, f"not a chat completion: no {missing} in {_shown(body)}")
    return None


def _told_error(told: object) -> BodyError:
    """Return an error as a server words it, with the status that its code or type stands for."""
    if not isinstance(told, Mapping):
        return BodyError(_status_of(str(told)), " ".join(str(told).split()))
    words = [str(told[key]) for key in ("code", "status", "type") if told.get(key)]
    status = next((found for word in words if (found := _status_of(word))), None)
    said = str(told.get("message") or "") or ", ".join(words) or _shown(told)
    return BodyError(status, " ".join(said.split()))


def _status_of(word: str) -> int | None:
    """Return the HTTP status that a code, or the name of an error, stands for."""
    if word.isascii() and word.isdecimal():
        return int(word) if len(word) == 3 and word[0] in "45" else None
    named = word.casefold().replace(" ", "_").replace("-", "_")
    for status, names in STATUS_NAMES.items():
        if any(name in named for name in names):
            return status
    return None


def parse_reply(body: object) -> ChatReply:
    """
    Return the reply in a body of `/v1/chat/completions`, of a live call or a line of a batch.

    Raises:
        ModelError: it is an error, or has not the form of a chat completion.
    """
    wrong = body_error(body)
    if wrong is not None or not isinstance(body, Mapping):
        raise ModelError(wrong.said if wrong else _shown(body))
    choice = body["choices"][0]
    message = choice["message"]
    usage, content = body.get("usage"), message.get("content")
    return ChatReply(
        text=_text(content),
        model=str(body.get("model") or ""),
        usage=_usage(usage),
        finish_reason=str(choice.get("finish_reason") or ""),
        refusal=str(message.get("refusal") or "") or _joined(content, "refusal"),
        reasoned=_reasoned(message, usage),
        called_tools=bool(message.get("tool_calls") or message.get("function_call")),
    )


def _text(content: object) -> str:
    """
    Return the content as one text; some servers give it in parts, thoughts and refusals apart.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        apart = THINKING_PARTS | {"refusal"}
        shown = [p for p in content if not (isinstance(p, Mapping) and p.get("type") in apart)]
        if all(isinstance(p, Mapping) and isinstance(p.get("text"), str) for p in shown):
            return "".join(str(part["text"]) for part in shown)
    raise ModelError(f"not a chat completion: content is {_shown(content)}")


def _joined(content: object, kind: str) -> str:
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get(kind) or "") for p in parts if isinstance(p, Mapping))


def _reasoned(message: Mapping[str, object], usage: object) -> bool:
    """Tell whether a server tells of thoughts beside the text."""
    if message.get("reasoning_content") or message.get("reasoning") or message.get("thinking"):
        return True
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    return isinstance(details, Mapping) and bool(details.get("reasoning_tokens"))


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    prompt, completion = (n if type(n) is int and n >= 0 else 0 for n in counts)
    return Usage(prompt, completion)


def _shown(value: object) -> str:
    return short_repr(value, max_chars=MAX_SHOWN_CHARS)
