"""Pipelines over indexes, each opened once and kept; models are shared among them."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TypeVar

from ccrag.config import Settings
from ccrag.config.load import load_settings, pipeline_names
from ccrag.engine.indexes import ListedIndex, ListedPage, find_documents, list_indexes
from ccrag.engine.names import documents_alias
from ccrag.errors import EngineDownError, EngineError, IndexMissingError
from ccrag.indexing.spec import index_spec
from ccrag.pipeline.factory import Models, find_index
from ccrag.pipeline.pipeline import Pipeline
from ccrag.types import Candidates
from ccrag.web.connection import EngineConnection
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError, unknown_index

T = TypeVar("T")


class IndexRegistry:
    """The indexes and pipelines that can be asked; safe for threads."""

    def __init__(
        self,
        pipelines: Mapping[str, Settings],
        default: str,
        connection: EngineConnection,
        metrics: Metrics,
    ) -> None:
        """
        Open nothing yet.

        Args:
            pipelines: by the name a caller gives.
            default: the one taken when the caller gives none.
        """
        self.pipelines = dict(pipelines)
        self.default = default
        self.connection = connection
        self._metrics = metrics
        self._models = Models()
        self._open: dict[tuple[str, str], Pipeline] = {}
        self._lock = Lock()
        connection.on_return(self._forget_all)
        metrics.watch_vectors(self._models.encoding_counts)

    def settings(self, pipeline: str | None) -> Settings:
        """
        Return a pipeline's settings.

        Raises:
            ProblemError: it is not offered here.
        """
        name = pipeline or self.default
        if name not in self.pipelines:
            raise ProblemError("invalid_request", f"no such pipeline; {', '.join(self.pipelines)}")
        return self.pipelines[name]

    def indexes(self) -> list[ListedIndex]:
        """Return every index of the engine, by name."""
        with self.connection.watching():
            return list_indexes(self.connection.client())

    def fitting(self, info: ListedIndex) -> list[str]:
        """Return the names of the pipelines that an index has been indexed for."""
        return [
            name
            for name, settings in self.pipelines.items()
            if index_spec(settings).fits(info.specs)
        ]

    def alike(self, pipeline: str | None) -> list[str]:
        """Return the names of the pipelines that need nothing else of an index than this one."""
        stored = index_spec(self.settings(pipeline)).stored
        return [name for name, other in self.pipelines.items() if index_spec(other).fits(stored)]

    def info(self, index: str) -> ListedIndex:
        """
        Return one index.

        Raises:
            ProblemError: there is none of this name.
        """
        for info in self.indexes():
            if info.name == index:
                return info
        raise unknown_index()

    def listed(
        self,
        index: str,
        candidates: Candidates,
        *,
        text: str,
        size: int,
        after: tuple[object, ...] | None,
    ) -> ListedPage:
        """Return a page of an index's documents; see `engine.indexes.find_documents`."""
        with self.connection.watching():
            client = self.connection.client()
            try:
                return find_documents(
                    client, documents_alias(index), candidates, text=text, size=size, after=after
                )
            except IndexMissingError as error:
                raise unknown_index() from error

    def using(self, index: str, pipeline: str | None, work: Callable[[Pipeline], T]) -> T:
        """
        Return what `work` makes of the pipeline over an index.

        A pipeline stays on the index it was opened on. When that one failed and a new index has
        taken its place meanwhile, the work is done once more, on the new one.

        Raises:
            CcragError: the work's, or the pipeline cannot be opened.
        """
        settings = self.settings(pipeline)
        with self.connection.watching():
            opened = self._pipeline(index, settings)
            try:
                return work(opened)
            except EngineDownError:
                raise
            except EngineError:
                self._forget(index, settings.name)
                again = self._pipeline(index, settings)
                if again.index.info == opened.index.info:
                    raise
                return work(again)

    def any_pipeline(self, index: str) -> str:
        """
        Return a pipeline the index was indexed for; documents are the same under all.

        Raises:
            ProblemError: there is none, or no such index.
        """
        for name, pipeline in list(self._open):
            if name == index:
                return pipeline
        fitting = self.fitting(self.info(index))
        if not fitting:
            raise ProblemError(
                "not_built", "this index was not built for any pipeline offered here"
            )
        return self.default if self.default in fitting else fitting[0]

    def forget(self, index: str) -> None:
        """Let go of an index that is about to be deleted."""
        with self._lock:
            for key in [key for key in self._open if key[0] == index]:
                del self._open[key]

    def _pipeline(self, index: str, settings: Settings) -> Pipeline:
        key = (index, settings.name)
        kept = self._open.get(key)
        self._metrics.count_cache("pipelines", hits=int(kept is not None), misses=int(kept is None))
        if kept is not None and not self.connection.down:
            return kept
        try:
            opened_index = find_index(self.connection.client(), index, settings)
        except IndexMissingError:
            self.info(index)  # not there at all: said in other words
            raise
        opened = self._models.pipeline(settings, opened_index)
        with self._lock:
            self._open[key] = opened
        return opened

    def _forget(self, index: str, pipeline: str) -> None:
        with self._lock:
            self._open.pop((index, pipeline), None)

    def _forget_all(self) -> None:
        with self._lock:
            self._open.clear()


def offered_pipelines(
    names: Sequence[str], default: str | None, overrides: Sequence[str]
) -> tuple[dict[str, Settings], str]:
    """
    Return the pipelines a server offers, by name, and the name of its default.

    Args:
        names: packaged names or TOML files; none: all packaged ones.
        default: the same; it is offered too.

    Raises:
        ConfigError: one of them cannot be loaded.
    """
    first = load_settings(default, overrides)
    loaded = [first, *(load_settings(name, overrides) for name in names or pipeline_names())]
    return {settings.name: settings for settings in loaded}, first.name
