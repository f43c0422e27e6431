"""Loading a cross-encoder from a folder, and refusing what only looks like one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ccrag.concurrency import in_order
from ccrag.errors import ModelError
from ccrag.models.folder import ModelFolder, quiet_loading
from ccrag.models.locate import require_package

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from torch import Tensor


def open_cross_encoder(folder: ModelFolder, *, device: str | None) -> CrossEncoder:
    """
    Load `folder`: a sequence classifier with one score, or an encoder with our own head.

    Raises:
        ModelError: it cannot be loaded, or its scores would be random or of another kind.
    """
    require_package("sentence_transformers", purpose="reranking with a cross-encoder")
    try:
        with quiet_loading():
            model, own = _load(folder, device=device)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(
            f"{folder.model_id!r} cannot be loaded as a cross-encoder: {reason}"
        ) from error
    if not own:
        _check_classifier(model, folder.model_id)
    if not model.tokenizer.is_fast:
        raise ModelError(
            f"{folder.model_id!r} has no fast tokenizer (tokenizer.json), which windows need"
        )
    return model


def _load(folder: ModelFolder, *, device: str | None) -> tuple[CrossEncoder, bool]:
    from ccrag.models.token_match import is_match_model, load_match_model

    if is_match_model(folder.path):
        return load_match_model(folder.path, device=device), True
    from sentence_transformers import CrossEncoder

    return CrossEncoder(str(folder.path), device=device, local_files_only=True), False


def is_classifier(model: CrossEncoder) -> bool:
    """Whether the head comes with the weights; on another model a random one would be put."""
    architectures = getattr(model.config, "architectures", None) or [""]
    return str(architectures[0]).endswith("ForSequenceClassification")


def _check_classifier(model: CrossEncoder, name: str) -> None:
    if not is_classifier(model):
        kind = (getattr(model.config, "architectures", None) or ["model without a head"])[0]
        raise ModelError(
            f"{name!r} is no cross-encoder but a {kind}; "
            f"train one from it: ccrag models train-reranker --base {name}"
        )
    if model.num_labels != 1:
        raise ModelError(f"{name!r} gives {model.num_labels} scores a pair; expected one")


def token_limit(model: CrossEncoder) -> int:
    """Tokens the model reads; the tokenizer may state more than there are positions for."""
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
        The raw logits of each batch, in order.

        Without the activation, which squeezes the best of them until they are all 1.0.
        """
        features = (self._model.preprocess(list(batch)) for batch in batches)
        if len(batches) < 2 or self._model.device.type != "cpu":
            yield from map(self._forward, features)
            return
        with _one_thread_per_operation() as workers:
            yield from in_order(self._forward, features, workers=workers)

    def _forward(self, features: dict[str, Any]) -> list[float]:
        import torch

        with torch.inference_mode():
            scores = forward_scores(self._model, features)
        return [float(score) for score in scores]


def forward_scores(model: CrossEncoder, features: dict[str, Any]) -> Tensor:
    """The logits of one batch, `(n_pairs,)`."""
    import torch

    on_device = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in features.items()
    }
    scores: Tensor = model(on_device)["scores"]
    return scores.float().flatten()


@contextmanager
def _one_thread_per_operation() -> Iterator[int]:
    """Let threads begun inside work alone, and yield how many there should be."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)
