"""Papers that a caller uploads to ask about once: indexes of their own, which go away again."""

import logging
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import BinaryIO

from filelock import FileLock, Timeout

from ccrag.config import ServeSettings, Settings
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.corpus.readers.isolated import ReadLimits, read_isolated
from ccrag.engine.indexes import drop_index
from ccrag.errors import EngineError
from ccrag.indexing.build import index_corpus
from ccrag.pipeline.stages import StageCallback
from ccrag.web.connection import UPLOAD_PREFIX
from ccrag.web.problems import ProblemError
from ccrag.web.registry import IndexRegistry

log = logging.getLogger("ccrag.web")
_UPLOAD = re.compile(rf"{UPLOAD_PREFIX}([0-9a-f]{{8}})-[0-9a-f]{{24}}")
LEFTOVER_S = 24 * 3600.0
"""Uploads of this age are taken away at a start; another server's may be on the same engine."""
FOLDER_PREFIX = "ccrag-uploads-"
LOCK = ".lock"
"""Held as long as the server lives; a folder whose lock is free belongs to one that was killed."""
MAX_NAME_CHARS = 80


@dataclass(slots=True)
class _Kept:
    owner: str
    title: str
    pipeline: str
    used: float


@dataclass(frozen=True, slots=True)
class Upload:
    """A paper that can be asked now."""

    index: str
    documents: int
    passages: int
    notes: tuple[str, ...] = ()
    """Notes for a person on how the file was read."""


