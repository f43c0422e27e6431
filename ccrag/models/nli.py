"""
Natural language inference: whether a premise entails a hypothesis, by a local cross-encoder.

torch and sentence-transformers are imported when a model is loaded and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ccrag.errors import ModelError
from ccrag.models.cross_encoder import forward_logits, open_classifier, token_limit
from ccrag.models.folder import ModelFolder, find_model
from ccrag.models.locate import require_package
from ccrag.models.windows import token_windows

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

ENTAILMENT = "entailment"
WINDOW_OVERLAP = 64
"""Tokens that neighbouring windows of a long premise share, at most."""
PAIRS_AT_ONCE = 8


def load_nli(model: str, *, device: str | None = None) -> NliModel:
    """
    Load a cross-encoder for inference by folder or by name on the hub.

    Its entailment label is found by name in `id2label`, in any position and any case.

    Args:
        device: torch's name for it; None lets sentence-transformers choose.

    Raises:
        ModelError: it cannot be found or loaded, or none of its labels is called entailment.
    """
    require_package("sentence_transformers", purpose="measuring entailment")
    folder = find_model(model)
    return NliModel(open_classifier(folder, device=device), folder)


class NliModel:
    """
    The probability of entailment, by the softmax over all labels, for texts of any length.

    A premise too long to be read with the hypothesis is split into overlapping windows of whole
    words, the best of which counts. Of a hypothesis that takes more than half of the room every
    window must be entailed: the least counts.
    """

    def __init__(self, model: CrossEncoder, folder: ModelFolder) -> None:
        """
        Take a loaded classifier.

        Raises:
            ModelError: no label, or several, are called entailment.
        """
        self.model_id = folder.model_id
        self.max_tokens = token_limit(model)
        self._entailment = entailment_label(model[0].model.config.id2label, folder.model_id)
        self._model = model.eval()
        self._tokenizer: Any = model.tokenizer

    def __call__(self, premise: str, hypothesis: str) -> float:
        """
        Return the probability, 0 to 1, that `premise` entails `hypothesis`.

        Raises:
            ModelError: the model gave something that is no number.
        """
        room = self.max_tokens - self._tokenizer.num_special_tokens_to_add(pair=True)
        return min(
            self._best(premise, part, room=room - tokens)
            for part, tokens in self._windows(hypothesis, room=room // 2, overlap=0)
        )

    def _best(self, premise: str, hypothesis: str, *, room: int) -> float:
        windows = self._windows(premise, room=room, overlap=WINDOW_OVERLAP)
        pairs = [(part, hypothesis) for part, _ in windows]
        return max(
            probability
            for start in range(0, len(pairs), PAIRS_AT_ONCE)
            for probability in self._probabilities(pairs[start : start + PAIRS_AT_ONCE])
        )

    def _windows(self, text: str, *, room: int, overlap: int) -> list[tuple[str, int]]:
        """Return `text`, or windows of it, each with its number of tokens, at most `room`."""
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        count, offsets = len(encoded["input_ids"]), encoded["offset_mapping"]
        if count <= room:
            return [(text, count)]
        return [
            (text[offsets[start][0] : offsets[end - 1][1]], end - start)
            for start, end in token_windows(encoded.word_ids(), max_tokens=room, overlap=overlap)
        ]

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability of entailment of each pair."""
        import torch

        with torch.inference_mode():
            logits = forward_logits(self._model, self._model.preprocess(list(pairs)))
            found = [float(row[self._entailment]) for row in logits.softmax(dim=1)]
        if not all(map(isfinite, found)):
            raise ModelError(f"{self.model_id!r} gave a probability that is not a number")
        return found


def entailment_label(labels: dict[int, str], model_id: str) -> int:
    """
    Return the position of the label called entailment, among `id2label` of a model's config.

    Raises:
        ModelError: there is none, or there are several.
    """
    found = [at for at, label in labels.items() if label.strip().casefold() == ENTAILMENT]
    if len(found) != 1:
        raise ModelError(
            f"{model_id!r} has the labels {', '.join(labels.values())}; exactly one must be called "
            f"{ENTAILMENT}: take a model of natural language inference, or name its label so "
            "(id2label in config.json)"
        )
    return found[0]
