"""Questions to a node over HTTP. Straight to loopback: no proxy settings are read."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

READY_PATHS = ("/_cluster/health?wait_for_status=yellow&timeout=1s", "/_plugins/_knn/stats")
"""Indexes are open for searching; k-NN is there."""


def get(
    url: str, path: str, *, timeout_s: float, secret: str | None = None
) -> tuple[int, bytes] | None:
    """Return status and body of `GET url+path`; None when nothing answers."""
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def answers(url: str, *, timeout_s: float = 10.0, secret: str | None = None) -> bool:
    """Tell whether an OpenSearch node answers at `url`, and lets `secret` in."""
    return node_version(url, timeout_s=timeout_s, secret=secret) is not None


def is_ready(url: str, *, timeout_s: float = 10.0, secret: str | None = None) -> bool:
    """Tell whether the node at `url` has opened its indexes and knows k-NN."""
    for path in READY_PATHS:
        answer = get(url, path, timeout_s=timeout_s, secret=secret)
        if answer is None or answer[0] != 200:
            return False
    return True


def node_version(url: str, *, timeout_s: float = 10.0, secret: str | None = None) -> str | None:
    """Return the OpenSearch version at `url`; None when no OpenSearch answers."""
    answer = get(url, "/", timeout_s=timeout_s, secret=secret)
    if answer is None or answer[0] != 200:
        return None
    try:
        return str(json.loads(answer[1])["version"]["number"])
    except (ValueError, KeyError, TypeError):
        return None
