"""The same model on OpenVINO, in float32: faster than torch on a CPU, once it is converted."""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ccrag.errors import ModelError
from ccrag.models.base import Matrix
from ccrag.models.batches import unit_rows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TOLERANCE = 1e-4
"""The largest difference of a component from torch's, on texts the conversion did not see."""
_SHOWN = ["a text to convert the model with", "another"]
_CHECKED = ["the model must not be bound to the shape it was converted with", "one", "", "three"]

ModelInputArrays = dict[str, Any]


class ConvertedModel:
    """A sentence-transformers model from its features to sentence vectors; for several threads."""

    def __init__(self, model: SentenceTransformer, *, streams: int) -> None:
        """
        Convert `model`, which takes seconds, for `streams` calls at once.

        Raises:
            ModelError: OpenVINO cannot convert this model faithfully.
        """
        import openvino
        import torch

        example = model.preprocess(list(_SHOWN))
        self._names = [name for name, value in example.items() if isinstance(value, torch.Tensor)]
        names = self._names

        class Sentences(torch.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: Any) -> Any:
                return self.model(dict(zip(names, tensors, strict=True)))["sentence_embedding"]

        shown = tuple(example[name] for name in names)
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's, about tracing
                graph = openvino.convert_model(Sentences().eval(), example_input=shown)
                self._compiled = openvino.Core().compile_model(
                    graph,
                    "CPU",
                    {
                        "NUM_STREAMS": str(streams),
                        "INFERENCE_NUM_THREADS": str(streams),
                        "INFERENCE_PRECISION_HINT": "f32",
                    },
                )
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            raise ModelError(
                f"OpenVINO cannot convert the encoder ({reason}); pass --set encoder.backend=torch"
            ) from error
        self._own = threading.local()
        self._check(model)

    def forward(self, features: ModelInputArrays) -> Matrix:
        """Return unit rows for one batch."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
        found = self._own.request.infer([features[name].numpy() for name in self._names])
        return unit_rows(found[0])

    def _check(self, model: SentenceTransformer) -> None:
        """Tracing follows one example; a model that branches on its input may come out wrong."""
        import torch

        features = model.preprocess(list(_CHECKED))
        found = self.forward(features)
        with torch.inference_mode():
            expected = unit_rows(model(features)["sentence_embedding"].numpy())
        if found.shape != expected.shape or np.abs(found - expected).max() > TOLERANCE:
            raise ModelError(
                "OpenVINO's copy of the encoder gives other vectors than torch; "
                "pass --set encoder.backend=torch"
            )
