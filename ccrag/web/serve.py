"""From settings to a running server."""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from functools import partial

import uvicorn

from ccrag.config import Settings
from ccrag.engine.client import Notify
from ccrag.errors import ConfigError
from ccrag.web.access import Access, read_access
from ccrag.web.app import create_app
from ccrag.web.connection import EngineConnection
from ccrag.web.logs import log_to_stderr
from ccrag.web.metrics import Metrics
from ccrag.web.registry import IndexRegistry, offered_pipelines
from ccrag.web.run_store import RunStore
from ccrag.web.service import QueryService
from ccrag.web.socket_limits import limited_protocol
from ccrag.web.state import ServerState
from ccrag.web.uploads import Uploads
from ccrag.web.worker_pool import WorkerPool

GRACE_S = 10
"""Seconds that running requests may go on after the server was told to end."""


def open_server(
    settings: Settings, *, pipeline: str | None, overrides: Sequence[str], notify: Notify
) -> ServerState:
    """
    Return everything a server needs, checked and opened; the embedded node is started when needed.

    Args:
        pipeline: the default one, a packaged name or a TOML file.
        overrides: `section.key=value`, for all pipelines.

    Raises:
        ConfigError: no tokens on an address that others can reach, or a setting nobody knows.
        EngineError: there is no engine.
    """
    chosen = settings.serve
    access = read_access(chosen.tokens)
    check_host(chosen.host, access)
    pipelines, default = offered_pipelines(chosen.pipelines, pipeline, overrides)
    metrics = Metrics()
    connection = EngineConnection(settings, notify=notify)
    registry = IndexRegistry(pipelines, default, connection, metrics)
    per_caller = chosen.uploads_per_caller if access.needs_token else None
    uploads = Uploads(chosen, registry, per_caller=per_caller)
    uploads.drop_leftovers()
    workers = partial(
        WorkerPool, timeout_s=chosen.timeout_s, metrics=metrics, shared=access.needs_token
    )
    return ServerState(
        settings=chosen,
        access=access,
        connection=connection,
        registry=registry,
        uploads=uploads,
        records=RunStore(chosen.runs),
        service=QueryService(chosen, registry, uploads, metrics),
        workers=workers(concurrency=chosen.concurrency, waiting=chosen.waiting),
        upload_workers=workers(concurrency=chosen.readers, waiting=chosen.uploads),
        metrics=metrics,
    )


def check_host(host: str, access: Access) -> None:
    """
    Let only a server with tokens listen where others can reach it.

    Raises:
        ConfigError: it has none.
    """
    if access.needs_token or is_loopback(host):
        return
    raise ConfigError(
        f"serve.host {host} can be reached by others: give serve.tokens, or keep to 127.0.0.1"
    )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run_server(state: ServerState, *, ready: Callable[[str], None]) -> None:
    """
    Serve until the process is told to end.

    Args:
        ready: called with the server's URL once it listens.

    Raises:
        ConfigError: the address cannot be had.
    """
    log_to_stderr()
    listener = _listen(state.settings.host, state.settings.port)
    config = server_config(state)
    ready(f"http://{_shown(state.settings.host)}:{listener.getsockname()[1]}")
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def server_config(state: ServerState) -> uvicorn.Config:
    """Return what uvicorn needs to know to serve `state`."""
    bounds = state.settings
    return uvicorn.Config(
        create_app(state),
        http=limited_protocol(max_connections=bounds.max_connections, head_s=bounds.slow_s),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}:{port} ({error.strerror}); see serve.host and serve.port"
        ) from error
    listener.listen(128)
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
