"""The provider's batches, and how each of them ends."""

import json
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests.provider.faults import JSON, Answer, error, ok
from tests.provider.files import Files

Lines = list[bytes]
ENDED = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a batch ends, and what its files hold."""

    status: Literal["completed", "failed", "expired", "cancelled"] = "completed"
    done: int | None = None
    """Only so many requests, the first ones, were carried out; None: all."""
    refuse: tuple[int, ...] = ()
    """Positions of requests that are answered with status 400, in the error file."""
    polls: int = 0
    """How often it is looked at before it has ended."""
    edit: Callable[[Lines], Lines] = lambda lines: lines
    """What becomes of the output lines: shuffled, doubled, cut, …"""
    told: bool = True
    """Whether requests not carried out stand in the error file."""


@dataclass(slots=True)
class Batches:
    """Batches run when somebody looks at them."""

    files: Files
    complete: Callable[[JSON], JSON]
    """Body of a chat request to the body of its answer."""
    objects: dict[str, JSON] = field(default_factory=dict)
    endings: deque[Ending] = field(default_factory=deque)
    """One a batch, in the order they are created; a batch without one completes."""
    _ending_of: dict[str, Ending] = field(default_factory=dict)
    _looks: Counter[str] = field(default_factory=Counter)

    def requests_of(self, batch_id: str) -> list[JSON]:
        """The requests a batch was made of."""
        content = self.files.contents[self.objects[batch_id]["input_file_id"]]
        return [json.loads(line) for line in content.splitlines()]

    def requested(self) -> list[str]:
        """`custom_id` of every request of every batch, repeated ones included."""
        return [
            request["custom_id"] for batch in self.objects for request in self.requests_of(batch)
        ]

    def create(self, asked: JSON) -> Answer:
        """Begin a batch."""
        if asked["input_file_id"] not in self.files.contents:
            return error(404, f"no {asked['input_file_id']}")
        batch_id = f"batch_{len(self.objects) + 1}"
        self.objects[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "status": "in_progress",
            "created_at": int(time.time()),
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            **asked,
        }
        total = len(self.requests_of(batch_id))
        self.objects[batch_id]["request_counts"] = {"total": total, "completed": 0, "failed": 0}
        self._ending_of[batch_id] = self.endings.popleft() if self.endings else Ending()
        return ok(self.objects[batch_id])

    def look(self, batch_id: str) -> JSON:
        """The batch, which ends when it has been looked at often enough."""
        batch, ending = self.objects[batch_id], self._ending_of[batch_id]
        if batch["status"] not in ENDED and self._looks[batch_id] >= ending.polls:
            self._end(batch, ending)
        self._looks[batch_id] += 1
        return batch

    def cancel(self, batch_id: str) -> JSON:
        """End the batch with nothing done."""
        self._end(self.objects[batch_id], Ending("cancelled", done=0))
        return self.objects[batch_id]

    def _end(self, batch: JSON, ending: Ending) -> None:
        requests = self.requests_of(batch["id"])
        done = len(requests) if ending.done is None else ending.done
        refused = [at for at in ending.refuse if at < done]
        output = [
            _line(request, {"status_code": 200, "body": self.complete(request["body"])}, None)
            for at, request in enumerate(requests[:done])
            if at not in refused
        ]
        refusal = {"status_code": 400, "body": {"error": {"message": "refused, as told"}}}
        errors = [_line(requests[at], refusal, None) for at in refused]
        if ending.told:
            left = {"code": f"batch_{ending.status}", "message": f"the batch {ending.status}"}
            errors += [_line(request, None, left) for request in requests[done:]]
        batch["status"] = ending.status
        batch["output_file_id"] = self._file_of(ending.edit(output), f"{batch['id']}_output")
        batch["error_file_id"] = self._file_of(errors, f"{batch['id']}_error")
        batch["request_counts"] |= {"completed": len(output), "failed": len(refused)}
        if ending.status == "failed":
            told = {"code": "token_limit_exceeded", "message": "too many tokens", "line": None}
            batch["errors"] = {"object": "list", "data": [told]}

    def _file_of(self, lines: Lines, name: str) -> str | None:
        if not lines:
            return None
        content = b"\n".join(lines) + b"\n"
        return str(self.files.keep(f"{name}.jsonl", content, purpose="batch_output")["id"])


def _line(request: JSON, response: JSON | None, told: JSON | None) -> bytes:
    custom_id = request["custom_id"]
    record = {"id": f"req_{custom_id}", "custom_id": custom_id, "response": response}
    return json.dumps({**record, "error": told}).encode()
