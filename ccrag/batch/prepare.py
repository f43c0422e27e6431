"""The first step of a batch: evidence for every query, and the requests that ask about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ccrag.answering.generate import Generation
from ccrag.batch.answers import first_request
from ccrag.batch.folder import (
    PARTS,
    PREPARED,
    REPLIES,
    REQUESTS,
    locked,
    opened,
    prepared_entry,
)
from ccrag.batch.manifest import (
    FILE_NAME,
    Prepared,
    manifest_of,
    read_manifest,
    write_manifest,
)
from ccrag.batch.pending import write_requests
from ccrag.config import Settings
from ccrag.errors import ConfigError, InputError
from ccrag.pipeline.answering import generation_of
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure
from ccrag.runs.identity import run_identity
from ccrag.runs.journal import Journal, JournalEntry
from ccrag.runs.run import answer_into, check_ids
from ccrag.types import Query, Result


@dataclass(frozen=True, slots=True)
class PrepareReport:
    """Counts of what was prepared."""

    queries: int
    prepared: int
    resumed: int
    """Of these, by an earlier command."""
    requests: int
    """That wait to be submitted; equal ones count once."""
    failures: tuple[Failure, ...]


def prepare(
    pipeline: Pipeline,
    queries: Sequence[Query],
    folder: Path,
    settings: Settings,
    *,
    overwrite: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> PrepareReport:
    """
    Retrieve and choose evidence for `queries`, and write requests and manifest into `folder`.

    After a kill the same call goes on where it was. A query that fails is reported, and tried again
    by the same call.

    Args:
        pipeline: with a writer that leaves answers unwritten (`EvidenceOnly`).
        overwrite: begin anew where another batch lies, unless some of it is under way.

    Raises:
        InputError: another batch lies there, or an id cannot stand in a TREC run.
        ConfigError: the pipeline's answers are not a language model's.
        EngineError: the engine failed; what was prepared is kept.
    """
    if settings.answer.generator != "llm":
        raise ConfigError("a batch asks a language model: pass --set answer.generator=llm")
    check_ids(queries)
    generation = generation_of(settings)
    info = pipeline.index.info
    identity = run_identity(settings, info, queries)
    run = identity.digest
    with locked(folder):
        _make_room(folder, run, overwrite=overwrite)
        with Journal(folder / PREPARED, run_digest=run) as journal:
            resumed = len(journal)
            failures = answer_into(
                journal,
                pipeline,
                queries,
                lambda result: _entry(result, generation),
                on_progress=on_progress,
            )
        manifest = manifest_of(
            settings,
            generation.prompt,
            info,
            identity=identity,
            queries=tuple(query.query_id for query in queries),
            failures=tuple((failure.query_id, str(failure.error)) for failure in failures),
        )
        write_manifest(manifest, folder)
        with opened(folder, manifest) as prepared:
            progress = write_requests(prepared, generation)
    return PrepareReport(
        queries=len(queries),
        prepared=len(queries) - len(failures),
        resumed=resumed,
        requests=progress.to_submit,
        failures=tuple(failures),
    )


def _make_room(folder: Path, run: str, *, overwrite: bool) -> None:
    """Nothing to do for the same batch; another one is refused, or taken away."""
    if not (folder / FILE_NAME).exists():
        if overwrite:
            (folder / PREPARED).unlink(missing_ok=True)
        return
    manifest = read_manifest(folder)
    if manifest.run == run:
        return
    if not overwrite:
        raise InputError(
            "a batch with other settings, queries, prompt or index; use another --out, or "
            "--overwrite to begin anew",
            path=folder,
        )
    with opened(folder, manifest) as other:
        sent = other.parts("sent")
    if sent:
        raise InputError(
            f"{sent[0].batch_id} is under way and would be lost; collect it first, or use another "
            "--out",
            path=folder,
        )
    for name in (FILE_NAME, PREPARED, PARTS, REPLIES, REQUESTS):
        (folder / name).unlink(missing_ok=True)


def _entry(result: Result, generation: Generation) -> JournalEntry:
    """Return what the journal keeps of a query, and by which request its reply will be known."""
    request = first_request(result, generation)
    prepared = Prepared(result, request.digest if request else None)
    return prepared_entry(result.query.query_id, prepared)
