"""The HTTP API: indexes, documents, search, ask."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from ccrag.types import JSON
from ccrag.web import schemas
from ccrag.web.answers import json_response
from ccrag.web.ask_events import answered, ask_json, in_turn, search_json, searched, streamed
from ccrag.web.cursors import read_document_cursor, write_cursor
from ccrag.web.problems import MEDIA_TYPE
from ccrag.web.service import AskedQuestion, check_support
from ccrag.web.spans import parted, read_spans
from ccrag.web.state import Asking, State

MAX_CHARS = 1_000_000
StatusCode = int | str


def problems(*statuses: int) -> dict[StatusCode, dict[str, Any]]:
    """OpenAPI's word on the errors of an address, besides those any may have."""
    every = {401, 403, 408, 422, 429, 503, 504, *statuses}
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {
        status: {"description": _DESCRIPTIONS[status], "content": content}
        for status in sorted(every)
    }


_DESCRIPTIONS = {
    401: "A bearer token is needed.",
    403: "Another site's page sent this.",
    404: "Not there, or not for this caller: no telling which.",
    408: "The body did not come in time.",
    409: "The index was not built for this pipeline.",
    413: "Too large.",
    422: "Something in the request cannot be used.",
    429: "The server is busy; see Retry-After.",
    503: "The engine or a model is out of reach; see Retry-After.",
    504: "It took longer than the server allows.",
}

EVENT: JSON = {
    "type": "object",
    "description": "A server-sent event; `data` is JSON.",
    "properties": {
        "event": {"enum": ["stage", "answer", "problem"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
router = APIRouter(prefix="/api", tags=["api"])
Name = Annotated[str, Query(min_length=1, max_length=80, examples=["demo"])]


@router.get("/indexes", responses={200: {"model": schemas.IndexList}, **problems()})
async def indexes(request: Request, state: State, caller: Asking) -> Response:
    """The indexes the caller may ask, and the pipelines each was built for."""
    found = await in_turn(request, lambda _: state.service.indexes(caller))
    told = [
        {"name": c.name, "documents": c.documents, "pipelines": list(c.pipelines)} for c in found
    ]
    return json_response({"indexes": told})


@router.get("/pipelines", responses={200: {"model": schemas.PipelineList}, **problems()})
async def pipelines(state: State, caller: Asking) -> Response:
    """The named pipelines a request may choose."""
    told = [
        {"name": name, "summary": settings.summary, "default": name == state.registry.default}
        for name, settings in state.registry.pipelines.items()
    ]
    return json_response({"pipelines": told})


@router.get("/documents", responses={200: {"model": schemas.DocumentList}, **problems(404, 409)})
async def documents(
    request: Request,
    state: State,
    caller: Asking,
    index: Name,
    title: Annotated[
        str, Query(max_length=1_000, description="Words of the title, the last may be a beginning.")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before.")] = None,
) -> Response:
    """The documents of an index that the caller may read, by title or by id."""
    cursor = read_document_cursor(after, title)
    page = await in_turn(
        request,
        lambda _: state.service.documents(caller, index, text=title, size=limit, after=cursor),
    )
    listed = [{"doc_id": d.doc_id, "title": d.title, "date": d.date} for d in page.documents]
    return json_response({"documents": listed, "next": write_cursor(page.after)})


@router.get(
    "/document", responses={200: {"model": schemas.DocumentView}, **problems(404, 409, 413)}
)
async def document(
    request: Request,
    state: State,
    caller: Asking,
    index: Name,
    doc_id: Annotated[str, Query(min_length=1, max_length=480, examples=["assert"])],
    span: Annotated[
        list[str] | None,
        Query(
            description="START-END in code points, repeatable: highlighted.", examples=[["0-40"]]
        ),
    ] = None,
    start: Annotated[int, Query(ge=0, le=10**9, description="Where to begin.")] = 0,
    chars: Annotated[int, Query(ge=1, le=MAX_CHARS, description="How much to show.")] = 100_000,
) -> Response:
    """A document's text, exactly as it was indexed, with spans of it highlighted."""
    spans = read_spans(span or ())
    found = await in_turn(request, lambda _: state.service.document(caller, index, doc_id))
    end = min(len(found.text), start + chars)
    parts = parted(found.text, spans, start=start, end=end)
    told = {
        "doc_id": found.doc_id,
        "title": found.title,
        "date": found.date,
        "links": found.links,
        "length": len(found.text),
        "start": min(start, end),
        "end": end,
        "parts": [
            {"start": p.start, "end": p.end, "text": p.text, "highlighted": p.highlighted}
            for p in parts
        ],
    }
    return json_response(told)


@router.post(
    "/search", responses={200: {"model": schemas.SearchResponse}, **problems(404, 409, 413)}
)
async def search(
    request: Request, state: State, caller: Asking, body: schemas.SearchRequest
) -> Response:
    """Rank the passages of the candidate documents."""
    question = question_of(body)
    result, best = await searched(request, state, caller, question, top_n=body.top)
    name = question.pipeline or state.registry.default
    return json_response(search_json(result, best, question, name, explain=body.explain))


@router.post("/ask", responses={200: {"model": schemas.AskResponse}, **problems(404, 409, 413)})
async def ask(request: Request, state: State, caller: Asking, body: schemas.AskRequest) -> Response:
    """Answer a question from the candidate documents, or abstain."""
    question = question_of(body)
    result = await answered(request, state, caller, question)
    name = question.pipeline or state.registry.default
    return json_response(ask_json(result, question, name, explain=body.explain))


@router.post(
    "/ask/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": EVENT}},
            "description": "Events `stage` (one after each stage, with what it found), then "
            "`answer` (as /api/ask answers) or `problem`.",
        },
        **problems(404, 409, 413),
    },
)
async def ask_stream(
    request: Request, state: State, caller: Asking, body: schemas.AskRequest
) -> Response:
    """Answer a question and tell of each stage as it ends, as server-sent events."""
    question = question_of(body)
    name = question.pipeline or state.registry.default

    def show(result: Any) -> JSON:
        return ask_json(result, question, name, explain=body.explain)

    return await streamed(request, state, caller, question, show)


@router.post("/support", responses={200: {"model": schemas.SupportResponse}, **problems(413)})
async def support(request: Request, _caller: Asking, body: schemas.SupportRequest) -> Response:
    """Judge a claim by the words of its evidence texts, of whatever origin; no index is asked."""
    found = await in_turn(request, lambda _: check_support(body))
    return json_response(found.model_dump())


def question_of(body: schemas.AskRequest | schemas.SearchRequest) -> AskedQuestion:
    """Return the question of a request."""
    named = body.candidates
    doc_ids = tuple(named) if isinstance(named, list) else None
    collection = named.collection if isinstance(named, schemas.CollectionCandidates) else None
    return AskedQuestion(body.index, body.text, doc_ids, body.pipeline, collection)
