"""A question on its way: in the gate, watched, answered whole or stage by stage."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from fastapi import Request
from fastapi.sse import format_sse_event
from starlette.responses import StreamingResponse

from ccrag.errors import CcragError
from ccrag.pipeline.stages import Stage, StageCallback
from ccrag.pipeline.state import QueryState
from ccrag.runs.provenance import answer_json, passage_json, trace_json
from ccrag.types import JSON, Passage, PassageId, Result
from ccrag.web.access import Caller
from ccrag.web.logs import request_id
from ccrag.web.problems import ProblemError, problem_of
from ccrag.web.service import AskedQuestion
from ccrag.web.state import ServerState, is_trusted, note, state_of
from ccrag.web.worker_pool import WorkerPool

T = TypeVar("T")
Event = tuple[str, JSON]
"""An event's name and what it tells."""
LAST = ("answer", "problem")
"""Events that end a stream."""


async def gone(request: Request) -> None:
    """Return when the caller is gone; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def in_turn(
    request: Request, work: Callable[[StageCallback], T], *, workers: WorkerPool | None = None
) -> T:
    """
    Return what `work` gives once it is the caller's turn; it ends when the caller goes away.

    Args:
        gate: the one for this kind of work; None: the one for questions.

    Raises:
        ProblemError: too many wait, it took too long, or the caller is gone.
    """
    chosen = workers or state_of(request).workers
    caller: Caller = request.state.caller
    return await chosen.run(work, owner=caller.name, gone=lambda: gone(request))


async def answered(
    request: Request, state: ServerState, caller: Caller, question: AskedQuestion
) -> Result:
    """
    Return the answer to a question; its work ends when the caller goes away.

    Raises:
        ProblemError: too busy, too slow, too large, or not for this caller.
        CcragError: the engine or a model failed.
    """
    note(request, index=question.index, pipeline=question.pipeline or "")

    def work(on_stage: StageCallback) -> Result:
        return state.service.answer(caller, question, on_stage)

    result = await in_turn(request, work)
    note(request, **_facts(result))
    return result


async def searched(
    request: Request, state: ServerState, caller: Caller, question: AskedQuestion, *, top_n: int
) -> tuple[Result, Mapping[PassageId, Passage]]:
    """
    Return the ranking for a question with its best passages.

    Raises:
        ProblemError, CcragError: as `answered`.
    """
    note(request, index=question.index, pipeline=question.pipeline or "")

    def work(on_stage: StageCallback) -> tuple[Result, Mapping[PassageId, Passage]]:
        return state.service.search(caller, question, top_n=top_n, on_stage=on_stage)

    result, best = await in_turn(request, work)
    note(request, **_facts(result))
    return result, best


async def streamed(
    request: Request,
    state: ServerState,
    caller: Caller,
    question: AskedQuestion,
    show: Callable[[Result], JSON],
) -> StreamingResponse:
    """
    Server-sent events: `stage` after each stage, then `answer` (as `show` makes it) or `problem`.

    Raises:
        ProblemError: what went wrong before the first stage ended.
    """
    note(request, index=question.index, pipeline=question.pipeline or "")
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event] = asyncio.Queue()

    def on_stage(stage: str, states: Sequence[QueryState]) -> None:
        if not states or any(state.error for state in states):
            return  # the problem follows
        event = ("stage", stage_json(stage, states))
        loop.call_soon_threadsafe(events.put_nowait, event)

    async def work() -> None:
        try:
            result = await state.workers.run(
                lambda look: state.service.answer(caller, question, look),
                owner=caller.name,
                on_stage=on_stage,
            )
        except (ProblemError, CcragError) as error:
            problem = problem_of(error, detailed=is_trusted(request))
            events.put_nowait(("problem", problem.body(request_id.get())))
            failed.append(problem)
        else:
            note(request, **_facts(result))
            events.put_nowait(("answer", show(result)))

    failed: list[ProblemError] = []
    task = asyncio.create_task(work())
    first = await _first(events, task)
    if failed and first[0] == "problem":
        raise failed[0]
    return StreamingResponse(_sent(first, events, task), media_type="text/event-stream")


async def _first(events: "asyncio.Queue[Event]", task: "asyncio.Task[None]") -> Event:
    """Return the first event; a bug in the work is raised here."""
    getting = asyncio.ensure_future(events.get())
    await asyncio.wait((getting, task), return_when=asyncio.FIRST_COMPLETED)
    if not getting.done() and task.done() and task.exception() is not None:
        getting.cancel()
        task.result()
    return await getting


async def _sent(
    first: Event, events: "asyncio.Queue[Event]", task: "asyncio.Task[None]"
) -> AsyncIterator[bytes]:
    event = first
    try:
        while True:
            name, told = event
            yield format_sse_event(data_str=orjson.dumps(told).decode(), event=name)
            if name in LAST:
                return
            event = await _first(events, task)
    finally:
        task.cancel()  # the caller may be gone before the answer is there


def stage_json(stage: str, states: Sequence[QueryState]) -> JSON:
    """Return what is known of a query after a stage."""
    [state] = states
    told: JSON = {"stage": stage, "seconds": round(state.seconds[stage], 6)}
    match stage:
        case Stage.VARIANTS:
            told["variants"] = [{"name": v.name, "text": v.text} for v in state.variants]
        case Stage.LISTS | Stage.FEEDBACK:
            told["lists"] = [{"stage": r.stage, "hits": len(r)} for r in state.lists]
        case Stage.FUSION | Stage.RERANK if state.ranking is not None:
            told["best"] = [hit.passage_id for hit in state.ranking.hits[:5]]
        case Stage.SELECT:
            told["selected"] = len(state.selected)
    return told


def ask_json(result: Result, question: AskedQuestion, pipeline: str, *, explain: bool) -> JSON:
    """Return the API's answer."""
    head = {"index": question.index, "pipeline": pipeline}
    return {**head, **answer_json(result), **(trace_json(result) if explain else {})}


def search_json(
    result: Result,
    best: Mapping[PassageId, Passage],
    question: AskedQuestion,
    pipeline: str,
    *,
    explain: bool,
) -> JSON:
    """Return the API's ranking: each passage with its rank, score, place and text."""
    hits = [
        {
            "rank": rank,
            "score": round(hit.score, 9),
            **passage_json(best[hit.passage_id]),
            "text": best[hit.passage_id].text,
        }
        for rank, hit in enumerate(result.ranking.hits[: len(best)], start=1)
    ]
    return {
        "index": question.index,
        "pipeline": pipeline,
        "query": result.query.text,
        "hits": hits,
        **(trace_json(result) if explain else {}),
    }


def _facts(result: Result) -> dict[str, Any]:
    """Return what the log says of a result: no text, no ids."""
    stages = {stage: round(seconds, 6) for stage, seconds in result.trace.seconds.items()}
    return {"abstained": result.answer.abstained, "stages": stages}
