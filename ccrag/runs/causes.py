"""Group what went wrong by its cause, so that one cause is one line however often it came. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ccrag.text.truncate import shortened

PLACES_SHOWN = 3
MAX_MESSAGE_CHARS = 500
_VARYING = re.compile(
    r"'(?:[^'\\]|\\.)*'"  # quoted names, ids and texts
    r"|\"(?:[^\"\\]|\\.)*\""
    # Numbers and ids; the status of a reply stays. A run is looked at from its beginning alone.
    r"|(?<!HTTP )(?<![\w.:/#-])(?=[\w.:/#-]*\d)[\w.:/#-]+"
)
"""The parts that differ between two messages of one cause."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that went wrong, and where."""

    place: str
    """The id of the query, or file and line."""
    message: str
    kind: str = ""
    """The type of the error; two types are never one cause."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause that several troubles share."""

    message: str
    """That of the first of them."""
    places: tuple[str, ...]

    def line(self, noun: str) -> str:
        """Return one line: the message, and of several places how many and the first three."""
        told = shortened(self.message, max_chars=MAX_MESSAGE_CHARS)
        if len(self.places) == 1:
            place = self.places[0]
            # Unquoted within a message, `2` may be a count and `a` a word.
            named = repr(place) in told or _whole(place).match(told)
            return told if named else f"{place}: {told}"
        shown = ", ".join(self.places[:PLACES_SHOWN])
        more = ", …" if len(self.places) > PLACES_SHOWN else ""
        return f"{len(self.places):,} {noun} ({shown}{more}), the first: {told}"


def by_cause(troubles: Iterable[Trouble]) -> list[Cause]:
    """
    Return the causes, the most frequent first; equally frequent ones in the order they came.

    Two troubles have one cause when their kind is the same, and their messages are after quoted
    texts, numbers and ids are left out of them.
    """
    found: dict[tuple[str, str], list[Trouble]] = {}
    for trouble in troubles:
        found.setdefault((trouble.kind, _template(trouble)), []).append(trouble)
    causes = [Cause(same[0].message, tuple(t.place for t in same)) for same in found.values()]
    return sorted(causes, key=lambda cause: -len(cause.places))


def cause_lines(troubles: Iterable[Trouble], *, noun: str, verbose: bool = False) -> list[str]:
    """
    Return a line for each cause; with `verbose`, one for each trouble, in the order they came.

    Args:
        noun: what the places are, in the plural, e.g. `queries`.
    """
    if verbose:
        return [Cause(t.message, (t.place,)).line(noun) for t in troubles]
    return [cause.line(noun) for cause in by_cause(troubles)]


def _template(trouble: Trouble) -> str:
    return _whole(trouble.place).sub("…", _VARYING.sub("…", trouble.message))


def _whole(place: str) -> re.Pattern[str]:
    """Return the pattern of a place by itself: `127.0.0.1` and `10` do not name query `1`."""
    return re.compile(rf"(?<![\w./-]){re.escape(place)}(?![\w/-]|\.\w)")
