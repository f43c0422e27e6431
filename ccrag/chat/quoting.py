"""
Foreign text inside a prompt: kept readable, and unable to leave its place. Pure.

What documents say is data. Quoted as a JSON string it cannot end its line or its object; its
invisible characters are left out; and what looks like the prompt's own tags, or like the control
tokens by which chat templates part messages, is written with other brackets.
"""

import json
import re
import unicodedata
from collections.abc import Mapping

_JOINERS = "\u200c\u200d"
"""Format characters that words of some languages, and emoji, are made with."""
_CONTROL = re.compile(
    r"""
      < (?= \s* /? \s* (?: evidence | passages? | documents? | history | question | system
                         | user | assistant | s | bos | eos | unk | pad | think
                         | start_of_turn | end_of_turn | tool_call ) \b [^<>]* > )
    | < (?= \s* \|) | (?<= \|) \s* >
    | < (?= < \s* /? \s* SYS) | \[ (?= \s* /? \s* INST \s* \])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HARMLESS = {"<": "‹", ">": "›", "[": "⟦"}


def quoted(text: str) -> str:
    """`text` as a JSON string on one line that nothing in it can end."""
    return json.dumps(tamed(text), ensure_ascii=False)


def quoted_object(values: Mapping[str, str]) -> str:
    """`values` as a JSON object on one line; keys are ours, values are tamed."""
    return json.dumps({key: tamed(value) for key, value in values.items()}, ensure_ascii=False)


def tamed(text: str) -> str:
    """
    `text` on one line, without invisible characters, its would-be tags in other brackets.

    Comparisons (`p < 0.05`) and other markup (`<class 'int'>`) stay as they are.
    """
    line = " ".join(visible(text).split())
    return _CONTROL.sub(lambda match: _HARMLESS[match[0].strip()], line)


def visible(text: str) -> str:
    """`text` with controls as spaces, and without characters that nobody sees."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    """The character; a space for a control; nothing for a format character or a lone surrogate."""
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    if category in ("Cf", "Cs", "Co", "Cn") and character not in _JOINERS:
        return ""
    return character
