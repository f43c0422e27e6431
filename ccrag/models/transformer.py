"""
sentence-transformers models, fast on a CPU.

Measured against `SentenceTransformer.encode` (batches of 32 texts, every operation split over all
cores): its batches outgrow the processor's caches, and cores wait for each other after every
operation. Here batches are small, by tokens and not by texts, and each core encodes its own. The
arithmetic stays float32, so vectors agree to the last bits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ccrag.concurrency import in_order
from ccrag.config import EncoderSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.models.base import Matrix, OnProgress
from ccrag.models.batches import mean_unit_rows, token_batches, unit_rows
from ccrag.models.cached import ModelOutput
from ccrag.models.folder import INSTALL, ModelFolder, quiet_loading
from ccrag.models.locate import find_encoder, require_package
from ccrag.models.threads import one_thread_per_operation
from ccrag.models.windows import token_windows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from ccrag.models.openvino import ConvertedModel

INSTALL_OPENVINO = "pip install 'ccrag[openvino]'"
ModelInput = dict[str, Any]


class TextWindow(NamedTuple):
    """A text, or a window of one, as the model reads it."""

    text_index: int
    text: str
    tokens: int
    """Special tokens included, no more than the model reads."""


def open_transformer(settings: EncoderSettings) -> TransformerModel:
    """
    Find the model of `settings`; it is loaded when a text is to be encoded.

    Raises:
        ModelError: it cannot be found, or a package that runs it is not installed.
        ConfigError: the backend has no such precision.
    """
    require_package(
        "sentence_transformers",
        purpose=f"the encoder {settings.model!r}",
        install=f"{INSTALL}; or name a pipeline without models, e.g. --pipeline caes-rag-rrf",
    )
    if settings.backend == "openvino":
        require_package("openvino", purpose="encoder.backend=openvino", install=INSTALL_OPENVINO)
        if settings.precision != "fp32":
            raise ConfigError("encoder.backend=openvino computes in fp32; leave encoder.precision")
    return TransformerModel(find_encoder(settings.model), settings)


class TransformerModel:
    """A model in a folder, loaded by its first use; one thread at a time."""

    def __init__(self, folder: ModelFolder, settings: EncoderSettings) -> None:
        self.folder = folder
        self.model_id = folder.model_id
        self.revision = folder.revision
        self.options: Mapping[str, str] = {
            "precision": settings.precision,
            "max_tokens": str(settings.max_tokens or "the model's"),
            "windows": f"overlap {settings.window_overlap}" if settings.windows else "no",
        }
        self._settings = settings
        self._model: SentenceTransformer | None = None
        self._converted: ConvertedModel | None = None
        self._loading = Lock()

    def identity(self) -> dict[str, str]:
        """Return what two models must have in common to give the same vectors, in any folder."""
        return {"kind": "transformer", "revision": self.revision, **self.options}

    @property
    def dimension(self) -> int:
        """
        Return the length of a vector; read from the files where they say it, else from the model.
        """
        return stated_dimension(self.folder) or int(self.loaded().get_embedding_dimension() or 0)

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are read, special ones included."""
        model = self.loaded()
        limit = model.max_seq_length or int(model.tokenizer.model_max_length)
        return min(limit, self._settings.max_tokens or limit)

    def loaded(self) -> SentenceTransformer:
        """
        Return the model in memory.

        Raises:
            ModelError: the files are no model that can be loaded, or this machine is no fit.
        """
        with self._loading:  # several threads may ask at once; one of them loads
            if self._model is None:
                self._model = _load(self.folder, self._settings)
            return self._model

    def encode(self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress) -> ModelOutput:
        """Encode distinct texts; of one longer than `max_tokens` the beginning, or all windows."""
        windows, truncated = self._windows(texts, prefix)
        vectors: Matrix | None = None
        done = 0
        for rows, found in self._forward_all(windows):
            if vectors is None:
                vectors = np.empty((len(windows), found.shape[1]), dtype=np.float32)
            vectors[rows] = found
            done += len(rows)
            on_progress(done * len(texts) // len(windows))
        if vectors is None:
            return ModelOutput(np.empty((0, self.dimension), dtype=np.float32), [])
        if len(windows) > len(texts):
            groups = [window.text_index for window in windows]
            vectors = mean_unit_rows(vectors, groups, count=len(texts))
        return ModelOutput(vectors, truncated)

    def details(self) -> dict[str, str]:
        """
        Return its limit, its folder, and the prompts its files state, which only settings apply.
        """
        prompts = {
            f"{name} prompt": repr(text)
            for name, text in sorted(self.loaded().prompts.items())
            if text
        }
        return {"max tokens": str(self.max_tokens), "folder": str(self.folder.path), **prompts}

    def _windows(self, texts: Sequence[str], prefix: str) -> tuple[list[TextWindow], list[bool]]:
        """Return the texts, or windows of them, to be encoded, and which texts are truncated."""
        tokenizer = self.loaded().tokenizer
        limit, special = self.max_tokens, tokenizer.num_special_tokens_to_add()
        before = len(tokenizer(prefix, add_special_tokens=False)["input_ids"]) if prefix else 0
        tokenised = tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        windows: list[TextWindow] = []
        truncated = [False] * len(texts)
        for index, text in enumerate(texts):
            count = len(tokenised["input_ids"][index])
            room = limit - special - before
            if count <= room or not self._settings.windows:
                truncated[index] = count > room
                tokens = min(limit, before + count + special)
                windows.append(TextWindow(index, prefix + text, max(1, tokens)))
                continue
            offsets = tokenised["offset_mapping"][index]
            for start, end in token_windows(
                tokenised.word_ids(index), max_tokens=room, overlap=self._settings.window_overlap
            ):
                part = text[offsets[start][0] : offsets[end - 1][1]]
                windows.append(TextWindow(index, prefix + part, before + end - start + special))
        return windows, truncated

    def _forward_all(self, windows: Sequence[TextWindow]) -> Iterator[tuple[list[int], Matrix]]:
        """Yield vectors of `windows` by their positions, in batches, each core on its own batch."""
        model = self.loaded()
        lengths = [window.tokens for window in windows]
        batches = list(token_batches(lengths, budget=self._settings.batch_tokens))

        def features() -> Iterator[tuple[list[int], ModelInput]]:
            for rows in batches:  # a tokenizer is for one thread
                yield rows, model.preprocess([windows[row].text for row in rows])

        # One batch, or a GPU: torch itself uses the whole device.
        if len(batches) < 2 or model.device.type != "cpu":
            yield from ((rows, _forward(model, batch)) for rows, batch in features())
            return
        with one_thread_per_operation() as workers:
            run: Callable[[ModelInput], Matrix] = partial(_forward, model)
            if self._settings.backend == "openvino":
                run = self._converted_model(streams=workers).forward
            yield from in_order(lambda item: (item[0], run(item[1])), features(), workers=workers)

    def _converted_model(self, *, streams: int) -> ConvertedModel:
        """Return OpenVINO's copy; it is made the first time that more than one batch is encoded."""
        from ccrag.models.openvino import ConvertedModel

        model = self.loaded()
        with self._loading:
            if self._converted is None:
                self._converted = ConvertedModel(model, streams=streams)
            return self._converted


def _forward(model: SentenceTransformer, features: ModelInput) -> Matrix:
    import torch

    with torch.inference_mode():
        on_device = {
            name: value.to(model.device) if isinstance(value, torch.Tensor) else value
            for name, value in features.items()
        }
        vectors = model(on_device)["sentence_embedding"]
        return unit_rows(vectors.float().cpu().numpy())


def _load(folder: ModelFolder, settings: EncoderSettings) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    try:
        with quiet_loading():
            model = SentenceTransformer(
                str(folder.path),
                device=settings.device,
                local_files_only=True,
                model_kwargs={"dtype": "bfloat16" if settings.precision == "bf16" else "float32"},
            )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{folder.model_id!r} cannot be loaded as an encoder: {reason}") from error
    if not getattr(model.tokenizer, "is_fast", False):
        raise ModelError(
            f"{folder.model_id!r} has no fast tokenizer (tokenizer.json), which is needed to "
            "tell when a text is truncated"
        )
    if settings.precision == "bf16" and model.device.type == "cpu" and not _cpu_has_bf16():
        raise ModelError("this processor has no bf16; pass --set encoder.precision=fp32")
    if settings.max_tokens and model.max_seq_length:
        model.max_seq_length = min(model.max_seq_length, settings.max_tokens)
    return model.eval()


def _cpu_has_bf16() -> bool:
    """Tell whether the processor multiplies bf16 itself; emulated, it is slower than fp32."""
    import torch

    if not hasattr(torch.cpu, "get_capabilities"):  # torch before 2.10
        return False
    return any(has for name, has in torch.cpu.get_capabilities().items() if "bf16" in name)


def stated_dimension(folder: ModelFolder) -> int | None:
    """Return what the last module that changes a vector's length says in its config.json."""
    try:
        modules = json.loads((folder.path / "modules.json").read_text(encoding="utf-8"))
        paths = [folder.path / module["path"] / "config.json" for module in modules]
        configs = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder.path}: no sentence-transformers model: {error}") from error
    for config in reversed(configs):  # the last module's output is the vector
        for name in ("out_features", "embedding_dimension", "word_embedding_dimension"):
            if isinstance(config.get(name), int):
                return int(config[name])
    return None
