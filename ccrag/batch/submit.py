"""
The second step of a batch: what waits is sent to the provider, each request once.

A part is planned on disk before anything is sent, and its batch carries the part's id, which is
made of its content. So a command that was killed anywhere finds its batches again, and makes none
twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import orjson

from ccrag.batch.folder import PartRecord, Work, by_custom_id
from ccrag.batch.parts import BatchPart, RequestLine, split
from ccrag.config import BatchSettings
from ccrag.errors import ConfigError, InputError
from ccrag.llm.batch_client import BatchProvider
from ccrag.llm.request import body_digest
from ccrag.runs.files import replacing


@dataclass(frozen=True, slots=True)
class SubmitReport:
    """Parts that were sent now, and parts that were sent before."""

    sent: tuple[PartRecord, ...]
    found: tuple[str, ...]
    """Of these, ids of batches that the provider had already."""
    before: tuple[PartRecord, ...]
    """Sent by earlier commands, not collected yet."""


def submit(work: Work, provider: BatchProvider, limits: BatchSettings) -> SubmitReport:
    """
    Send every request that has no reply and is not under way, in batches within `limits`.

    Raises:
        ModelError: the provider cannot be reached, or refuses; what was sent is known, and the same
            call goes on.
        ConfigError: batches of this folder are under way at another provider.
        InputError: the requests were changed, or one is larger than the limit.
    """
    before = tuple(work.parts("sent"))
    check_server(before, provider)
    _plan(work, limits)
    sent: list[PartRecord] = []
    found: list[str] = []
    for part in _planned(work):
        batch = provider.find(part.part_id)
        if batch is None:
            file_id = provider.upload(work.part_path(part.part_id))
            batch = provider.create(file_id, part.part_id)
        else:
            found.append(batch.batch_id)
        record = replace(part, state="sent", server=provider.server, batch_id=batch.batch_id)
        work.put_part(record)
        work.part_path(part.part_id).unlink()
        sent.append(record)
    return SubmitReport(tuple(sent), tuple(found), before)


def check_server(parts: tuple[PartRecord, ...], provider: BatchProvider) -> None:
    """
    Let batches be looked for only where they were sent.

    Raises:
        ConfigError: they were sent elsewhere.
    """
    for part in parts:
        if part.server != provider.server:
            raise ConfigError(
                f"{part.batch_id} was sent to {part.server}, not to {provider.server}; "
                "set provider.base_url to where it runs"
            )


def _planned(work: Work) -> list[PartRecord]:
    """Return parts to be sent. One whose file is gone counts as never planned."""
    return [part for part in work.parts("planned") if work.part_path(part.part_id).exists()]


def _plan(work: Work, limits: BatchSettings) -> None:
    """Write down which requests travel together, before any of them does."""
    taken = by_custom_id(_planned(work))
    parts = split(
        (request for request in requests_to_send(work) if request.custom_id not in taken),
        tries=work.tries(),
        max_requests=limits.max_requests,
        max_bytes=limits.max_bytes,
    )
    for part in parts:
        _write_part(work, part)
        work.put_part(PartRecord(part.part_id, part.custom_ids))


def _write_part(work: Work, part: BatchPart) -> None:
    path = work.part_path(part.part_id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with replacing(path) as file:
        file.writelines(line + b"\n" for line in part.lines)


def requests_to_send(work: Work) -> Iterator[RequestLine]:
    """Yield the requests that have no reply and are not under way, in the order of the queries."""
    sent = by_custom_id(work.parts("sent"))
    for request in _requests(work):
        if request.custom_id not in sent and not work.has_reply(request.custom_id):
            yield request


def _requests(work: Work) -> Iterator[RequestLine]:
    """Yield the lines of the requests file, each one as it was written."""
    path = work.requests_path
    if not path.exists():
        raise InputError("gone; the same `ccrag batch prepare` command writes it again", path=path)
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            custom_id = _custom_id(line)
            if custom_id is None:
                raise InputError(
                    "not as it was written: custom_id is the digest of the body; the same "
                    "`ccrag batch prepare` command writes it again",
                    path=path,
                    line=number,
                )
            yield RequestLine(custom_id, line.rstrip(b"\n"))


def _custom_id(line: bytes) -> str | None:
    """Return the custom id of a request, if it fits the body."""
    try:
        request = orjson.loads(line)
        custom_id: str = request["custom_id"]
        return custom_id if body_digest(request["body"]) == custom_id else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
