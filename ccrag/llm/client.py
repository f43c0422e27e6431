"""
A language model over HTTP: the interface, the client, and how it is had from its settings.

Importing this imports no client library. The values live in `ccrag.llm`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

import orjson

from ccrag.config import LlmSettings, ProviderSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.llm.quote import visible
from ccrag.llm.reply import ChatReply, parse_reply
from ccrag.llm.request import ChatParameters, ChatRequest, request_body
from ccrag.text.truncate import shortened

if TYPE_CHECKING:
    from openai import OpenAI

T = TypeVar("T", int, float)
OPENAI_URL = "https://api.openai.com/v1"
MAX_ERROR_CHARS = 300
NO_KEY = "none"
"""Sent to servers that ask for no key; no secret."""


class Llm(Protocol):
    """Answers chat requests; safe to call from several threads."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """
        Ask once.

        Raises:
            ModelError: no reply could be had.
        """
        ...


def parameters_of(settings: LlmSettings) -> ChatParameters:
    """Return what `settings` say, as a request carries it."""
    return ChatParameters(
        model=settings.model,
        temperature=set_or_none(settings.temperature),
        top_p=set_or_none(settings.top_p),
        seed=set_or_none(settings.seed),
        max_tokens=settings.max_tokens,
        max_tokens_field=settings.max_tokens_field,
        structured=settings.structured,
        extra=settings.extra,
    )


def set_or_none(value: T | Literal["unset"]) -> T | None:
    """Return a parameter's value; None for one that is left to the server."""
    return None if value == "unset" else value


def load_llm(settings: ProviderSettings) -> Llm:
    """
    Return the model server of `settings`, its replies kept on disk if they say so; nothing is asked
    yet.

    Raises:
        ModelError: the client's package is not installed.
        ConfigError: OpenAI's own server without a key.
    """
    served = ServedLlm(open_client(settings), settings)
    if not settings.cache:
        return served
    from ccrag.llm.cache import CachedLlm, ReplyCache

    folder = settings.cache_folder or default_reply_folder()
    return CachedLlm(served, ReplyCache(folder, server=settings.base_url))


def default_reply_folder() -> Path:
    """Return where replies are kept unless the settings say otherwise."""
    import platformdirs

    return platformdirs.user_cache_path("ccrag", appauthor=False) / "replies"


def open_client(settings: ProviderSettings) -> "OpenAI":
    """
    Return the official client, set up for `settings`: it retries by itself, with growing pauses.

    Raises:
        ModelError: the package is not installed.
        ConfigError: OpenAI's own server without a key.
    """
    try:
        from openai import DefaultHttpxClient, OpenAI

        from ccrag.llm.status_in_body import status_hook
    except ImportError as error:
        raise ModelError("a language model needs the package: pip install 'ccrag[llm]'") from error

    class HttpClient(DefaultHttpxClient):
        """Closes its connections when nobody uses it any more."""

        def __del__(self) -> None:
            self.close()

    key = _key(settings)
    hook = status_hook(lambda text: _redacted(text, settings, key))
    return OpenAI(
        api_key=key,
        base_url=settings.base_url,
        timeout=settings.timeout_s,
        max_retries=settings.retries,
        http_client=HttpClient(event_hooks={"response": [hook]}),
    )


def _key(settings: ProviderSettings) -> str:
    """
    Return the key, or a stand-in for servers that ask for none; OpenAI's own goes to OpenAI alone.
    """
    if settings.api_key is not None:
        return settings.api_key.get_secret_value()
    if settings.base_url.rstrip("/") != OPENAI_URL:
        return NO_KEY
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        raise ConfigError(
            f"{OPENAI_URL} needs a key: set CCRAG_PROVIDER__API_KEY in the environment, or "
            "CCRAG_PROVIDER__BASE_URL to another server"
        )
    return key


class ServedLlm:
    """A model behind `/chat/completions`."""

    def __init__(self, client: "OpenAI", settings: ProviderSettings) -> None:
        self._client = client
        self._settings = settings
        self._slots = BoundedSemaphore(settings.concurrency)

    def complete(self, request: ChatRequest) -> ChatReply:
        """
        Ask the server, waiting while `provider.concurrency` calls are under way.

        Raises:
            ModelError: it refused, or failed more often than `provider.retries` allow.
        """
        import httpx

        from ccrag.llm.status_in_body import error_in

        with self._slots, client_errors(self._settings, secret=self._client.api_key):
            response = self._client.post(
                "/chat/completions", cast_to=httpx.Response, body=request_body(request)
            )
        wrong = error_in(response.content, self._redact)
        if wrong is not None:
            raise ModelError(f"{_server(self._settings)}: {_one_line(wrong.said)}")
        try:
            return parse_reply(orjson.loads(response.content))
        except ModelError as error:
            said = _one_line(self._redact(str(error)))
            raise ModelError(f"{_server(self._settings)}: {said}") from None

    def _redact(self, text: str) -> str:
        return _redacted(text, self._settings, self._client.api_key)


@contextmanager
def client_errors(settings: ProviderSettings, *, secret: str) -> Iterator[None]:
    """Turn the client's errors into one line that names the server and never the key."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

    from ccrag.llm.status_in_body import SAID

    server = _server(settings)
    try:
        yield
    except APITimeoutError as error:
        raise ModelError(
            f"{server}: no reply within {settings.timeout_s:g} s, {_tries(settings)}; "
            "raise provider.timeout_s, or look after the server"
        ) from error
    except APIConnectionError as error:
        raise ModelError(
            f"{server}: cannot be reached, {_tries(settings)}; is provider.base_url right?"
        ) from error
    except APIStatusError as error:
        told = error.response.extensions.get(SAID) or _told(error.body) or error.message
        said = _one_line(_redacted(str(told), settings, secret))
        retried = f", {_tries(settings)}" if _is_transient(error.status_code) else ""
        raise ModelError(f"{server}: status {error.status_code}{retried}: {said}") from error
    except OpenAIError as error:
        raise ModelError(
            f"{server}: {_one_line(_redacted(str(error), settings, secret))}"
        ) from error


def _told(body: object) -> str:
    """Return the server's own words in an error's body, if it has a usual form."""
    message = body.get("message") if isinstance(body, Mapping) else body
    return message if isinstance(message, str) else ""


def _server(settings: ProviderSettings) -> str:
    """Return the server's name alone: a URL may hold a password."""
    return urlsplit(settings.base_url).hostname or "the model's server"


def _tries(settings: ProviderSettings) -> str:
    return f"tried {settings.retries + 1} times"


def _is_transient(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


def _redacted(text: str, settings: ProviderSettings, key: str) -> str:
    """Return `text` without the key and the password of the URL."""
    for secret in (key, urlsplit(settings.base_url).password):
        if secret and secret != NO_KEY:
            text = text.replace(secret, "***")
    return text


def _one_line(message: str) -> str:
    return shortened(" ".join(visible(message).split()), max_chars=MAX_ERROR_CHARS)
