"""
Find a model's files: in a folder, the hub's cache, or on the hub. Nothing is loaded here.

A model is always loaded from a folder, so that what loads it never asks the network by itself:
the hub's own loaders try for most of a minute before they say that it is out of reach.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccrag.errors import ModelError

INSTALL = "pip install 'ccrag[neural]'"
COPY = "copy its files here and give the folder"
_PROBE_TIMEOUT_S = 10.0
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_WANTED = ("*.json", "*.txt", "*.model", "*.jinja", *_WEIGHTS)
"""Not the ONNX, OpenVINO and TensorFlow copies, several times the size of the model."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model's files, and the revision that identifies them."""

    path: Path
    model_id: str
    """The name or path as given."""
    revision: str
    """The hub's commit, or a digest of the files' contents."""


def find_model(model: str, *, remedy: str = COPY) -> ModelFolder:
    """
    Return the folder of `model`: itself if it is one, else from the hub's cache, else from the hub.

    Args:
        model: a folder, or a name on the Hugging Face hub.
        remedy: how else to get such a model, the end of the error's sentence.

    Raises:
        ModelError: not there and out of reach, or the hub's library is not installed.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return ModelFolder(path, model, f"sha256:{_digest(path)}")
    if path.is_absolute() or model.startswith((".", "~")):
        raise ModelError(f"no model folder {model!r}; {remedy}")
    snapshot = _cached(model) or _fetched(model, remedy=remedy)
    return ModelFolder(snapshot, model, snapshot.name)


def _cached(model: str) -> Path | None:
    """Return the hub's cached copy, if it is complete."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise ModelError(f"model {model!r} needs the hub's library: {INSTALL}") from error
    try:
        snapshot = Path(snapshot_download(model, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise ModelError(f"{model!r} is neither a folder nor a name on the hub") from error
    # An interrupted download may leave a snapshot without weights or configuration.
    complete = any(True for kind in _WEIGHTS for _ in snapshot.glob(kind))
    return snapshot if complete and (snapshot / "config.json").exists() else None


def _fetched(model: str, *, remedy: str) -> Path:
    import httpx
    from huggingface_hub import model_info, snapshot_download

    try:
        model_info(model, timeout=_PROBE_TIMEOUT_S)  # fails at once where a download would retry
        return Path(snapshot_download(model, allow_patterns=list(_WANTED)))
    except (OSError, httpx.HTTPError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(
            f"model {model!r} is not on this machine and the hub cannot be asked ({reason}); "
            f"{remedy}"
        ) from error


def _digest(folder: Path) -> str:
    """Return SHA-256, shortened, over names and contents of the files that make the model."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if any(map(path.match, _WANTED))):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep transformers' bars and reports off stderr; its errors are raised all the same."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
