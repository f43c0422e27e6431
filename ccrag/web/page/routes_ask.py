"""The page where one asks: form, answer, documents, uploads."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Query, Request, Response, UploadFile

from ccrag.runs.provenance import result_json
from ccrag.types import JSON, Result
from ccrag.web.access import Caller
from ccrag.web.ask_events import answered, in_turn, streamed
from ccrag.web.connection import UPLOAD_PREFIX
from ccrag.web.page.render import asset, html, page
from ccrag.web.page.views import answer_view
from ccrag.web.problems import ProblemError
from ccrag.web.service import AskedQuestion, ReadableIndex
from ccrag.web.spans import parted, read_spans
from ccrag.web.state import Asking, ServerState, State

WINDOW_CHARS = 60_000
"""Of a document, shown at once."""
BEFORE_CHARS = 4_000
"""Shown before the first highlighted span."""
FOUND = 30
"""Documents that a search for titles shows."""
FOR_EVER = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)
QuestionField = Annotated[str, Form()]
IdsField = Annotated[str, Form(description="One id a line.")]


def sent_question(
    text: QuestionField,
    index: QuestionField,
    scope: QuestionField = "all",
    doc_ids: IdsField = "",
    pick: Annotated[list[str] | None, Form()] = None,
    pipeline: QuestionField = "",
) -> AskedQuestion:
    """Return what the form says; ids pasted and documents picked count together."""
    ids = [line.strip() for line in doc_ids.splitlines()]
    chosen = tuple(dict.fromkeys([*(pick or ()), *filter(None, ids)]))
    return AskedQuestion(index, text, chosen if scope == "some" else None, pipeline or None)


Asked = Annotated[AskedQuestion, Depends(sent_question)]


@router.get("/")
async def ask_page(
    request: Request,
    state: State,
    caller: Asking,
    index: str = "",
    title: str = "",
) -> Response:
    """The empty form; without script, also the search for titles."""
    shown = await _form(request, state, caller, index=index, title=title)
    return page(request, "ask.html.jinja", **shown, answer=None)


@router.post("/ask")
async def answer_page(
    request: Request,
    state: State,
    caller: Asking,
    question: Asked,
    scope: QuestionField = "all",
) -> Response:
    """The form as it was sent, with the answer below."""
    result = await answered(request, state, caller, question)
    shown = await _form(request, state, caller, question=question, scope=scope)
    view = answer_view(result_json(result), question.index)
    return page(request, "ask.html.jinja", **shown, answer=view)


@router.post("/ask/stream")
async def answer_stream(
    request: Request, state: State, caller: Asking, question: Asked
) -> Response:
    """Stages as they end, then the answer as a piece of the page."""

    def show(result: Result) -> JSON:
        view = answer_view(result_json(result), question.index)
        return {"html": html("answer.html.jinja", answer=view)}

    return await streamed(request, state, caller, question, show)


@router.get("/documents")
async def found_documents(
    request: Request, state: State, caller: Asking, index: str, title: str = ""
) -> Response:
    """Documents by title, as a piece of the form."""
    found = await in_turn(
        request, lambda _: state.service.documents(caller, index, text=title, size=FOUND)
    )
    content = html("found.html.jinja", found=found, title=title)
    return Response(content, media_type="text/html; charset=utf-8")


@router.get("/document")
async def document_page(
    request: Request,
    state: State,
    caller: Asking,
    index: str,
    doc_id: str,
    span: Annotated[list[str] | None, Query()] = None,
    start: Annotated[int | None, Query(ge=0, le=10**9)] = None,
    fragment: bool = False,
) -> Response:
    """A document at its highlighted span; as a piece for the panel beside the answer, or alone."""
    spans = read_spans(span or ())
    found = await in_turn(request, lambda _: state.service.document(caller, index, doc_id))
    if start is None:
        first = min((low for low, _ in spans), default=0)
        start = max(0, first - BEFORE_CHARS) if len(found.text) > WINDOW_CHARS else 0
    end = min(start + WINDOW_CHARS, len(found.text))
    values: dict[str, Any] = {
        "document": found,
        "index": index,
        "parts": parted(found.text, spans, start=start, end=end),
        "spans": span or [],
        "start": start,
        "end": end,
        "window": WINDOW_CHARS,
    }
    if fragment:
        content = html("document.html.jinja", **values)
        return Response(content, media_type="text/html; charset=utf-8")
    return page(request, "document_page.html.jinja", **values)


@router.post("/upload")
async def upload_page(
    request: Request,
    state: State,
    caller: Asking,
    file: Annotated[UploadFile, File()],
) -> Response:
    """Index the file and come back with it chosen."""
    name = file.filename or ""
    if not name:
        raise ProblemError("invalid_request", "choose a file first")
    made = await in_turn(
        request,
        lambda on_stage: state.uploads.add(caller.name, name, file.file, None, on_stage=on_stage),
        workers=state.upload_workers,
    )
    return Response(status_code=303, headers={"Location": f"/?index={made.index}"})


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """The page's own script, style and icon."""
    content, media_type = asset(name)
    return Response(content, media_type=media_type, headers={"Cache-Control": FOR_EVER})


async def _form(
    request: Request,
    state: ServerState,
    caller: Caller,
    *,
    index: str = "",
    title: str = "",
    question: AskedQuestion | None = None,
    scope: str = "all",
) -> JSON:
    """Return what the form shows."""

    def work(_: object) -> tuple[list[ReadableIndex], JSON | None]:
        listed = state.service.indexes(caller)
        if not title or not index:
            return listed, None
        found = state.service.documents(caller, index, text=title, size=FOUND)
        return listed, {"found": found, "title": title}

    listed, found = await in_turn(request, work)
    return {
        "indexes": listed,
        "uploads": state.uploads.of(caller.name),
        "upload_prefix": UPLOAD_PREFIX,
        "can_upload": state.settings.uploads > 0,
        "chosen": question.index if question else index,
        "text": question.text if question else "",
        "scope": "some" if found else scope,
        "doc_ids": "\n".join((question.doc_ids or ()) if question else ()),
        "pipeline": (question.pipeline if question else None) or state.registry.default,
        "pipelines": [(name, s.summary) for name, s in state.registry.pipelines.items()],
        "found": found,
    }
