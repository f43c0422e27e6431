"""The OpenSearch client, and the one place where its exceptions become ours."""

import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from opensearchpy import OpenSearch, exceptions
from opensearchpy.serializer import JSONSerializer
from opensearchpy.transport import Transport
from pydantic import SecretStr
from urllib3.exceptions import (
    ConnectTimeoutError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
)

from ccrag.config import EngineSettings, Settings
from ccrag.engine.node import NodeState, ensure_node
from ccrag.engine.reasons import incomplete, is_guard, with_advice
from ccrag.engine.reasons import reason_of as reason_of
from ccrag.errors import ConfigError, EngineDownError, EngineError, InputError
from ccrag.types import JSON

Client = OpenSearch
"""The client's type for modules that do not import its library."""
Notify = Callable[[str], None]


def silent(_: str) -> None:
    """Do nothing: the `Notify` of callers that show no messages."""


# The client warns of every 404, also of those that are an answer; errors reach the user as ours.
logging.getLogger("opensearch").addHandler(logging.NullHandler())


def to_json(data: Any) -> bytes:
    """
    Return `data` as it is sent.

    Raises:
        InputError: a string in it is no text; whoever knows where it came from says so before.
    """
    try:
        return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise
        raise InputError(
            "a name or text holds half of a surrogate pair, or a byte that is not UTF-8, which the "
            "engine cannot take; give UTF-8 text"
        ) from error


class OrjsonSerializer(JSONSerializer):
    """orjson instead of json: bulk loading spends its client time here."""

    def dumps(self, data: Any) -> Any:
        if isinstance(data, (str, bytes)):
            return data
        return to_json(data).decode()

    def loads(self, s: str) -> Any:
        try:
            return orjson.loads(s)
        except orjson.JSONDecodeError as error:
            raise exceptions.SerializationError(s, error) from error


class CompleteTransport(Transport):
    """Takes no answer for whole that has failed shards or ran out of time."""

    def perform_request(self, *args: Any, **kwargs: Any) -> Any:
        answer = super().perform_request(*args, **kwargs)
        reason = incomplete(answer)
        if reason is not None:
            raise exceptions.TransportError(200, "incomplete", {"error": {"reason": reason}})
        return answer


def open_client(settings: Settings, *, notify: Notify = silent) -> OpenSearch:
    """
    Return a client for `engine.url`, or for the embedded node, started when it is not running.

    Args:
        notify: takes lines on what the start is doing.

    Raises:
        ConfigError: `engine.url`, `engine.ca_file`, or a user without a password, or the reverse.
        EngineError: what answers at `engine.url` is no OpenSearch, or it does not let us in.
        EngineDownError: nothing answers there.
        NodeError: the embedded node cannot be started.
    """
    url = settings.engine.url
    if url is None:
        node = ensure_node(settings.node, notify=notify)
        return connect_node(node, settings.engine)
    client = connect(url, settings.engine)
    with engine_errors(f"use the engine at {url}"):
        _require_opensearch(client, url)
    return client


def connect(url: str, settings: EngineSettings) -> OpenSearch:
    """
    Return a client for `url`; no request is sent yet.

    Raises:
        ConfigError: as `open_client`.
    """
    check_url(url)
    options: JSON = {"verify_certs": settings.verify_certs, "ssl_show_warn": False}
    if settings.ca_file is not None:
        _check_ca_file(settings.ca_file)
        options["ca_certs"] = str(settings.ca_file)
    if settings.token is not None:
        options["headers"] = {"authorization": f"Bearer {settings.token.get_secret_value()}"}
    return OpenSearch(
        hosts=[url],
        http_auth=_credentials(settings),
        timeout=settings.timeout_s,
        max_retries=3,
        retry_on_timeout=False,  # a search that was too slow once would only load the engine more
        http_compress=False,
        serializer=OrjsonSerializer(),
        transport_class=CompleteTransport,
        **options,
    )


def connect_node(node: NodeState, settings: EngineSettings) -> OpenSearch:
    """
    Return a client for an embedded node, with its secret; no request is sent yet.

    Raises:
        NodeError: the node has no secret, or another user's.
    """
    own = {"token": SecretStr(node.secret()), "user": None, "password": None, "ca_file": None}
    return connect(node.url, settings.model_copy(update=own))


