"""
A provider's batches over HTTP: files up and down, batches made, found and looked at.

Making a batch costs money, so it is never simply tried again: when its answer is lost, the batch is
looked for by the part id in its metadata first. Everything else may be repeated, and is.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from ccrag.config import ProviderSettings
from ccrag.errors import ModelError
from ccrag.llm.client import client_errors, open_client
from ccrag.llm.request import CHAT_URL

if TYPE_CHECKING:
    from openai import OpenAI

PART = "ccrag_part"
"""Key of the metadata a batch is found again by."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
PAGE = 100
FIRST_PAUSE_S = 0.5
"""Before a batch whose making failed is made again; doubled each time."""


@dataclass(frozen=True, slots=True)
class ProviderBatch:
    """A batch as the provider describes it."""

    batch_id: str
    status: str
    part_id: str | None
    """From its metadata; None: not one of ours."""
    output_file: str | None = None
    error_file: str | None = None
    total: int = 0
    completed: int = 0
    failed: int = 0
    problems: tuple[str, ...] = ()
    """Why it failed as a whole."""

    @property
    def has_ended(self) -> bool:
        """Tell whether nothing more will come of it."""
        return self.status in ENDED


class BatchProvider(Protocol):
    """Where batches run. Every method raises `ModelError` when the provider cannot be asked."""

    @property
    def server(self) -> str:
        """Host and port, by which the provider of a batch is remembered."""
        ...

    def upload(self, path: Path) -> str:
        """Upload `path`, or find it there; returns the id of the file."""
        ...

    def create(self, file_id: str, part_id: str) -> ProviderBatch:
        """Make a batch of an uploaded file, once."""
        ...

    def find(self, part_id: str) -> ProviderBatch | None:
        """Return the newest batch of `part_id`, if there is one."""
        ...

    def look(self, batch_id: str) -> ProviderBatch:
        """Return the batch as it is now."""
        ...

    def download(self, file_id: str, path: Path) -> None:
        """Write a file of the provider's to `path`, whole or not at all."""
        ...


@contextmanager
def open_provider(settings: ProviderSettings) -> Iterator[BatchProvider]:
    """
    The provider of `settings`, its connections closed at the end; nothing is asked yet.

    Raises:
        ModelError: the client's package is not installed.
        ConfigError: OpenAI's own server without a key.
    """
    with open_client(settings) as client:
        yield ServedBatches(client, settings)


def server_of(base_url: str) -> str:
    """Host and port of a URL, never its password."""
    url = urlsplit(base_url)
    return f"{url.hostname}:{url.port}" if url.port else str(url.hostname)


class ServedBatches:
    """Batches behind `/files` and `/batches`."""

    def __init__(self, client: "OpenAI", settings: ProviderSettings) -> None:
        self._client = client
        self._settings = settings
        self._found: dict[str, ProviderBatch] | None = None

    @property
    def server(self) -> str:
        """Host and port, by which the provider of a batch is remembered."""
        return server_of(self._settings.base_url)

    def upload(self, path: Path) -> str:
        """
        Upload `path`, whose name tells its content, unless it is there already.

        Raises:
            ModelError: the provider cannot be reached, or refuses.
        """
        size = path.stat().st_size
        with self._errors():
            for file in self._client.files.list(purpose="batch", limit=PAGE):
                if (file.filename, file.bytes) == (path.name, size):
                    return str(file.id)
            return str(self._client.files.create(file=path, purpose="batch").id)

    def create(self, file_id: str, part_id: str) -> ProviderBatch:
        """
        Make a batch of an uploaded file, once: a lost answer is no reason to make another.

        Raises:
            ModelError: the provider cannot be reached, or refuses.
        """
        from openai import APIConnectionError, InternalServerError, RateLimitError

        with self._errors():
            for tried in range(self._settings.retries + 1):
                try:
                    return self._create(file_id, part_id)
                except (APIConnectionError, InternalServerError, RateLimitError, ValueError):
                    self._found = None
                    found = self.find(part_id)
                    if found is not None:
                        return found
                    if tried == self._settings.retries:
                        raise
                    sleep(FIRST_PAUSE_S * 2**tried)
        raise ModelError(f"{self.server}: no batch was made")

    def _create(self, file_id: str, part_id: str) -> ProviderBatch:
        made = self._client.with_options(max_retries=0).batches.create(
            input_file_id=file_id,
            endpoint=CHAT_URL,
            completion_window="24h",
            metadata={PART: part_id},
        )
        return _batch(made)

    def find(self, part_id: str) -> ProviderBatch | None:
        """
        Return the newest batch of `part_id`. The provider's list is read once for many parts.

        Raises:
            ModelError: the provider cannot be reached, or refuses.
        """
        if self._found is None:
            found: dict[str, ProviderBatch] = {}
            with self._errors():
                for batch in map(_batch, self._client.batches.list(limit=PAGE)):
                    if batch.part_id is not None:
                        found.setdefault(batch.part_id, batch)
            self._found = found
        return self._found.get(part_id)

    def look(self, batch_id: str) -> ProviderBatch:
        """
        Return the batch as it is now.

        Raises:
            ModelError: the provider cannot be reached, or does not know it.
        """
        with self._errors():
            return _batch(self._client.batches.retrieve(batch_id))

    def download(self, file_id: str, path: Path) -> None:
        """
        Write a file of the provider's to `path`, whole or not at all.

        Raises:
            ModelError: the provider cannot be reached, does not have it, or broke off.
        """
        partial = path.with_name(f"{path.name}.part")
        with self._errors(), self._client.files.with_streaming_response.content(file_id) as answer:
            answer.stream_to_file(partial)
        partial.replace(path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Beside what the client names itself: an answer that is cut, or not JSON."""
        import httpx

        try:
            with client_errors(self._settings, secret=self._client.api_key):
                yield
        except ValueError as error:
            raise ModelError(f"{self.server}: its answer is not JSON; try again") from error
        except httpx.HTTPError as error:
            raise ModelError(f"{self.server}: broke off while it answered; try again") from error


def _batch(made: Any) -> ProviderBatch:
    """Return the client's object as ours; what a provider leaves out counts as nothing."""
    metadata: Mapping[str, str] = made.metadata or {}
    counts, errors = made.request_counts, made.errors
    return ProviderBatch(
        batch_id=made.id,
        status=made.status,
        part_id=metadata.get(PART),
        output_file=made.output_file_id,
        error_file=made.error_file_id,
        total=counts.total if counts else 0,
        completed=counts.completed if counts else 0,
        failed=counts.failed if counts else 0,
        problems=tuple(map(_problem, errors.data or ())) if errors else (),
    )


def _problem(error: Any) -> str:
    place = "" if error.line is None else f", line {error.line}"
    return f"{error.code}{place}: {error.message}"
