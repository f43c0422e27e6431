"""Opening what a command works with: client, index and pipeline from settings."""

from ccrag.config import Settings
from ccrag.engine.client import open_client
from ccrag.engine.index import Index, open_index
from ccrag.pipeline import Pipeline
from ccrag.recipes import recipe_of


def open_pipeline(settings: Settings, name: str) -> Pipeline:
    """
    The pipeline of `settings` over the index `name`; starts the embedded node when needed.

    Raises:
        EngineError: no engine, no such index, or one that does not fit; the message says which
            command to run.
    """
    return Pipeline(settings, _open(settings, name))


def _open(settings: Settings, name: str) -> Index:
    client = open_client(settings)
    return open_index(client, name, recipe_of(settings), settings.engine, pipeline=settings.name)
