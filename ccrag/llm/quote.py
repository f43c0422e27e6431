"""
Foreign text inside a prompt: kept readable, and unable to leave its place. Pure.

What documents say is data. Quoted as a JSON string it cannot end its line or its object; its
invisible characters are left out; and what looks like the prompt's own tags, or like the control
tokens by which chat templates part messages, is written with other brackets.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

_JOINERS = "\u200c\u200d"
"""Format characters that words of some languages, and emoji, are made with."""
_CONTROL = re.compile(
    r"""
      < (?= [ ]? /? [ ]? (?: evidence | passages? | documents? | history | question | system
                         | user | assistant | human | ai | s | bos | eos | unk | pad | instructions?
                         | think(?:ing)? | reasoning | start_of_turn | end_of_turn
                         | tool_(?:calls?|response) | function_calls? ) \b [^<>]* > )
    | < (?= [ ]? \|) | (?<= \|) [ ]? >
    | < (?= < [ ]? /? [ ]? SYS)
    | \[ (?= [ ]? /? [ ]? (?: INST | SYSTEM_PROMPT | AVAILABLE_TOOLS
                          | TOOL_(?:CALLS|RESULTS) | THINK ) [ ]? \])
    | (?<![#]) [#]+ (?= [ ]? (?: instructions? | response | input | system | user | assistant
                          | human ) [ ]? :)
    | (?<= \bhuman) [ ]? : | (?<= \bassistant) [ ]? :
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Tags of our prompts and of other chat templates, as they stand in a text's skeleton."""
_HARMLESS = {"<": "‹", ">": "›", "[": "⟦", "#": "♯", ":": "∶"}
_FOLDED = {
    **dict.fromkeys("‹〈〈⟨⟪《≪˂ᐸ❮❰⦑⧼", "<"),
    **dict.fromkeys("›〉〉⟩⟫》≫˃ᐳ❯❱⦒⧽", ">"),
    **dict.fromkeys("【〔⟦⁅〖", "["),
    **dict.fromkeys("】〕⟧⁆〗", "]"),
    **dict.fromkeys("∣│ǀ❘❙❚┃", "|"),
    **dict.fromkeys("⁄∕⧸╱", "/"),
    **dict.fromkeys("∶ː꞉", ":"),
    **dict.fromkeys("▁‗", "_"),
    "♯": "#",
    **dict(zip("аеорсухіѕјһԁԛԝκνοτѵυαι", "aeopcyxisjhdqwkvotvuai", strict=True)),
    **dict(zip("АЕОРСУХІЅЈНКМТВ", "AEOPCYXISJHKMTB", strict=True)),
}
"""Look-alikes that compatibility normalisation leaves alone."""


def quoted(text: str) -> str:
    """Return `text` as a JSON string on one line that nothing in it can end."""
    return json.dumps(tamed(text), ensure_ascii=False)


def quoted_object(values: Mapping[str, str]) -> str:
    """Return `values` as a JSON object on one line; keys are ours, values are tamed."""
    return json.dumps({key: tamed(value) for key, value in values.items()}, ensure_ascii=False)


def tamed(text: str) -> str:
    """
    Return `text` on one line, without invisible characters, its would-be tags in other brackets.

    Comparisons (`p < 0.05`) and other markup (`<class 'int'>`) stay as they are.
    """
    line = " ".join(visible(text).split())
    skeleton, places = _skeleton(line)
    characters = list(line)
    for match in _CONTROL.finditer(skeleton):
        for at in range(match.start(), match.end()):
            if skeleton[at] in _HARMLESS:
                characters[places[at]] = _HARMLESS[skeleton[at]]
    return "".join(characters)


def _skeleton(line: str) -> tuple[str, Sequence[int]]:
    """
    Return `line` as a reader sees it, in plain characters, and the place of each in `line`.

    Joiners, variation selectors and combining marks are left out; compatible characters, brackets
    of other kinds and letters of other scripts that look alike are folded.
    """
    if line.isascii():
        return line, range(len(line))
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(line):
        if character in _JOINERS or unicodedata.category(character) in ("Mn", "Me"):
            continue
        for plain in unicodedata.normalize("NFKD", _FOLDED.get(character, character)):
            if unicodedata.category(plain) != "Mn":
                folded.append(_FOLDED.get(plain, plain))
                places.append(place)
    return "".join(folded), places


def visible(text: str) -> str:
    """Return `text` with controls as spaces, and without characters that nobody sees."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    """
    Return the character; a space for a control; nothing for a format character or a lone surrogate.
    """
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    if category in ("Cf", "Cs", "Co", "Cn") and character not in _JOINERS:
        return ""
    return character
