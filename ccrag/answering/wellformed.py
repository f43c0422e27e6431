"""
Find defects of form that make a sentence bad in an answer. Pure rules over its text.

Extracted papers are full of captions, reference entries, page furniture and halves of sentences;
each rule names one such kind, and `COSTS` says how much it weighs against a sentence. They look at
form, not at content or at any one collection: a sentence about copyright, or one with an address,
is a sentence. Nothing here leaves a sentence out; `merit` says what a defect does.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ccrag.text.analysis import words

Defect = Literal[
    "short",
    "long",
    "no verb",
    "noise",
    "page break",
    "table",
    "opening",
    "ending",
    "question",
    "brackets",
    "letters",
    "capitals",
    "caption",
    "numbered",
    "reference",
    "notice",
    "address",
    "joined",
]

MIN_LETTERS = 0.6
"""Share of the visible characters; below, it is a table row or a formula."""

MAX_CAPITALS = 0.5
"""Share of the cased letters; above, it is a heading."""

_OPENING_MARKS = "\"'“‘«„‚「『《(["
_CLOSING_MARKS = "\"'”’»」』》)]"
_FINAL = ".!?…。！？｡۔।"
_QUESTION = "?？؟"
_PAIRS = ("()", "[]", "{}", "（）", "【】", "「」", "『』", "《》", "“”")

_ABBREVIATED_END = re.compile(
    r"\b(?:et al|e\.g|i\.e|cf|vs|figs?|eqs?|refs?|no|vol|pp?|ed|eds|dr|prof|approx|resp)\.$",
    re.IGNORECASE,
)
_OPEN_LIST_END = re.compile(r"[:;]\s+\(?(?:\d{1,2}|[a-z])[.)]+$")  # "... the following: 1."
_PAGE_BREAK = re.compile(r"(?<=\n)[^\S\n]*\d{1,4}[^\S\n]*(?=\n)|\f")
_CAPTION = re.compile(
    r"(?:(?:supplementary|extended data|suppl?\.?)\s+)?"
    r"(?:fig(?:ure|s|ures)?|tab(?:le|s|les)?|scheme|box|chart|plate|panel|algorithm|listing)"
    r"\.?\s*[A-Z]?\d+[\w.-]*\s*(?:[|:.–—-]|(?-i:[A-Z]))",  # "Figure 2 shows ..." is a statement
    re.IGNORECASE,
)
# Numbered clauses, "5. The tenant shall ..." or "(2) The ...", are sentences; these are not:
_NUMBERED = re.compile(
    r"\[\s*\d|\(\d+\s*[-–,;]"  # "[44] Title", "(32-36) Given that ...": citations left over
    r"|\d+\s+\d+\s"  # "243  244 Acknowledgement ...": line numbers
    r"|\d+(?:\.\s?\d+)+\.?\s+[A-Z][\w-]*\s+(?:and|of|in|for|[A-Z])"  # "2.1 Prior Work We ..."
)
_REFERENCE = re.compile(
    r"\bdoi\b|\barxiv\s*:|\bissn\b|\bretrieved from\b"
    r"|\b(?:19|20)\d\d\s*;\s*\d"  # "2017;54(4):211"
    r"|\b\d+\s?\(\d+\)\s?:\s?\d"  # "3 (2): 222"
    r"|\b\d{1,4}:\s?\d+[-–]\d+(?![\d:])"  # "33: 103-22", but not "10:30-11:00"
    r"|\bvol(?:ume)?\.?\s*\d+\s*,?\s*(?:no|issue|iss)\b"  # "Vol. 7, No. 1"
    r"|\bpp\.\s*\d+\s*[-–]\s*\d|\(eds?\.\)|^in(?::\s|\sproc(?:\b|eedings\b))"
    # "Miller A, Jones BC, ...", then "Miller, A. B., ..." and "3 Miller, A. Title ..."
    r"|^(?:\d+\.?\s+)?(?-i:(?:[A-Z][\w'’-]+ [A-Z]{1,3}[,.]\s?){2,})"
    r"|^(?:\d+\.?\s+)?(?-i:[A-Z][\w'’-]+, (?:[A-Z]\.[\s-]?)+(?:\W|[A-Z]|and\b|et\b))",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?:|www\.|\S@\S+\.\w", re.IGNORECASE)
# Forms that a notice has, not words that also a sentence about rights would have:
_NOTICE = re.compile(
    r"©|\bcopyright (?:\(c\)|\d{4})|\ball rights reserved\b|\bopen[- ]access article\b"
    r"|\bdownloaded from\b|\baccepted manuscript\b|\bto cite this\b"
    r"|\b(?:no|any) (?:potential )?conflicts? of interest\b|\bcompeting interests?\b"
    r"|\bincorporated by reference\b"
    r"|\bcorresponding author\b|\bauthor affiliations?\b|\bsupplementary materials?\b"
    r"|^conflicts? of interest\b"
    r"|(?-i:\bKeywords?:|\bKEYWORDS?\b|\b(?:Received|Accepted):? \d{0,2} ?[A-Z][a-z]+ \d{4})",
    re.IGNORECASE,
)
_TABLE = re.compile(
    r"\s\|\s|•"
    r"|\d\.\d{2,}\.\d"  # "1.751.50": cells run together
    r"|(?<![\d.,])\b\d{1,3}\s+\d{1,3}\s+[^\W\d]"  # "... of conflict 1  2  Policy agenda ..."
)
_SYMBOL = re.compile(r"\w-\w|\w*[\dA-Z_]")  # "p53 is ...", "mRNA ...", "α-synuclein ..."
_JOINED = re.compile(
    r"[a-z)\]]{2}[.?!][A-Z][a-z]"  # "... was high.In the ..."
    r"|[a-z]{3}\.\d+(?:[,–-]\d+)*\s[A-Z]"  # "... remain.10,11 Many ..."
    r"|[A-Z]{8}[a-z]"  # "INTRODUCTIONIn ..."
    r"|[a-z]{3}\d+(?:\.\d+)+\.?\s[A-Z]"  # "Overview2.1 Definition ..."
    r"|[a-z]{3}(?:The|This|These|In|We|Our|For|It|As|To|An|Although|However)\b"  # "ResultsThe ..."
)

_PREDICATE_WORDS = """
    am is are was were be been has have had do does did can could may might must shall should will
    would cannot we they it i you that which who because if when allow allows apply applies arise
    arises become becomes began begin begins bring brings cause causes contain contains consist
    consists depend depends enable enables ensure ensures give gives gave get gets go goes hold
    holds include includes indicate indicates involve involves keep keeps lead leads led let lets
    make makes made mean means meant need needs occur occurs pose poses provide provides reduce
    reduces remain remains require requires result results say says said seek seeks seem seems
    seen show shows shown suggest suggests support supports take takes took tend tends use uses
    vary varies work works
