"""Templates to HTML, everything escaped, and the page's own files."""

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from ccrag.version import __version__
from ccrag.web.logs import request_id
from ccrag.web.page.views import document_href
from ccrag.web.problems import ProblemError

MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ccrag.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "document_href": document_href,
        "asset": asset_href,
        "version": __version__,
    }
    return environment


def html(template: str, **values: Any) -> str:
    """Return `template` with `values`, each escaped."""
    return _environment().get_template(template).render(**values)


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a whole page; it knows who is signed in."""
    caller = getattr(request.state, "caller", None)
    signed_in = (
        caller.name if caller is not None and request.app.state.ccrag.access.needs_token else ""
    )
    content = html(template, signed_in=signed_in, path=request.url.path, **values)
    return Response(content, status_code=status, media_type="text/html; charset=utf-8")


def problem_page(request: Request, problem: ProblemError) -> Response:
    """Return a problem as a page; one about a missing token as the way to give it."""
    if problem.code == "unauthorised":
        return page(request, "sign_in.html.jinja", status=401, wrong=False)
    return page(
        request,
        "problem.html.jinja",
        status=problem.status,
        problem=problem,
        request_id=request_id.get(),
    )


@cache
def asset(name: str) -> tuple[bytes, str]:
    """
    Return one of the page's own files, and its media type.

    Raises:
        ProblemError: there is none of this name.
    """
    known = {entry.name: entry for entry in (resources.files(__package__) / "static").iterdir()}
    if name not in known:
        raise ProblemError("not_found", "no such file")
    return known[name].read_bytes(), MEDIA_TYPES[name.rpartition(".")[2]]


@cache
def asset_href(name: str) -> str:
    """
    Return where a file is; the address changes with its content, so that it may be kept for ever.
    """
    digest = hashlib.blake2b(asset(name)[0], digest_size=6).hexdigest()
    return f"/static/{name}?{digest}"
