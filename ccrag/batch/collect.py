"""
The last step of a batch: replies fetched, joined by custom id, and written as a run.

What succeeded is kept however its batch ended. What did not is named with the reason, and waits in
the requests file for the next `submit`; so do the second requests of queries whose reply could not
be used as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ccrag.answering.generate import Generation
from ccrag.answering.support import Support
from ccrag.batch.answers import PendingRequest, answer
from ccrag.batch.folder import PartRecord, Work, by_custom_id
from ccrag.batch.pending import BatchProgress, write_requests
from ccrag.batch.replies import ReadLines, read_lines
from ccrag.batch.submit import check_server
from ccrag.config import Settings
from ccrag.errors import InputError, ModelError
from ccrag.llm.batch_client import BatchProvider, ProviderBatch
from ccrag.pipeline.answering import generation_of
from ccrag.pipeline.state import Failure
from ccrag.runs.files import Written, entry_of, write_files
from ccrag.runs.journal import JournalEntry
from ccrag.runs.status import RunState, other_run, run_status
from ccrag.types import Query

DOWNLOAD = "download.jsonl"
FORGOTTEN = "forgotten"
"""Status of a part that the user gave up."""


@dataclass(frozen=True, slots=True)
class CollectReport:
    """Counts of the replies that came and of those that are missing."""

    written: Written
    queries: int
    answered: tuple[Query, ...]
    missing: tuple[Failure, ...]
    """Queries without an answer yet, and why; those that could not be prepared as well."""
    ended: tuple[PartRecord, ...]
    """Parts that this command found ended."""
    under_way: tuple[ProviderBatch, ...]
    to_submit: int
    """Requests that the next `submit` will send."""


def collect(
    work: Work,
    provider: BatchProvider,
    out: Path,
    settings: Settings,
    *,
    support: Support | None = None,
    forget: tuple[str, ...] = (),
    overwrite: bool = False,
) -> CollectReport:
    """
    Fetch what has ended, and write what is answered into `out` as `ccrag run` would.

    Args:
        settings: as they were when the batch was prepared.
        support: holds sentences against their evidence; None: by words.
        forget: ids of batches to wait for no longer; their requests are asked again.
        overwrite: replace another run that lies in `out`.

    Raises:
        ModelError: the provider cannot be reached; what came is kept, and the same call goes on.
        ConfigError: batches are under way at another provider.
        InputError: `forget` names no batch that is under way, or another run lies in `out`.
    """
    if not overwrite:
        _check_room(work, out)
    sent = _forget(work, forget)
    check_server(sent, provider)
    ended: list[PartRecord] = []
    under_way: list[ProviderBatch] = []
    for part in sent:
        with _or_forget(part):
            batch = provider.look(part.batch_id)
            if batch.has_ended:
                ended.append(_take(work, provider, part, batch))
            else:
                under_way.append(batch)
    generation = generation_of(settings, support=support, prompt=work.manifest.prompt)
    # What waits does not depend on the support of what came: no model has to look twice.
    progress = write_requests(work, generation_of(settings, prompt=work.manifest.prompt))
    missing = _missing(work, progress)
    written = Written()
    if progress.answered:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = write_files(
            out,
            _entries(work, generation, settings),
            settings,
            identity=work.manifest.head,
            info=work.manifest.index,
            prompt=work.manifest.prompt,
            failures=missing,
        )
    return CollectReport(
        written=written,
        queries=len(work.manifest.queries),
        answered=progress.answered,
        missing=missing,
        ended=tuple(ended),
        under_way=tuple(under_way),
        to_submit=progress.to_submit,
    )


def _check_room(work: Work, out: Path) -> None:
    """Before anything is fetched: `out` must not hold another run."""
    status = run_status(out, work.manifest.run, parts=work.manifest.identity)
    if status.state is RunState.OTHER:
        raise other_run(out, status)


def _forget(work: Work, batch_ids: tuple[str, ...]) -> tuple[PartRecord, ...]:
    """End the parts that are given up; returns those still under way."""
    sent = work.parts("sent")
    known = {part.batch_id: part for part in sent}
    for batch_id in batch_ids:
        if batch_id not in known:
            there_are = ", ".join(known) or "none"
            raise InputError(f"{batch_id} is not under way; of this folder, {there_are} are")
        work.put_part(replace(known[batch_id], state="ended", status=FORGOTTEN))
    return tuple(part for part in sent if part.batch_id not in batch_ids)


@contextmanager
def _or_forget(part: PartRecord) -> Iterator[None]:
    """Say the way out, should the provider not have a batch any more."""
    try:
        yield
    except ModelError as error:
        raise ModelError(
            f"{error} (should {part.batch_id} be gone for good, --forget {part.batch_id} lets its "
            "requests be asked again)"
        ) from error


def _take(
    work: Work, provider: BatchProvider, part: PartRecord, batch: ProviderBatch
) -> PartRecord:
    """Keep the replies of a batch that has ended, and then that it has."""
    found = ReadLines()
    for file_id in filter(None, (batch.output_file, batch.error_file)):
        path = work.folder / DOWNLOAD
        provider.download(file_id, path)
        with path.open("rb") as lines:
            read_lines(found, lines, asked=frozenset(part.custom_ids))
        path.unlink()
    for custom_id, body in found.bodies.items():
        if not work.has_reply(custom_id):
            work.put_reply(custom_id, body, batch_id=batch.batch_id)
    untold = batch.problems[0] if batch.problems else "no line for it"
    record = replace(
        part,
        state="ended",
        status=batch.status,
        kept=len(found.bodies),
        reasons={
            custom_id: found.reasons.get(custom_id, untold)
            for custom_id in part.custom_ids
            if custom_id not in found.bodies
        },
        problems=(*batch.problems, *found.problems),
    )
    work.put_part(record)
    return record


def _missing(work: Work, progress: BatchProgress) -> tuple[Failure, ...]:
    """Return queries without an answer, with the reason, in the order they were asked."""
    why = dict(work.manifest.failures)
    sent = by_custom_id(work.parts("sent"))
    ended = by_custom_id(work.parts("ended"))
    for query in progress.waiting:
        if query.custom_id in sent:
            why[query.query_id] = f"{sent[query.custom_id].batch_id} is under way"
        elif (unusable := work.unusable(query.custom_id)) is not None:
            why[query.query_id] = f"the model's reply cannot be used: {unusable}"
        elif query.custom_id in ended:
            part = ended[query.custom_id]
            reason = part.reasons.get(query.custom_id, "given up")
            why[query.query_id] = f"no reply from {part.batch_id} ({part.status}): {reason}"
        elif query.again:
            why[query.query_id] = "its reply cannot be used as it is; a second request waits"
        else:
            why[query.query_id] = "not submitted yet"
    in_order = (query_id for query_id in work.manifest.queries if query_id in why)
    return tuple(Failure(query_id, ModelError(why[query_id])) for query_id in in_order)


def _entries(work: Work, generation: Generation, settings: Settings) -> Iterator[JournalEntry]:
    """Yield what the files hold about each answered query, in the order asked."""
    for _, prepared in work.queries():
        outcome = answer(prepared, generation, work.reply)
        if not isinstance(outcome, PendingRequest):
            yield entry_of(outcome, settings)