def check_url(url: str) -> None:
    """
    Refuse what is no address of an engine, with the part that is wrong.

    Raises:
        ConfigError: scheme, host or port is missing or wrong, or there is more than them.
    """
    expected = "expected http://HOST:PORT or https://HOST:PORT"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"engine.url: {error}; {expected}") from error
    if "@" in parts.netloc:
        raise ConfigError("engine.url holds a user; set engine.user and engine.password instead")
    if parts.scheme not in ("http", "https") or "://" not in url:
        raise ConfigError(f"engine.url {url!r} does not begin with http:// or https://; {expected}")
    if not parts.hostname or port == 0 or url != "".join(url.split()) or not url.isprintable():
        raise ConfigError(f"engine.url {url!r} names no host, or no usable port; {expected}")
    if parts.query or parts.fragment:
        raise ConfigError(f"engine.url {url!r} goes on after the path; {expected}")


def _check_ca_file(path: Path) -> None:
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError as error:
        raise ConfigError(f"engine.ca_file {path} holds no certificate in PEM form") from error
    except OSError as error:
        raise ConfigError(f"engine.ca_file {path}: {error.strerror}") from error


def _credentials(settings: EngineSettings) -> tuple[str, str] | None:
    if (settings.user is None) != (settings.password is None):
        raise ConfigError("engine.user and engine.password belong together; set both or neither")
    if settings.user is not None and settings.token is not None:
        raise ConfigError("engine.token and engine.user exclude each other; set one of them")
    if settings.user is None or settings.password is None:
        return None
    return settings.user, settings.password.get_secret_value()


def _require_opensearch(client: OpenSearch, url: str) -> None:
    """Check that an OpenSearch answers at `url`; users without the right to ask are let through."""
    try:
        answer = client.info()
    except exceptions.AuthorizationException:
        return
    except (exceptions.NotFoundError, exceptions.RequestError, exceptions.SerializationError):
        answer = None
    version = answer.get("version") if isinstance(answer, dict) else None
    if not isinstance(version, dict) or "number" not in version:
        raise EngineError(f"what answers at {url} is no OpenSearch; check engine.url")


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
        no_answer = isinstance(error, exceptions.ConnectionError) or _wants_secret(error)
        kind = EngineDownError if no_answer else EngineError
        raise kind(f"cannot {doing}: {_explain(error)}") from error


def _explain(error: exceptions.OpenSearchException) -> str:
    match error:
        case exceptions.SSLError():
            return _explain_tls(str(error.error))
        case exceptions.ConnectionTimeout():
            return "the engine did not answer in time; see engine.timeout_s, or try again"
        case exceptions.ConnectionError():
            return (
                f"the engine is out of reach{_lost(error.info)}; check engine.url, or "
                "`ccrag node status` when the embedded node is used, and run the command again"
            )
        case exceptions.AuthenticationException() if _wants_secret(error):
            return (
                "the embedded node wants the secret of its present start: run the command again, "
                "without engine.url, or with the secret in engine.token (`ccrag node status` says "
                "where it is)"
            )
        case exceptions.AuthenticationException():
            return "refused (HTTP 401); check engine.user and engine.password"
        case exceptions.TransportError(status_code=200):
            return with_advice(reason_of(error.info), error.info)
        case exceptions.TransportError():
            reason = f"HTTP {error.status_code}: {reason_of(error.info)}"
            return with_advice(reason, error.info)
        case exceptions.SerializationError():
            return "what answers there does not speak JSON; check engine.url"
        case _:
            return str(error)


def _wants_secret(error: exceptions.OpenSearchException) -> bool:
    """Tell whether an embedded node refused the secret."""
    # A node has a new secret at each start, so this mostly means that it was restarted.
    return isinstance(error, exceptions.AuthenticationException) and is_guard(error.info)


def _explain_tls(reason: str) -> str:
    if "WRONG_VERSION_NUMBER" in reason or "RECORD_LAYER_FAILURE" in reason:
        return "there is no TLS at this port; engine.url has to begin with http:// there"
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        why = reason.partition("certificate verify failed: ")[2].partition(" (_ssl")[0]
        return (
            f"the engine's certificate is not trusted ({why or reason}); name the file of the "
            "authority that signed it in engine.ca_file, or check the host's name in engine.url"
        )
    return f"TLS failed ({reason}); check engine.ca_file and engine.verify_certs"


def _lost(cause: Any) -> str:
    """Return the reason why the connection failed, in brackets; "" where there is none."""
    match cause:
        case NameResolutionError():
            return f" (the host {cause.conn.host!r} has no address)"
        case NewConnectionError():
            why = str(cause).rpartition("] ")[2]
            return f" ({cause.conn.host}:{cause.conn.port}: {why})"
        case ConnectTimeoutError():
            return " (no connection in time)"
        case ProtocolError():
            return " (the connection was closed without an answer: it went away, or wants https://)"
        case _:
            return ""
