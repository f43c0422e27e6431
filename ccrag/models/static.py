"""
Static models (model2vec): a vector per token, a text is their mean. No torch to encode.

`distill_static` makes one from a sentence-transformers model; that needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ccrag.config import EncoderSettings
from ccrag.errors import InputError, ModelError
from ccrag.models.base import OnProgress
from ccrag.models.batches import unit_rows
from ccrag.models.cached import ModelOutput
from ccrag.models.encoder import STATIC
from ccrag.models.folder import ModelFolder, find_model, quiet_loading
from ccrag.models.locate import find_encoder, require_package

if TYPE_CHECKING:
    from model2vec import StaticModel

INSTALL = "pip install 'ccrag[static]'"
INSTALL_DISTILL = "pip install 'ccrag[distill]'"
DIMENSION = 256
_REMEDY = "make one: ccrag models distill MODEL --out FOLDER"


def open_static(settings: EncoderSettings) -> StaticTextModel:
    """
    Load the static model that `settings.model`, `static:PATH`, names.

    Raises:
        ModelError: model2vec is not installed, or there is no such model.
    """
    require_package("model2vec", purpose=f"the encoder {settings.model!r}", install=INSTALL)
    folder = find_model(settings.model.removeprefix(STATIC), remedy=_REMEDY)
    return StaticTextModel(folder, _load(folder))


class StaticTextModel:
    """A static model; it reads texts of any length, and a text's vector needs no other text."""

    options: Mapping[str, str] = {}

    def __init__(self, folder: ModelFolder, model: StaticModel) -> None:
        self.folder = folder
        self.model_id = STATIC + folder.model_id
        self.revision = folder.revision
        self.dimension = int(model.dim)
        self._model = model

    def encode(self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress) -> ModelOutput:
        """Encode texts; one without a known token gets the vector of `unit_rows`."""
        vectors = self._model.encode(
            [prefix + text for text in texts], max_length=None, use_multiprocessing=False
        )
        on_progress(len(texts))
        return ModelOutput(unit_rows(vectors), [False] * len(texts))

    def details(self) -> dict[str, str]:
        """Return its limit and its folder."""
        return {"max tokens": "any", "folder": str(self.folder.path)}


def distill_static(model: str, out: Path, *, dimension: int = DIMENSION) -> StaticTextModel:
    """
    Make a static model of `model`'s tokens in the folder `out`, and return it.

    Args:
        dimension: how many principal components its vectors have; at most the model's dimension.

    Raises:
        InputError: `out` holds something already.
        ModelError: a package is missing, or the model cannot be found or distilled.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("exists already; name a new folder", path=out)
    for package in ("sentence_transformers", "skeletoken", "sklearn", "model2vec"):
        require_package(package, purpose="distilling", install=INSTALL_DISTILL)
    from model2vec.distill import distill

    folder = find_encoder(model)
    try:
        with quiet_loading():
            made = distill(str(folder.path), pca_dims=dimension, device="cpu")
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{folder.model_id!r} cannot be distilled: {reason}") from error
    made.save_pretrained(out, model_name=folder.model_id)
    saved = find_model(str(out), remedy=_REMEDY)
    return StaticTextModel(saved, _load(saved))


def _load(folder: ModelFolder) -> StaticModel:
    from model2vec import StaticModel

    try:
        return StaticModel.from_pretrained(folder.path)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{folder.model_id!r} is no static model: {reason}; {_REMEDY}") from error
