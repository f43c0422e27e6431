"""A dialogue's earlier turns as they stand in a prompt: as data. Pure."""

from collections.abc import Iterable

from ccrag.llm.quote import quoted_object
from ccrag.types import Turn


def history_lines(turns: Iterable[Turn]) -> list[str]:
    """Return each turn as a JSON object on one line; turns have no ids, so none can be cited."""
    return [quoted_object({"speaker": turn.speaker, "text": turn.text}) for turn in turns]
