"""
Text to words and terms, the one tokenisation of all pure stages. No I/O, no settings.

It follows OpenSearch's standard tokenizer where that matters for a ranking: a hyphen parts words
(`rate-limited` is two), an apostrophe between letters does not (`patient's` is one, and the stemmer
takes the `'s`), a point or comma between digits does not (`3.5`, `1,200`), `_` belongs to the word
(`d_k`), and runs of Chinese, Japanese and Korean script become overlapping character bigrams, as
`cjk_bigram` makes them.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import snowballstemmer

from ccrag.types import WeightedText

CJK = (
    "\u1100-\u11ff\u3005\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Han, Hiragana, Katakana and Hangul, for use inside a character class."""

# `\w` leaves out combining marks, which carry the vowels of Hindi or Thai; joiners glue like marks.
_MARKS = "\u200c\u200d" + "".join(
    chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"
)
_INNER = r"(?<=[^\W\d_])'(?=[^\W\d_])|(?<=\d)[.,](?=\d)"
_WORD = re.compile(rf"\w[\w{_MARKS}]*(?:(?:{_INNER})[\w{_MARKS}]+)*")
_ASCII_INNER = r"(?<=[a-z])'(?=[a-z])|(?<=[0-9])[.,](?=[0-9])"
_ASCII_WORD = re.compile(rf"[a-z0-9_]+(?:(?:{_ASCII_INNER})[a-z0-9_]+)*")
_CJK_RUN = re.compile(rf"([{CJK}]+)")
_TYPOGRAPHY = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00ad": None})

_STOP_WORDS = """
    a an the this that these those such same some any each every either neither both all another
    other others much many more most less least few several enough no none not nor only own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one's oneself
    someone anyone everyone somebody anybody everybody nobody something anything everything nothing
    who whom whose which what when where why how whether whatever whichever whoever whenever
    wherever however
    and or but if then else so because as than though although while unless until since
    about above across after against along alongside amid among amongst around at before behind
    below beneath beside besides between beyond by despite down during except for from in inside
    into near of off on onto out outside over per regarding through throughout to toward towards
    under underneath up upon versus via vs with within without
    be am is are was were been being do does did doing done have has had having can could may might
    must shall should will would ought cannot
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't mightn't
    mustn't shan't shouldn't won't wouldn't i'm i've i'd i'll we're we've we'd we'll you're you've
    you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll they're they've they'd they'll
    that's there's here's what's who's where's when's why's how's let's
    here there thus hence therefore thereby therein wherein whereas whereby also too very quite
    rather just even still yet ever again further once already always often sometimes never almost
    perhaps maybe indeed instead otherwise eg ie etc
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English function words and question words; they neither search nor count as overlap."""


def normalise(text: str) -> str:
    """
    Return `text` in the one form in which texts are compared.

    NFKC and case-folded, apostrophes plain, soft hyphens gone, white space collapsed.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).translate(_TYPOGRAPHY).split())


def runs(text: str) -> list[str]:
    """Return the words of `text` in order, each run of CJK script whole (see `is_cjk`)."""
    if text.isascii():  # the same words, several times as fast
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for word in _WORD.findall(normalise(text)):
        if word.isascii():
            found.append(word)
        else:
            found.extend(run for run in _CJK_RUN.split(word) if run)
    return found


def is_cjk(run: str) -> bool:
    """Tell whether an item of `runs` is of Chinese, Japanese or Korean script."""
    return not run.isascii() and _CJK_RUN.match(run) is not None


@lru_cache(maxsize=8_192)
def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` in order, CJK runs as character bigrams (a lone one stays)."""
    if text.isascii():
        return tuple(runs(text))
    found: list[str] = []
    for run in runs(text):
        if is_cjk(run):
            last = max(1, len(run) - 1)  # a lone sign is a term of its own
            found.extend(run[at : at + 2] for at in range(last))
        else:
            found.append(run)
    return tuple(found)


@lru_cache(maxsize=8_192)
def terms(text: str) -> tuple[str, ...]:
    """Return the stems of the words that are not stop words, in order, with repetitions."""
    return tuple(stem(word) for word in words(text) if word not in STOP_WORDS)


@lru_cache(maxsize=8_192)  # of one query, several stages ask about the same texts
def term_set(text: str) -> frozenset[str]:
    """Return `terms` without order and repetitions."""
    return frozenset(terms(text))


def unique_terms(text: str) -> tuple[str, ...]:
    """Return each of `terms` once, in order of first occurrence."""
    return tuple(dict.fromkeys(terms(text)))


def budget_words(text: str) -> int:
    """
    Return how many words `text` counts against a budget.

    The larger of its runs between white space (what the shared tasks count) and its `words`: so a
    Chinese paragraph is not one word, and a formula is not none.
    """
    return max(len(text.split()), len(words(text)))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """
    Return the English Snowball stem of a normalised word, accents of Latin letters folded.

    `müller` and `muller` are one term, as for the index's `asciifolding`; other scripts stay.
    """
    folded = word if word.isascii() else _folded(word)
    # A stemmer object holds its state while it works, so threads must not share one.
    return str(snowballstemmer.stemmer("english").stemWord(folded))


def _folded(word: str) -> str:
    # A letter is folded to its base only where that is Latin: accents of other scripts stay.
    base = ""
    for character in word:
        first = unicodedata.normalize("NFD", character)[0]
        base += first if first.isascii() else character
    return base


def content_parts(parts: Sequence[WeightedText]) -> tuple[WeightedText, ...]:
    """Return `parts` without stop words and without parts of nothing else, or as they are."""
    others = (
        WeightedText(
            " ".join(word for word in runs(part.text) if word not in STOP_WORDS), part.weight
        )
        for part in parts
    )
    return tuple(part for part in others if part.text) or tuple(parts)
