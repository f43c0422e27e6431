"""The OpenSearch client, and the one place where its exceptions become ours."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from opensearchpy import OpenSearch, exceptions
from opensearchpy.serializer import JSONSerializer

from ccrag.config import EngineSettings, Settings
from ccrag.engine.node import ensure_node
from ccrag.errors import ConfigError, EngineDownError, EngineError
from ccrag.types import JSON

Client = OpenSearch
"""What others hold without importing the library it comes from."""
Notify = Callable[[str], None]


def silent(_: str) -> None:
    """A `Notify` that says nothing."""


# The client warns of every 404, also of those that are an answer; errors reach the user as ours.
logging.getLogger("opensearch").addHandler(logging.NullHandler())


class OrjsonSerializer(JSONSerializer):
    """orjson instead of json: bulk loading spends its client time here."""

    def dumps(self, data: Any) -> Any:
        if isinstance(data, (str, bytes)):
            return data
        return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY).decode()

    def loads(self, s: str) -> Any:
        return orjson.loads(s)


def open_client(settings: Settings, *, notify: Notify = silent) -> OpenSearch:
    """
    A client for `engine.url`, or for the embedded node, which is started when it is not running.

    Args:
        notify: takes lines on what the start is doing.

    Raises:
        ConfigError: a user without a password, or the reverse.
        NodeError: the embedded node cannot be started.
    """
    url = settings.engine.url or ensure_node(settings.node, notify=notify).url
    return connect(url, settings.engine)


def connect(url: str, settings: EngineSettings) -> OpenSearch:
    """A client for `url`; no request is sent yet."""
    options: JSON = {"verify_certs": settings.verify_certs, "ssl_show_warn": False}
    if settings.ca_file is not None:
        options["ca_certs"] = str(settings.ca_file)
    return OpenSearch(
        hosts=[url],
        http_auth=_credentials(settings),
        timeout=settings.timeout_s,
        max_retries=3,
        retry_on_timeout=False,
        http_compress=False,
        serializer=OrjsonSerializer(),
        **options,
    )


def _credentials(settings: EngineSettings) -> tuple[str, str] | None:
    if (settings.user is None) != (settings.password is None):
        raise ConfigError("engine.user and engine.password belong together; set both or neither")
    if settings.user is None or settings.password is None:
        return None
    return settings.user, settings.password.get_secret_value()


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """
    Translate the client's exceptions; `doing` completes "cannot …".

    Raises:
        EngineError: what failed, the engine's own reason, and what to do next.
        EngineDownError: the same, of an engine that gave no answer.
    """
    try:
        yield
    except exceptions.OpenSearchException as error:
        no_answer = isinstance(error, exceptions.ConnectionError)
        kind = EngineDownError if no_answer else EngineError
        raise kind(f"cannot {doing}: {_explain(error)}") from error


def _explain(error: exceptions.OpenSearchException) -> str:
    match error:
        case exceptions.SSLError():
            return f"TLS failed ({error.error}); check engine.ca_file and engine.verify_certs"
        case exceptions.ConnectionTimeout():
            return "the engine did not answer in time; see engine.timeout_s, or try again"
        case exceptions.ConnectionError():
            return (
                "the engine is out of reach; check engine.url, or `ccrag node status` "
                "when the embedded node is used, and run the command again"
            )
        case exceptions.AuthenticationException() | exceptions.AuthorizationException():
            return f"refused (HTTP {error.status_code}); check engine.user and engine.password"
        case exceptions.TransportError():
            return f"HTTP {error.status_code}: {reason_of(error.info)}"
        case _:
            return str(error)


def reason_of(info: Any) -> str:
    """The innermost readable reason of an OpenSearch error body."""
    if not isinstance(info, dict):
        return str(info)
    error = info.get("error", info)
    if not isinstance(error, dict):
        return str(error)
    causes = [error, *error.get("root_cause", [])]
    nested = error.get("caused_by")
    while isinstance(nested, dict):
        causes.append(nested)
        nested = nested.get("caused_by")
    reasons = [str(cause["reason"]) for cause in causes if cause.get("reason")]
    return "; ".join(dict.fromkeys(reasons)) or str(error.get("type", error))
