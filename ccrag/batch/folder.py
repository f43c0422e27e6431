"""
A batch's folder: what was prepared, what was sent, which replies came. Safe against kills.

Everything is kept in journals, each entry whole or not there, so that any command can be killed and
given again. One command works in a folder at a time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from ccrag.batch.manifest import Manifest, Prepared, prepared_json, prepared_of, read_manifest
from ccrag.errors import InputError
from ccrag.runs.journal import Journal
from ccrag.types import JSON, QueryId

REQUESTS = "requests.jsonl"
PREPARED = "prepared.journal"
PARTS = "parts.journal"
REPLIES = "replies.journal"
PART_FOLDER = "parts"
LOCK = "lock"


@dataclass(frozen=True, slots=True)
class PartRecord:
    """The requests of one batch, and what became of them."""

    part_id: str
    custom_ids: tuple[str, ...]
    state: Literal["planned", "sent", "ended"] = "planned"
    server: str = ""
    """Where it was sent."""
    batch_id: str = ""
    """As the provider names it."""
    status: str = ""
    """The state in which it ended, as the provider names it."""
    kept: int = 0
    """Replies that came of it."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """By custom id, why there is no reply."""
    problems: tuple[str, ...] = ()
    """Problems with its files."""


class Work:
    """An open batch folder. Get one from `open_work`."""

    def __init__(
        self, folder: Path, manifest: Manifest, prepared: Journal, parts: Journal, replies: Journal
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._prepared = prepared
        self._parts = parts
        self._replies = replies

    @property
    def requests_path(self) -> Path:
        """Return the requests that wait to be submitted."""
        return self.folder / REQUESTS

    def part_path(self, part_id: str) -> Path:
        """Return the requests of a part that is not sent yet."""
        return self.folder / PART_FOLDER / f"ccrag-{part_id}.jsonl"

    def queries(self) -> Iterator[tuple[QueryId, Prepared]]:
        """Yield those that were prepared, in the order they were asked."""
        for entry in self._prepared.entries(self.manifest.queries):
            yield entry["query_id"], prepared_of(entry["prepared"])

    def parts(self, *states: str) -> list[PartRecord]:
        """Return parts in one of `states`, in the order they were planned."""
        records = map(_record, self._parts.entries(list(self._parts.keys())))
        return [record for record in records if record.state in states]

    def put_part(self, record: PartRecord) -> None:
        """Keep what is known of a part now."""
        self._parts.append(asdict(record))

    def tries(self) -> Counter[str]:
        """Of each custom id, how many ended parts it was in."""
        return Counter(custom_id for part in self.parts("ended") for custom_id in part.custom_ids)

    def reply(self, custom_id: str) -> JSON | None:
        """Return the body of the reply to a request, if one has come that can be used."""
        body: JSON | None = self._kept(custom_id).get("body")
        return body

    def has_reply(self, custom_id: str) -> bool:
        """Return whether a reply has come that can be used."""
        return self.reply(custom_id) is not None

    def put_reply(self, custom_id: str, body: JSON, *, batch_id: str) -> None:
        """Keep the body of a reply."""
        self._replies.append({"custom_id": custom_id, "batch_id": batch_id, "body": body})

    def drop_reply(self, custom_id: str, reason: str) -> None:
        """Let a request whose reply cannot be used be asked again, and keep the reason."""
        self._replies.append({"custom_id": custom_id, "body": None, "reason": reason})

    def unusable(self, custom_id: str) -> str | None:
        """Return why the reply that came to a request was dropped, if it was."""
        reason: str | None = self._kept(custom_id).get("reason")
        return reason

    def _kept(self, custom_id: str) -> JSON:
        return next(self._replies.entries([custom_id]), {})


def _record(entry: JSON) -> PartRecord:
    tuples = {name: tuple(entry[name]) for name in ("custom_ids", "problems")}
    return PartRecord(**{**entry, **tuples})


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """
    Let one command at a time work in `folder`, which is made if it is not there.

    Raises:
        InputError: another one does.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise InputError("another command works here; wait for it", path=folder) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def open_work(folder: Path) -> Iterator[Work]:
    """
    Open what was prepared in `folder`, and lock it while it is used.

    Raises:
        InputError: nothing was, or another command works there.
    """
    manifest = read_manifest(folder)
    with locked(folder), opened(folder, manifest) as work:
        yield work


@contextmanager
def opened(folder: Path, manifest: Manifest) -> Iterator[Work]:
    """The same for who holds the lock and knows the manifest."""
    with ExitStack() as stack:
        prepared, parts, replies = (
            stack.enter_context(Journal(folder / name, run_digest=manifest.run, key=key))
            for name, key in ((PREPARED, "query_id"), (PARTS, "part_id"), (REPLIES, "custom_id"))
        )
        yield Work(folder, manifest, prepared, parts, replies)


def prepared_entry(query_id: QueryId, prepared: Prepared) -> JSON:
    """Return a line of the journal of prepared queries."""
    return {"query_id": query_id, "prepared": prepared_json(prepared)}


def by_custom_id(parts: Iterable[PartRecord]) -> dict[str, PartRecord]:
    """By custom id, the part it was sent in that has not ended."""
    return {custom_id: part for part in parts for custom_id in part.custom_ids}
