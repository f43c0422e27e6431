"""Rankings of evidence sentences in files: the packaged ones, or a user's own."""

from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ccrag.answering.sentence_ranker import SentenceRanking
from ccrag.errors import ConfigError, InputError
from ccrag.pipeline.packaged import packaged_text

MADE_BY = "ccrag models train-evidence"
_RANKING = TypeAdapter(SentenceRanking)


@lru_cache(maxsize=8)
def load_ranking(name: str) -> SentenceRanking:
    """
    Return the ranking of a packaged name (`sentences`), or of a file whose name ends in `.json`.

    Raises:
        ConfigError: there is none, or the file is no ranking.
    """
    text = packaged_text(name, folder="rankings", kind="ranking of sentences", made_by=MADE_BY)
    try:
        ranking = _RANKING.validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{name} is no ranking of sentences; make one with: {MADE_BY}") from error
    if not ranking.weights or any(weight.scale <= 0 for weight in ranking.weights.values()):
        raise ConfigError(f"{name} is no ranking of sentences: a scale is not above 0")
    return ranking


def write_ranking(ranking: SentenceRanking, path: Path) -> None:
    """
    Write it as JSON.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.write_bytes(_RANKING.dump_json(ranking, indent=1) + b"\n")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from error
