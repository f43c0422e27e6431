"""Which queries are answered by the replies that came, and which requests wait for one."""

from dataclasses import dataclass

from ccrag.answering.generate import Generation
from ccrag.batch.answers import PendingRequest, answer
from ccrag.batch.folder import Work, by_custom_id
from ccrag.batch.parts import request_line
from ccrag.runs.files import replacing
from ccrag.types import Query, QueryId


@dataclass(frozen=True, slots=True)
class WaitingQuery:
    """A query that waits for a reply to one request."""

    query_id: QueryId
    custom_id: str
    again: bool
    """Its first reply came and could not be used as it was."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """Queries of a batch that have an answer, and those that wait for one."""

    answered: tuple[Query, ...]
    waiting: tuple[WaitingQuery, ...]
    to_submit: int
    """Requests that are neither answered nor under way; equal ones count once."""


def write_requests(work: Work, generation: Generation) -> BatchProgress:
    """Write the requests that are to be submitted, each once, and return how far everything is."""
    answered: list[Query] = []
    waiting: list[WaitingQuery] = []
    sent = by_custom_id(work.parts("sent"))
    written: set[str] = set()
    with replacing(work.requests_path) as file:
        for query_id, prepared in work.queries():
            outcome = answer(prepared, generation, work.reply)
            if not isinstance(outcome, PendingRequest):
                answered.append(outcome.query)
                continue
            request = request_line(outcome.request)
            if outcome.unusable:
                work.drop_reply(request.custom_id, outcome.unusable)
            waiting.append(WaitingQuery(query_id, request.custom_id, outcome.again))
            if request.custom_id not in written and request.custom_id not in sent:
                written.add(request.custom_id)
                file.write(request.line + b"\n")
    return BatchProgress(tuple(answered), tuple(waiting), len(written))
