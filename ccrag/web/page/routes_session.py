"""Signing in to the page with a token, and out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from ccrag.web.page.render import page
from ccrag.web.state import COOKIE, State

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
async def sign_in_page(request: Request) -> Response:
    """Where a token is given."""
    return page(request, "sign_in.html.jinja", wrong=False)


@router.post("/sign-in")
async def sign_in(request: Request, state: State, token: Annotated[str, Form()]) -> Response:
    """Keep a token that is somebody's in a cookie that no script and no other site can use."""
    given = token.strip()
    if state.access.caller(given) is None:
        return page(request, "sign_in.html.jinja", status=401, wrong=True)
    response = Response(status_code=303, headers={"Location": "/"})
    response.set_cookie(
        COOKIE, given, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


@router.post("/sign-out")
async def sign_out() -> Response:
    """Forget the token."""
    response = Response(status_code=303, headers={"Location": "/sign-in"})
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
