"""Uploading a paper to ask about, and taking it away."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile

from ccrag.web import schemas
from ccrag.web.answers import json_response
from ccrag.web.api import problems
from ccrag.web.ask_events import in_turn
from ccrag.web.problems import unknown_index
from ccrag.web.state import Asking, State

router = APIRouter(prefix="/api", tags=["api"])


@router.post("/uploads", responses={200: {"model": schemas.Uploaded}, **problems(413)})
async def upload(
    request: Request,
    state: State,
    caller: Asking,
    file: Annotated[
        UploadFile, File(description="Text, Markdown, or any kind `ccrag index` reads.")
    ],
    pipeline: Annotated[str | None, Form(description="What to index it for.")] = None,
) -> Response:
    """Make one file an index of the caller's own, for a while."""
    name = file.filename or "upload.txt"
    made = await in_turn(
        request,
        lambda on_stage: state.uploads.add(
            caller.name, name, file.file, pipeline or None, on_stage=on_stage
        ),
        workers=state.upload_workers,
    )
    return json_response(
        {
            "index": made.index,
            "documents": made.documents,
            "passages": made.passages,
            "notes": list(made.notes),
            "pipeline": pipeline or state.registry.default,
            "kept_minutes": state.settings.upload_minutes,
        }
    )


@router.delete("/uploads", status_code=204, responses=problems(404))
async def drop(
    request: Request, state: State, caller: Asking, index: Annotated[str, Query()]
) -> Response:
    """Take an upload of one's own away."""
    dropped = await in_turn(request, lambda _: state.uploads.drop(caller.name, index))
    if not dropped:
        raise unknown_index()
    return Response(status_code=204)
