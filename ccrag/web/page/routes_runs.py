"""The pages of runs and experiments."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from ccrag.formats.provenance import QueryRecord
from ccrag.web.api_runs import check_runs, compared_runs, recorded_query
from ccrag.web.ask_events import in_turn
from ccrag.web.page.render import page
from ccrag.web.page.views import answer_view
from ccrag.web.state import Asking, State

PAGE = 50
"""Queries on a page."""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'; "
    "base-uri 'none'"
)
"""A report has its style inside and no script; it is shown as what it is, a file of somebody's."""

router = APIRouter(include_in_schema=False)
At = Annotated[int, Query(ge=0, le=10**7, alias="from")]


@router.get("/runs")
async def runs_page(request: Request, state: State, caller: Asking) -> Response:
    """Show the runs."""
    runs, experiments = await in_turn(
        request, lambda _: state.records.listed() if caller.unrestricted else ([], [])
    )
    return page(
        request,
        "runs.html.jinja",
        runs=runs,
        experiments=experiments,
        has_folder=state.settings.runs is not None,
    )


@router.get("/run")
async def run_page(
    request: Request, state: State, caller: Asking, name: str, at: At = 0
) -> Response:
    """A run's queries."""
    check_runs(caller)
    record = await in_turn(request, lambda _: state.records.run(name))
    queries = list(record.queries.values())
    return page(
        request,
        "run.html.jinja",
        run=record,
        queries=queries[at : at + PAGE],
        at=at,
        size=PAGE,
        count=len(queries),
        abstained=sum(record["abstained"] for record in queries),
    )


@router.get("/run/query")
async def run_query_page(
    request: Request, state: State, caller: Asking, name: str, query_id: str
) -> Response:
    """Show one query of a run with its trace."""
    check_runs(caller)

    def work(_: object) -> tuple[QueryRecord, str]:
        return recorded_query(state, name, query_id), state.records.run(name).index

    record, index = await in_turn(request, work)
    view = answer_view(record, index)
    return page(request, "run_query.html.jinja", name=name, query_id=query_id, answer=view)


@router.get("/compare")
async def compare_page(
    request: Request,
    state: State,
    caller: Asking,
    left: str,
    right: str,
    measure: str | None = None,
    at: At = 0,
) -> Response:
    """Two runs query by query."""
    check_runs(caller)
    compared = await in_turn(request, lambda _: compared_runs(state, left, right, measure))
    return page(request, "compare.html.jinja", compared=compared, at=at, size=PAGE)


@router.get("/compare/query")
async def compare_query_page(
    request: Request, state: State, caller: Asking, left: str, right: str, query_id: str
) -> Response:
    """One query in two runs, answers and traces side by side."""
    check_runs(caller)

    def work(_: object) -> list[tuple[str, QueryRecord | None, str]]:
        sides = []
        for name in (left, right):
            record = state.records.run(name)
            sides.append((name, record.queries.get(query_id), record.index))
        return sides

    sides = await in_turn(request, work)
    views = [
        (name, None if record is None else answer_view(record, index))
        for name, record, index in sides
    ]
    return page(
        request, "compare_query.html.jinja", left=left, right=right, query_id=query_id, sides=views
    )


@router.get("/report")
async def report(request: Request, state: State, caller: Asking, name: str) -> Response:
    """An experiment's own report."""
    check_runs(caller)
    content = await in_turn(request, lambda _: state.records.report(name))
    return Response(
        content,
        media_type="text/html; charset=utf-8",
        headers={"Content-Security-Policy": REPORT_POLICY},
    )
