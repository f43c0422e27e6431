"""Loading a cross-encoder from a folder, and refusing what only looks like one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ccrag.concurrency import in_order
from ccrag.errors import ModelError
from ccrag.models.folder import ModelFolder, quiet_loading
from ccrag.models.locate import require_package
from ccrag.models.threads import one_thread_per_operation

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from torch import Tensor

_CLASSIFIER = "ForSequenceClassification"
_LOADING_ERRORS = (OSError, ValueError, KeyError, ImportError, RuntimeError)


def open_cross_encoder(folder: ModelFolder, *, device: str | None) -> CrossEncoder:
    """
    Load `folder`: a sequence classifier with one score.

    Raises:
        ModelError: it cannot be loaded, or its scores would be random or of another kind.
    """
    model = open_classifier(folder, device=device)
    if model.num_labels != 1:
        raise ModelError(f"{folder.model_id!r} gives {model.num_labels} scores a pair, not one")
    return model


def open_classifier(folder: ModelFolder, *, device: str | None) -> CrossEncoder:
    """
    Load `folder`: a sequence classifier with any number of labels.

    Raises:
        ModelError: it is none, or cannot be loaded.
    """
    require_package("sentence_transformers", purpose="a cross-encoder")
    architecture = _architecture(folder)
    if not architecture.endswith(_CLASSIFIER):
        raise ModelError(f"{folder.model_id!r} is no cross-encoder but a {architecture}")
    from sentence_transformers import CrossEncoder

    try:
        with quiet_loading():
            model = CrossEncoder(str(folder.path), device=device, local_files_only=True)
    except _LOADING_ERRORS as error:
        raise _not_loaded(folder, error) from error
    if not model.tokenizer.is_fast:
        raise ModelError(
            f"{folder.model_id!r} has no fast tokenizer (tokenizer.json), which windows need"
        )
    return model


def _architecture(folder: ModelFolder) -> str:
    """Return the architecture of the weights in `folder`, from its config.json."""
    try:
        config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
        return str((config.get("architectures") or ["model without a head"])[0])
    except (OSError, ValueError, AttributeError) as error:
        raise _not_loaded(folder, error) from error


def _not_loaded(folder: ModelFolder, error: Exception) -> ModelError:
    reason = str(error).partition("\n")[0]
    return ModelError(f"{folder.model_id!r} cannot be loaded as a cross-encoder: {reason}")


def token_limit(model: CrossEncoder) -> int:
    """
    Return how many tokens the model reads; the tokenizer may state more than there are positions
    for.
    """
    config = model[0].model.config
    positions = int(getattr(config, "max_position_embeddings", 512))
    if "roberta" in config.model_type:  # positions count from after the padding id
        positions -= config.pad_token_id + 1
    return min(positions, int(model.tokenizer.model_max_length))


class LoadedPairModel:
    """A model in memory; on a CPU each core scores its own batch, as in `models.transformer`."""

    def __init__(self, model: CrossEncoder) -> None:
        self._model = model.eval()
        self.tokenizer: Any = model.tokenizer

    def logits(self, batches: Sequence[Sequence[tuple[str, str]]]) -> Iterator[list[float]]:
        """
        Yield the raw logits of each batch, in order.

        Without the activation, which squeezes the best of them until they are all 1.0.
        """
        features = (self._model.preprocess(list(batch)) for batch in batches)
        if len(batches) < 2 or self._model.device.type != "cpu":
            yield from map(self._forward, features)
            return
        with one_thread_per_operation() as workers:
            yield from in_order(self._forward, features, workers=workers)

    def _forward(self, features: dict[str, Any]) -> list[float]:
        import torch

        with torch.inference_mode():
            scores = forward_logits(self._model, features).flatten()
        return [float(score) for score in scores]


def forward_logits(model: CrossEncoder, features: dict[str, Any]) -> Tensor:
    """Return the logits of one batch, one column a label: `(n_pairs, n_labels)`."""
    import torch

    on_device = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in features.items()
    }
    scores: Tensor = model(on_device)["scores"]
    return scores.float()
