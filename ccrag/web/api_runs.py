"""Runs and experiments over HTTP; for callers who may read everything, for runs hold texts."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from ccrag.formats.provenance import QueryRecord
from ccrag.types import JSON
from ccrag.web import schemas
from ccrag.web.access import Caller
from ccrag.web.answers import json_response
from ccrag.web.api import problems
from ccrag.web.ask_events import in_turn
from ccrag.web.comparison import QueryDifference, RunComparison, RunOutcome, compare
from ccrag.web.problems import ProblemError
from ccrag.web.state import Asking, ServerState, State

router = APIRouter(prefix="/api", tags=["runs"])
RunName = Annotated[str, Query(min_length=1, max_length=1_000, examples=["caes"])]


def check_runs(caller: Caller) -> None:
    """
    Let only callers go on who may read everything.

    Raises:
        ProblemError: this one may not; it looks like a run that is not there.
    """
    if not caller.unrestricted:
        raise ProblemError("unknown_run", "no such run or experiment is available")


@router.get("/runs", responses={200: {"model": schemas.RunList}, **problems()})
async def runs(request: Request, state: State, caller: Asking) -> Response:
    """The runs and experiments the server shows."""
    if not caller.unrestricted:
        return json_response({"runs": [], "experiments": []})
    found, experiments = await in_turn(request, lambda _: state.records.listed())
    return json_response(
        {
            "runs": [
                {"name": run.name, "queries": run.queries, "experiment": run.experiment}
                for run in found
            ],
            "experiments": [
                {"name": e.name, "runs": e.runs, "has_report": e.has_report} for e in experiments
            ],
        }
    )


@router.get("/run", responses={200: {"model": schemas.RunDetails}, **problems(404)})
async def run(request: Request, state: State, caller: Asking, name: RunName) -> Response:
    """A run's queries, each with what it cited."""
    check_runs(caller)
    record = await in_turn(request, lambda _: state.records.run(name))
    queries = [
        {
            "query_id": query_id,
            "query": told["query"],
            "abstained": told["abstained"],
            "references": told["references"],
        }
        for query_id, told in record.queries.items()
    ]
    return json_response(
        {
            "name": record.name,
            "pipeline": record.pipeline,
            "index": record.index,
            "queries": queries,
            "failures": [{"query_id": q, "error": error} for q, error in record.failures],
        }
    )


@router.get("/run/query", responses={200: {"model": QueryRecord}, **problems(404)})
async def run_query(
    request: Request,
    state: State,
    caller: Asking,
    name: RunName,
    query_id: Annotated[str, Query(min_length=1)],
) -> Response:
    """One query of a run: answer, evidence and the whole way, as provenance.json has it."""
    check_runs(caller)
    told = await in_turn(request, lambda _: recorded_query(state, name, query_id))
    return json_response(told)


def recorded_query(state: ServerState, name: str, query_id: str) -> QueryRecord:
    """
    Return the provenance record of a query.

    Raises:
        ProblemError: the run does not hold it.
    """
    queries = state.records.run(name).queries
    if query_id not in queries:
        raise ProblemError("unknown_run", "the run has no such query")
    return queries[query_id]


@router.get("/compare", responses={200: {"model": schemas.ComparedRuns}, **problems(404)})
async def compare_runs(
    request: Request,
    state: State,
    caller: Asking,
    left: RunName,
    right: RunName,
    measure: Annotated[str | None, Query(description="Of the experiment that holds both.")] = None,
) -> Response:
    """Two runs query by query, those first that differ most."""
    check_runs(caller)
    compared = await in_turn(request, lambda _: compared_runs(state, left, right, measure))
    return json_response(
        {
            "left": compared.left,
            "right": compared.right,
            "measure": compared.measure,
            "measures": compared.measures,
            "same_answers": compared.same,
            "queries": [_compared_json(query) for query in compared.queries],
        }
    )


def compared_runs(state: ServerState, left: str, right: str, measure: str | None) -> RunComparison:
    """
    Two runs side by side, by what the experiment that holds both has measured.

    Raises:
        ProblemError: one of them is not there.
    """
    records = state.records
    return compare(
        records.run(left),
        records.run(right),
        figures=(records.figures(left), records.figures(right)),
        measure=measure,
    )


def _compared_json(query: QueryDifference) -> JSON:
    return {
        "query_id": query.query_id,
        "query": query.query,
        "same_answer": query.same_answer,
        "references_shared": query.references_shared,
        "read_shared": query.read_shared,
        "difference": query.difference,
        "left": _side_json(query.left),
        "right": _side_json(query.right),
    }


def _side_json(side: RunOutcome) -> JSON:
    return {
        "answered": side.answered,
        "abstained": side.abstained,
        "answer": side.words,
        "references": side.references,
        "figure": side.figure,
    }