class Uploads:
    """The papers kept now; safe for threads."""

    def __init__(
        self,
        settings: ServeSettings,
        registry: IndexRegistry,
        *,
        per_caller: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Make the folder where uploaded files are read, and remove those of servers that were killed.

        Args:
            per_caller: uploads that one caller may keep; None: as many as there may be.
        """
        self._settings = settings
        self._registry = registry
        self._per_caller = settings.uploads if per_caller is None else per_caller
        self._clock = clock
        _remove_abandoned_folders(Path(tempfile.gettempdir()))
        self._folder, self._folder_lock = _locked_folder()
        self._kept: dict[str, _Kept] = {}
        self._doomed: set[str] = set()
        self._lock = Lock()

    def is_owner(self, caller: str, index: str) -> bool:
        """Tell whether an upload is this caller's; looking keeps it from going away."""
        kept = self._kept.get(index)
        if kept is None or kept.owner != caller:
            return False
        kept.used = self._clock()
        return True

    def of(self, caller: str) -> list[tuple[str, str, list[str]]]:
        """
        Return the caller's uploads as they came: index, the file's name, and pipelines it fits.
        """
        return [
            (name, kept.title, self._registry.alike(kept.pipeline))
            for name, kept in list(self._kept.items())
            if kept.owner == caller
        ]

    def add(
        self,
        caller: str,
        file_name: str,
        content: BinaryIO,
        pipeline: str | None,
        *,
        on_stage: StageCallback,
    ) -> Upload:
        """
        Make a file an index of the caller's own.

        Args:
            content: the file, from where it stands.
            watch: called often; raises when the request has ended, and nothing is left behind.

        Raises:
            ProblemError: too large, or too many are kept.
            InputError: the file holds no document, is of a kind that is not read, or takes more
                time or memory than an upload may.
        """
        self.drop_old()
        settings = self._registry.settings(pipeline)
        index = f"{UPLOAD_PREFIX}{int(time.time()):x}-{secrets.token_hex(12)}"
        with self._lock:
            self._check_room(caller)
            self._kept[index] = _Kept(caller, file_name, settings.name, self._clock())
        try:
            return self._index(index, _safe_name(file_name), content, settings, on_stage)
        except BaseException:
            self._drop(index)
            raise

    def drop(self, caller: str, index: str) -> bool:
        """Take an upload of the caller's away; False: it is none."""
        if not self.is_owner(caller, index):
            return False
        self._drop(index)
        return True

    def drop_old(self) -> None:
        """Take those away that nobody asked for a while."""
        oldest = self._clock() - self._settings.upload_minutes * 60
        for index in [name for name, kept in self._kept.items() if kept.used < oldest]:
            self._drop(index)

    def drop_all(self) -> None:
        """Take all away, and the folder with them; the server ends."""
        for index in list(self._kept):
            self._drop(index)
        self._folder_lock.release()
        shutil.rmtree(self._folder)

    def drop_leftovers(self) -> None:
        """Take those away that a server left behind which could not end as it should."""
        for info in self._registry.indexes():
            born = _UPLOAD.fullmatch(info.name)
            if born and time.time() - int(born[1], 16) > LEFTOVER_S:
                self._drop(info.name)

    def _check_room(self, caller: str) -> None:
        """Let a caller go on who may keep one upload more."""
        own = sum(kept.owner == caller for kept in self._kept.values())
        if own >= self._per_caller:
            raise ProblemError(
                "too_many_requests", f"you may keep {self._per_caller} uploads; take one away first"
            )
        if len(self._kept) >= self._settings.uploads:
            raise ProblemError("too_many_requests", "too many uploads are kept; try again later")

    def _index(
        self,
        index: str,
        file_name: str,
        content: BinaryIO,
        settings: Settings,
        on_stage: StageCallback,
    ) -> Upload:
        def still_wanted() -> None:
            on_stage("upload", ())

        limits = ReadLimits(
            self._settings.read_memory_mb,
            self._settings.read_s,
            documents=self._settings.max_upload_documents,
            chars=self._settings.max_upload_chars,
        )
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            path = Path(folder, file_name)
            with path.open("wb") as copy:
                shutil.copyfileobj(content, copy)
            if path.stat().st_size > self._settings.max_upload_bytes:
                limit = self._settings.max_upload_bytes
                raise ProblemError("too_large", f"an upload may have {limit} bytes")
            read = read_isolated(path, limits, still_wanted=still_wanted)
        with self._registry.connection.watching():
            self._registry.connection.client()
            report = index_corpus(
                lambda: InMemoryCorpus(read.documents),
                index,
                settings,
                still_wanted=still_wanted,
            )
        return Upload(index, report.built.documents, report.built.passages, read.notes)

    def _drop(self, index: str) -> None:
        """From now on nobody can open it; its indices may stay until the engine is back."""
        with self._lock:
            self._kept.pop(index, None)
            self._doomed.add(index)
        self._registry.forget(index)
        for doomed in list(self._doomed):
            try:
                with self._registry.connection.watching():
                    drop_index(self._registry.connection.client(), doomed)
            except EngineError as error:
                log.warning("upload not deleted yet", extra={"facts": {"reason": str(error)}})
                return
            self._doomed.discard(doomed)


def _safe_name(file_name: str) -> str:
    """
    Return the file's last name, as a file system and an id can have it; its suffix says its kind.
    """
    name = PurePosixPath(file_name.replace("\\", "/")).name
    kept = "".join(c if c.isprintable() and c not in '<>:"|?*' else "_" for c in name)
    return kept[-MAX_NAME_CHARS:].lstrip(".") or "upload.txt"


def _locked_folder() -> tuple[Path, FileLock]:
    """Return a new folder and its lock, held; it has its name only when the lock is held."""
    folder = Path(tempfile.mkdtemp(prefix="ccrag-new-"))
    lock = FileLock(folder / LOCK)
    lock.acquire()
    named = folder.with_name(folder.name.replace("ccrag-new-", FOLDER_PREFIX))
    return folder.rename(named), lock


def _remove_abandoned_folders(parent: Path) -> None:
    """Remove the folders of servers that were killed: those whose lock nobody holds."""
    for folder in parent.glob(f"{FOLDER_PREFIX}*"):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            continue
        try:
            with FileLock(folder / LOCK, timeout=0):
                shutil.rmtree(folder)
        except Timeout:
            continue  # its server is at work
