"""Years in texts and dates, and the words that ask for what is new. Pure."""

import re
import unicodedata

from ccrag.text.analysis import CJK, stem

FIRST_YEAR, LAST_YEAR = 1500, 2100
"""Numbers outside are not taken for years."""

RECENCY = frozenset(
    map(stem, ("recent", "recently", "latest", "newest", "current", "currently", "nowadays"))
)
"""Stems, one of which in a query asks for what is new."""

_YEAR = re.compile(
    rf"""
    (?<![^\W{CJK}])         # no digit or letter before: not in "120195", "v2019"; "在2019年" is one
    (?<!\#)(?<!\d[.:])      # nor in "#2019", "0.2019", "12:1650"
    (?P<year>1[5-9]\d\d|20\d\d|2100)
    (?:'?s)?                # "1990s"
    (?![^\W{CJK}])
    (?!\.\d|,\d{{3}}(?!\d)) # nor in "2019.5", "1999,000"
    (?!-(?!1[5-9]|20)\d{{3}}[\dX](?!\w))  # nor in an ISSN, "1932-6203"; "2010-2015" are two
    """,
    re.VERBOSE | re.IGNORECASE,
)


def years_in(text: str) -> tuple[int, ...]:
    """Return the distinct years that `text` mentions, whole numbers 1500 to 2100, in order."""
    found = _YEAR.finditer(unicodedata.normalize("NFKC", text))
    return tuple(dict.fromkeys(int(match["year"]) for match in found))


def year_of(date: str | None) -> int | None:
    """Return the year a date starts with; None without a date or outside 1500 to 2100."""
    if date is None or not date[:4].isdecimal():
        return None
    year = int(date[:4])
    return year if FIRST_YEAR <= year <= LAST_YEAR else None
