"""
Read JSON as models write it, with the slips that can be mended without guessing. Pure.

Mended are raw line breaks and stray backslashes in strings, a comma too many, quotes of another
kind, comments and Python's names of constants. Nothing is added: what is cut off, or lacks a quote
or a comma, is no JSON.
"""

import json
import re
from typing import Any, NamedTuple

MAX_DEPTH = 100
WORK_PER_CHARACTER = 8
"""Characters that may be read in vain for each character of a text, all attempts together."""
MIN_WORK = 10_000
WORK_PER_ATTEMPT = 32
CHARACTERS_COUNTED_AS_ONE = 64

_TOKEN = re.compile(
    r"""
      (?P<blank> \s+ )
    | (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<string> "[^"\\]*(?:\\.[^"\\]*)*" )
    | (?P<single> '[^'\\]*(?:\\.[^'\\]*)*' )
    | (?P<curly> “[^“”\\]*(?:\\.[^“”\\]*)*” )
    | (?P<word> (?: -?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?
                  | true | false | null | True | False | None ) (?![\w.]) )
    | (?P<mark> [\[\]{},:] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"""\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\(?P<other>.)|(?P<quote>")""", re.DOTALL
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_CLOSERS = {"]": "[", "}": "{"}
_LINE_BREAKS = "raw line breaks or tabs in strings"


class ReadJson(NamedTuple):
    """A JSON object or list that stands in a text."""

    value: Any
    end: int
    """Where it ends in the text."""
    repairs: tuple[str, ...]


class JsonReader:
    """
    Reads objects and lists that begin at given places of one text, in linear time overall.

    Attempts that fail cost work, and there is a limit to it: past that nothing more is found. No
    text that is meant to be read comes near it.
    """

    def __init__(self, text: str) -> None:
        """Take the text."""
        self._text = text
        self._work = WORK_PER_CHARACTER * len(text) + MIN_WORK
        self._repairs: dict[str, None] = {}

    def read(self, start: int) -> ReadJson | None:
        """Return the value that begins at `start`; None when there is no whole one."""
        if self._work <= 0:
            return None
        self._work -= WORK_PER_ATTEMPT
        self._repairs = {}
        decoder = json.JSONDecoder(object_pairs_hook=self._object)
        try:
            value, end = decoder.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            reached = len(self._text) if error.msg.startswith("Unterminated") else error.pos
            # Python counts the lines before an error, so one far down a text costs more.
            self._work -= reached - start + error.pos // CHARACTERS_COUNTED_AS_ONE
            return self._read_leniently(start)
        except ValueError:  # a number of more digits than Python reads
            self._work -= len(self._text) - start
            return None
        except RecursionError:  # brackets by the thousand: nothing a reader would call an answer
            self._work = 0
            return None
        self._work += WORK_PER_ATTEMPT
        return ReadJson(value, end, tuple(self._repairs))

    def _read_leniently(self, start: int) -> ReadJson | None:
        self._repairs = {}
        mended: list[str] = []
        opened: list[str] = []
        at = start
        while (token := _TOKEN.match(self._text, at)) is not None:
            at = token.end()
            mark = token["mark"]
            if mark in _CLOSERS:
                if not opened or opened.pop() != _CLOSERS[mark]:
                    break
                self._take_back_comma(mended)
            elif mark in ("[", "{"):
                opened.append(mark)
            mended += self._mended(token)
            if not opened:
                return self._decoded("".join(mended), at)
            if len(opened) > MAX_DEPTH:
                break
        else:
            if self._text[at : at + 1] in ('"', "'", "“", "/"):  # its end was searched for in vain
                at = len(self._text)
        self._work -= at - start
        return None

    def _decoded(self, mended: str, end: int) -> ReadJson | None:
        decoder = json.JSONDecoder(strict=False, object_pairs_hook=self._object)
        try:
            return ReadJson(decoder.decode(mended), end, tuple(self._repairs))
        except (ValueError, RecursionError):
            self._work -= len(mended)
            return None

    def _mended(self, token: re.Match[str]) -> list[str]:
        """Return what strict JSON has in place of `token`, if anything."""
        text = token[0]
        match token.lastgroup:
            case "blank":
                return []
            case "comment":
                self._tell("comments")
                return []
            case "word":
                if text in _CONSTANTS:
                    self._tell("Python's True, False or None")
                return [_CONSTANTS.get(text, text)]
            case "mark":
                return [text]
            case _:
                return [self._string(text)]

    def _take_back_comma(self, before: list[str]) -> None:
        """Take back the comma that a closing bracket follows."""
        if before[-1] == "," and before[-2] not in ("[", "{", ",", ":"):
            before.pop()
            self._tell("a comma too many")

    def _string(self, quoted: str) -> str:
        if quoted[0] == "'":
            self._tell("single quotes")
        elif quoted[0] == "“":
            self._tell("typographic quotes")
        content = _ESCAPE.sub(self._escape, quoted[1:-1])
        if _CONTROL.search(content):
            self._tell(_LINE_BREAKS)
        return f'"{content}"'

    def _escape(self, found: re.Match[str]) -> str:
        """Return an escape that JSON knows for one that it does not, or for a bare quote."""
        if found["quote"]:
            return '\\"'
        if found["other"] is None:
            return found[0]
        if found["other"] == "'":
            return "'"
        self._tell("backslashes that escape nothing")
        return "\\\\" + found["other"]

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            self._tell("a key that stands twice, of which the last counts")
        return made

    def _tell(self, repair: str) -> None:
        self._repairs[f"mended in the JSON: {repair}"] = None
