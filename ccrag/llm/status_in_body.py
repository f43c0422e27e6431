"""
Give a response of status 200 that holds an error the status it stands for.

Some gateways answer 200 and put the error into the body, or send half a body or a page of HTML.
With its right status the client tries again, or does not, as for every other server.
Imports httpx.
"""

from collections.abc import Callable

import httpx
import orjson

from ccrag.llm.reply import UNAVAILABLE, BodyError, body_error

Redact = Callable[[str], str]
"""Takes secrets out of a text."""
SAID = "ccrag_error_in_body"
"""Where a response's extensions hold what its body says is wrong."""
ROUTE = "/chat/completions"


def status_hook(redact: Redact) -> Callable[[httpx.Response], None]:
    """Return a hook for responses of an httpx client; it reads chat completions whole."""

    def hook(response: httpx.Response) -> None:
        if not (response.is_success and response.request.url.path.endswith(ROUTE)):
            return
        wrong = error_in(response.read(), redact)
        if wrong is not None and wrong.status is not None:
            response.extensions[SAID] = f"sent as {response.status_code}: {wrong.said}"
            response.status_code = wrong.status

    return hook


def error_in(content: bytes, redact: Redact) -> BodyError | None:
    """Return the error that a chat completion's body holds, its secrets redacted, if any."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return BodyError(UNAVAILABLE, _no_json(content.strip()))
    wrong = body_error(body)
    if wrong is None:
        return None
    try:  # secrets first: of one that is cut short, what is left would not be recognised
        return body_error(orjson.loads(redact(content.decode())))
    except orjson.JSONDecodeError:  # the secret was no string
        return BodyError(wrong.status, "an error that repeats a secret")


def _no_json(content: bytes) -> str:
    if not content:
        return "its reply is empty"
    if content.startswith(b"<"):
        return "its reply is not JSON but a page; is provider.base_url right?"
    return "its reply is not JSON, or not whole"