"""
_PREDICATES = frozenset(_PREDICATE_WORDS.split())
_VERB_BEFORE_OBJECT = re.compile(
    r"\b[a-z]+[^suia\W]s (?:the|an?|this|these|its|their|our|his|her|all|both|each|every|no|that)\b"
)


@dataclass(frozen=True, slots=True)
class Habits:
    """Hold the limits of length, and what the sentences around one have in common."""

    min_words: int
    """Below, a sentence is short."""
    max_words: int | None = None
    """Above, it is long; None: never."""
    cased: bool = True
    """Says whether the texts use capitals; if not, a small letter may open a sentence."""
    verbs: bool = True
    """Says whether most of them show a sign of a verb (see `has_predicate`), as English does."""


def habits_of(texts: Sequence[str], *, min_words: int, max_words: int | None) -> Habits:
    """Return the limits with what `texts`, the sentences that stand side by side, have."""
    with_verbs = sum(map(has_predicate, texts))
    return Habits(min_words, max_words, has_capitals(texts), 2 * with_verbs > len(texts))


@lru_cache(maxsize=8_192)
def defects(text: str, habits: Habits) -> tuple[Defect, ...]:
    """Return what speaks against `text` as a sentence of an answer; nothing: ()."""
    return tuple(_defects(text.strip(), habits))


def has_capitals(texts: Iterable[str]) -> bool:
    """Tell whether any of `texts` holds a capital letter."""
    return any(character.isupper() for text in texts for character in text)


def _defects(text: str, habits: Habits) -> Iterator[Defect]:
    count = len(words(text))
    if count < habits.min_words:
        yield "short"
    if habits.max_words is not None and count > habits.max_words:
        yield "long"
    titles_told = habits.verbs and count >= habits.min_words  # a short one is held back already
    looked_at: dict[Defect, bool] = {"opening": habits.cased, "no verb": titles_told}
    for name, applies in _RULES.items():
        if looked_at.get(name, True) and applies(text):
            yield name


def has_predicate(text: str) -> bool:
    """
    Tell whether an English sentence shows a sign of a verb: titles and captions mostly do not.

    A sign is an auxiliary, a personal or relative pronoun, a frequent verb, a word in `-ed`, or one
    in `-s` before a determiner ("melts the"). It is a hint for ordering: a rare verb may show no
    sign, nor does another language.
    """
    found = words(text)
    return (
        any(w in _PREDICATES or (len(w) > 4 and w.endswith("ed")) for w in found)
        or _VERB_BEFORE_OBJECT.search(text) is not None
    )


def _is_noisy(text: str) -> bool:
    """Control, private-use and replacement characters are failed glyphs."""
    visible = "".join(text.split())
    if visible.isprintable():  # nearly always, and quick
        return "\ufffd" in visible
    return "\ufffd" in visible or any(
        unicodedata.category(c) in ("Cc", "Co", "Cn") for c in visible
    )


def _opens_badly(text: str) -> bool:
    """Tell whether a text begins with a mark, or with a lower-case letter."""
    start = text.lstrip(_OPENING_MARKS)
    return not start[:1].isalnum() or (start[0].islower() and not _SYMBOL.match(start))


def _ends_badly(text: str) -> bool:
    return (
        text.rstrip(_CLOSING_MARKS)[-1:] not in tuple(_FINAL)
        or _ABBREVIATED_END.search(text) is not None
        or _OPEN_LIST_END.search(text) is not None
    )


def _asks(text: str) -> bool:
    return text.rstrip(_CLOSING_MARKS)[-1:] in tuple(_QUESTION)


def _is_unbalanced(text: str) -> bool:
    return any(text.count(pair[0]) != text.count(pair[1]) for pair in _PAIRS)


def _lacks_letters(text: str) -> bool:
    visible = "".join(text.split())
    letters = sum(map(str.isalpha, visible))
    if not text.isascii():  # combining marks carry the vowels of some scripts
        letters += sum(unicodedata.category(c)[0] == "M" for c in visible)
    return letters < MIN_LETTERS * len(visible)


def _is_heading(text: str) -> bool:
    capitals, small = sum(map(str.isupper, text)), sum(map(str.islower, text))
    return capitals > MAX_CAPITALS * (capitals + small)


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.match(text) is not None


def _holds(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.search(text) is not None


_RULES: dict[Defect, Callable[[str], bool]] = {
    "no verb": lambda text: not has_predicate(text),
    "noise": _is_noisy,
    "page break": _holds(_PAGE_BREAK),
    "numbered": _matches(_NUMBERED),
    "table": _holds(_TABLE),
    "opening": _opens_badly,
    "question": _asks,
    "ending": _ends_badly,
    "brackets": _is_unbalanced,
    "letters": _lacks_letters,
    "capitals": _is_heading,
    "caption": _matches(_CAPTION),
    "reference": _holds(_REFERENCE),
    "notice": _holds(_NOTICE),
    "address": _holds(_ADDRESS),
    "joined": _holds(_JOINED),
}

_SLIGHT, _EDGE, _HEAVY, _NOT_A_STATEMENT = 0.15, 0.4, 0.6, 0.7

COSTS: dict[Defect, float] = {
    "short": _SLIGHT,
    "long": _EDGE,
    "no verb": _SLIGHT,
    "address": _SLIGHT,
    "opening": _EDGE,
    "ending": _EDGE,
    "brackets": _EDGE,
    "joined": _EDGE,
    "letters": _EDGE,
    "capitals": _HEAVY,
    "caption": _HEAVY,
    "numbered": _HEAVY,
    "reference": _HEAVY,
    "notice": _HEAVY,
    "noise": _HEAVY,
    "page break": _HEAVY,
    "table": _HEAVY,
    "question": _NOT_A_STATEMENT,
}
"""
The share of a sentence's relevance that each defect costs.

Slight: what any true sentence may have. Edge: what a sentence has that was split in a wrong place,
or joined with others. Heavy: what is mostly no sentence. A question says nothing, and holds all the
words that are asked for.
"""
