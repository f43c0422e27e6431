"""
Dialogues in records: turns, of which the last is the question. Pure: no I/O, no settings.

Two forms are known: a list of turns (`input` or `turns`, each with speaker and text, as MTRAGEval
has it), and one text in which every turn begins with its speaker in bars (`|user|: …`, as its BEIR
query files have it).
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from ccrag.corpus.faults import RecordError, json_type
from ccrag.corpus.fields import RecordFields, as_text
from ccrag.types import Speaker, Turn

TURN_LISTS = ("input", "turns")
SPEAKERS = ("user", "agent")
_MARK = re.compile(r"^[ \t]*\|(user|agent)\|:[ \t]*", re.MULTILINE)


class Dialogue(NamedTuple):
    """A user's question and the turns before it, oldest first."""

    turns: tuple[Turn, ...]
    question: str


def dialogue_of(fields: RecordFields) -> Dialogue | None:
    """
    Return the dialogue in a record's list of turns; None where it has no such list.

    Raises:
        RecordError: a turn without speaker or text, or the last turn is not the user's.
    """
    for name in TURN_LISTS:
        turns = fields.get(name)
        if isinstance(turns, list):
            return _ending_with_question(
                [_turn(turn, field=f"{name}[{at}]") for at, turn in enumerate(turns)], field=name
            )
    return None


def marked_dialogue(text: str, *, field: str) -> Dialogue:
    """
    Return the dialogue in a text whose turns begin with `|user|:` or `|agent|:`; else a lone
    question.

    Raises:
        RecordError: there is text before the first mark, or the last turn is not the user's.
    """
    marks = list(_MARK.finditer(text))
    if not marks:
        return Dialogue((), text)
    if text[: marks[0].start()].strip():
        raise RecordError("field", f"{field} has text before its first {marks[0][0].strip()!r}")
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    turns = [
        Turn(_speaker(mark[1], field=field), text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=True)
    ]
    return _ending_with_question(turns, field=field)


def _turn(value: object, *, field: str) -> Turn:
    if not isinstance(value, Mapping):
        raise RecordError("field", f"{field} must be a turn, got {json_type(value)}")
    text = as_text(value.get("text"), field=f"{field}.text")
    return Turn(_speaker(value.get("speaker"), field=f"{field}.speaker"), text)


def _speaker(value: object, *, field: str) -> Speaker:
    if value not in SPEAKERS:
        raise RecordError("field", f"{field} must be one of {', '.join(SPEAKERS)}, got {value!r}")
    return cast(Speaker, value)


def _ending_with_question(turns: Sequence[Turn], *, field: str) -> Dialogue:
    if not turns:
        raise RecordError("field", f"{field} holds no turn")
    if turns[-1].speaker != "user":
        raise RecordError("field", f"{field} must end with the user's turn, the question")
    return Dialogue(tuple(turns[:-1]), turns[-1].text)
