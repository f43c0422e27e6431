"""Opening what a command works with: client, index and pipeline from settings."""

from ccrag.config import Settings
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.index import open_index
from ccrag.pipeline import Pipeline
from ccrag.recipes import recipe_of


def open_pipeline(settings: Settings, name: str, *, notify: Notify = silent) -> Pipeline:
    """
    The pipeline of `settings` over the index `name`; starts the embedded node when needed.

    Raises:
        EngineError: no engine, no such index, or one that does not fit; the message says which
            command to run.
    """
    client = open_client(settings, notify=notify)
    index = open_index(client, name, recipe_of(settings), settings.engine, pipeline=settings.name)
    return Pipeline(settings, index)
