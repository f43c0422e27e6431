"""Papers that a caller uploads to ask about once: indexes of their own, which go away again."""

import logging
import re
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

from ccrag.config import ServeSettings, Settings
from ccrag.engine.indexes import drop_index
from ccrag.errors import EngineError
from ccrag.indexing import index_documents
from ccrag.web.engine_link import UPLOAD_PREFIX
from ccrag.web.problems import ProblemError
from ccrag.web.shelf import Shelf

log = logging.getLogger("ccrag.web")
_UPLOAD = re.compile(rf"{UPLOAD_PREFIX}([0-9a-f]{{8}})-[0-9a-f]{{24}}")
LEFTOVER_S = 24 * 3600.0
"""Uploads of this age are taken away at a start; another server's may be on the same engine."""
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


class Uploads:
    """The papers kept now; safe for threads."""

    def __init__(
        self,
        settings: ServeSettings,
        shelf: Shelf,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._shelf = shelf
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._doomed: set[str] = set()
        self._lock = Lock()

    def is_owner(self, caller: str, index: str) -> bool:
        """Whether an upload is this caller's; looking keeps it from going away."""
        kept = self._kept.get(index)
        if kept is None or kept.owner != caller:
            return False
        kept.used = self._clock()
        return True

    def of(self, caller: str) -> list[tuple[str, str, list[str]]]:
        """The caller's uploads as they came: index, the file's name, and pipelines it fits."""
        return [
            (name, kept.title, self._shelf.alike(kept.pipeline))
            for name, kept in list(self._kept.items())
            if kept.owner == caller
        ]

    def add(self, caller: str, file_name: str, content: bytes, pipeline: str | None) -> Upload:
        """
        Make a file an index of the caller's own.

        Raises:
            ProblemError: too large, or too many are kept.
            InputError: the file holds no document, or is of a kind that is not read.
        """
        self.drop_old()
        settings = self._shelf.settings(pipeline)
        if len(content) > self._settings.max_upload_bytes:
            raise ProblemError(
                "too_large", f"an upload may have {self._settings.max_upload_bytes} bytes"
            )
        index = f"{UPLOAD_PREFIX}{int(time.time()):x}-{secrets.token_hex(12)}"
        with self._lock:
            if len(self._kept) >= self._settings.uploads:
                raise ProblemError(
                    "too_many_requests", "too many uploads are kept; try again later"
                )
            self._kept[index] = _Kept(caller, file_name, settings.name, self._clock())
        try:
            return self._index(index, _safe_name(file_name), content, settings)
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
        """Take all away; the server ends."""
        for index in list(self._kept):
            self._drop(index)

    def drop_leftovers(self) -> None:
        """Take those away that a server left behind which could not end as it should."""
        for facts in self._shelf.indexes():
            born = _UPLOAD.fullmatch(facts.name)
            if born and time.time() - int(born[1], 16) > LEFTOVER_S:
                self._drop(facts.name)

    def _index(self, index: str, file_name: str, content: bytes, settings: Settings) -> Upload:
        with tempfile.TemporaryDirectory(prefix="ccrag-upload-") as folder:
            path = Path(folder, file_name)
            path.write_bytes(content)
            with self._shelf.link.watching():
                self._shelf.link.client()
                report = index_documents([path], index, settings)
        return Upload(index, report.built.documents, report.built.passages)

    def _drop(self, index: str) -> None:
        """From now on nobody can open it; its indices may stay until the engine is back."""
        with self._lock:
            self._kept.pop(index, None)
            self._doomed.add(index)
        self._shelf.forget(index)
        for doomed in list(self._doomed):
            try:
                with self._shelf.link.watching():
                    drop_index(self._shelf.link.client(), doomed)
            except EngineError as error:
                log.warning("upload not deleted yet", extra={"facts": {"reason": str(error)}})
                return
            self._doomed.discard(doomed)


def _safe_name(file_name: str) -> str:
    """The file's last name, as a file system and an id can have it; its suffix says its kind."""
    name = PurePosixPath(file_name.replace("\\", "/")).name
    kept = "".join(c if c.isprintable() and c not in '<>:"|?*' else "_" for c in name)
    return kept[-MAX_NAME_CHARS:].lstrip(".") or "upload.txt"
