"""Calibrations of the answerability decision in files: the packaged ones, or a user's own."""

import hashlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ccrag.answering.calibration import Calibration
from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ConfigError, InputError
from ccrag.pipeline.packaged import SUFFIX as SUFFIX
from ccrag.pipeline.packaged import packaged_text

NONE = "none"
WAYS = (
    "set answer.answerability=none, or make one with: "
    "ccrag calibrate QUERIES --index NAME --pipeline P --out FILE"
)
_CALIBRATION = TypeAdapter(Calibration)
_STAGES = frozenset(
    {"chunking", "bm25", "variants", "feedback", "retrieval", "fusion", "rerank", "select"}
    | {"evidence", "encoder", "reranker"}
)
"""
Sections that decide the features; `rewrite` and `llm` too where a model is asked before, and what
says how units are read where they are.
"""
_WITHOUT_EFFECT = {
    "retrieval": {"batch"},
    "encoder": {"batch_tokens", "device", "cache", "cache_folder", "backend", "precision"},
    "reranker": {"batch_tokens"},
}


def load_calibration(name: str) -> Calibration | None:
    """
    Return the calibration of a packaged name (`mtrag`), or of a file whose name ends in `.json`.

    `none` is None.

    Raises:
        ConfigError: there is none, or the file is not a calibration.
    """
    if name == NONE:
        return None
    try:
        calibration = _CALIBRATION.validate_json(_text(name))
    except ValidationError as error:
        raise ConfigError(f"{name} is not a calibration; {WAYS}") from error
    if any(weight.scale <= 0 for weight in calibration.weights.values()):
        raise ConfigError(f"{name} is not a calibration: a scale is not above 0; {WAYS}")
    return calibration


def calibration_label(name: str) -> str:
    """Return `name@digest` of the file that `name` stands for."""
    digest = hashlib.blake2b(_text(name).encode(), digest_size=8).hexdigest()
    return f"{Path(name).name.removesuffix(SUFFIX)}@{digest}"


def write_calibration(calibration: Calibration, path: Path) -> None:
    """
    Write it as JSON.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.write_bytes(_CALIBRATION.dump_json(calibration, indent=1) + b"\n")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from error


def made_with(settings: PipelineSettings) -> dict[str, str]:
    """
    Return the settings that decide the features, by `section.key`; for `Calibration.made_with`.
    """
    by_model = requirements(settings).llm_before_answer
    sections = _STAGES | ({"rewrite", "llm"} if by_model else set())
    if settings.select.read != "passages":
        sections |= {"linked", "units", "budget"}
    dumped = settings.model_dump(mode="json", include=set(sections), exclude=_WITHOUT_EFFECT)
    return {
        f"{section}.{key}": str(value)
        for section, keys in sorted(dumped.items())
        for key, value in sorted(keys.items())
    }


def check_made_with(name: str, calibration: Calibration, settings: PipelineSettings) -> None:
    """
    Let a calibration decide only for the pipeline it was made with.

    A setting that it does not know is one of a later version: it had its default.

    Raises:
        ConfigError: it was made with another setting or encoder; the message says which.
    """
    theirs = {**made_with(PipelineSettings()), **calibration.made_with}
    here = made_with(settings)
    for key in sorted(theirs | here):
        if theirs.get(key) != here.get(key):
            raise ConfigError(
                f"calibration {name!r} was made with pipeline {calibration.pipeline}, whose {key} "
                f"is {theirs.get(key, 'not set')}; that of {settings.name} is "
                f"{here.get(key, 'not set')}: {WAYS}"
            )


def _text(name: str) -> str:
    return packaged_text(
        name, folder="calibrations", kind="calibration", made_by="ccrag calibrate", others=(NONE,)
    )
