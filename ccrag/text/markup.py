"""
Text as it is searched: mark-up gone, symbols in one spelling. Pure.

`$d_{\\mathrm{model}}$`, `d _ {model}`, `d_model` and the `dmodel` of an extracted table are one
symbol, `β1` and `\\beta_{1}` another; "Table 3" is a word of its own, not a table and some 3.
Passages and queries go through the same function, so that what is spelt alike after it is found.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from ccrag.text.analysis import content_parts
from ccrag.types import JSON, Passage, SectionPath, WeightedText

PLAIN_VERSION = 1
"""Part of an index's fingerprint: raise it when the same passage would be found by other words."""

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_TABLE_RULE = re.compile(r"^[|+:=\- ]{3,}$", re.MULTILINE)
_NUMBERED_FORMULA = re.compile(r"\\tag\s*\{(\w+)\}")
_STYLE = re.compile(
    r"\\(?:math(?:rm|bf|bb|cal|it|sf|tt|frak)|text(?:rm|bf|it|tt|sf)?|emph|operatorname|left|right"
    r"|q?quad|displaystyle|limits|nolimits|[,;:!> ])\*?"
)
_MACRO = re.compile(r"\\([A-Za-z]+)")
_SPACED_LETTERS = re.compile(r"(?<![^\W_])(?:[A-Za-z0-9] ){2,}[A-Za-z0-9](?![^\W_])")
_SCRIPT = re.compile(r"(?:(?<![\s}])[\s}]+)?([_^])[\s{]*(?=[\w*+-])")
_MATH_MARKS = re.compile(r"[{}$\\]")
_TEXT_MARKS = re.compile(r"\*\*|`+")
_SPACE = re.compile(r"\s+")
_SYMBOL = re.compile(r"(?<![^\W_])[A-Za-z][A-Za-z0-9]*(?:(?:[_^]-?[A-Za-z0-9]+)+|\d+)(?![^\W_])")
_NUMBERED = re.compile(
    r"\b(table|tab|figure|fig|section|sec|equation|eqn?|rows?|layer|appendix|algorithm|listing"
    r"|theorem|lemma|chapter)s?\.?[ ~\u00a0]?\(?(\d+(?:\.\d+)*|[A-Z])\)?(?!\w)",
    re.IGNORECASE,
)
_CHINESE_NUMBERED = re.compile(r"(表格?|图|圖|公式|式|第)\s*[(（]?(\d+(?:\.\d+)*)[)）]?\s*(节|章)?")
_NEGATED = re.compile(
    r"\b(?:not|no|never|without|cannot|neither|nor|(?:ca|wo|do|does|did|is|are|was|were|has|have)n['’]t)"
    r"\s+(?:any\s+|the\s+|an?\s+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_ONE_NAME = {
    "tab": "table",
    "fig": "figure",
    "sec": "section",
    "eq": "equation",
    "eqn": "equation",
    "rows": "row",
    "表": "table",
    "表格": "table",
    "图": "figure",
    "圖": "figure",
    "公式": "equation",
    "式": "equation",
    "第": "section",
}
_ASKING_CHINESE = re.compile(
    "为什么|為什麼|什么|什麼|怎么样|怎么|怎樣|怎样|如何|多少|哪里|哪些|哪个|哪一|哪|是谁|谁|是否|有没有"
    "|能否|分别|分別|各是|请问|[吗呢的了是把被用在和与]"
)
OPENING_CHARS = 200
"""So much of a section's beginning stands for it in the outline."""
_MIN_PART = 3
"""A part of a symbol is a word of its own from this length: `warmup_steps`, not `d_k`."""


def plain(text: str) -> str:
    """
    Return `text` without the mark-up of Markdown, HTML and LaTeX, white space collapsed.

    Greek letters are spelt out, sub- and superscripts are `_` and `^` without braces or blanks,
    letters that extraction set apart (`s o f t m a x`) are a word again.
    """
    text = unicodedata.normalize("NFKC", _IMAGE.sub(r"\1", text))
    text = _TABLE_RULE.sub(" ", html.unescape(_TAG.sub(" ", text)))
    if "\\" in text:
        text = _NUMBERED_FORMULA.sub(r" equation \1 ", text)
        text = _MACRO.sub(r" \1 ", _STYLE.sub("", text))
    text = _SPACED_LETTERS.sub(lambda spaced: spaced[0].replace(" ", ""), _greek(text))
    text = _TEXT_MARKS.sub("", _MATH_MARKS.sub(" ", _SCRIPT.sub(r"\1", text)))
    return _SPACE.sub(" ", text).strip()


def searched(text: str) -> str:
    """
    Return `plain(text)`, with what only means something together once more as one word.

    That is a symbol (`dk`), a numbered thing (`table3`), and a word with its negation
    (`notcounted`), which stop words would lose.
    """
    bare = plain(text)
    return " ".join((bare, *_joined(bare)))


def own_text(passage: Passage) -> str:
    """Return a passage's text as it stands."""
    return passage.text


def search_text(section: Sequence[str], text: str) -> str:
    """
    Return what a passage is encoded and read by a model as: its headings, then its plain words.
    """
    return f"{' > '.join(map(plain, section))}\n{plain(text)}" if section else plain(text)


def passage_search_text(passage: Passage) -> str:
    """Return `search_text` of a passage."""
    return search_text(passage.section, passage.text)


def text_of_passages(*, is_plain: bool) -> Callable[[Passage], str]:
    """
    Return what models read of a passage: in plain form under its headings, or its text as it
    stands.
    """
    return passage_search_text if is_plain else own_text


def passage_searched(passage: Passage) -> str:
    """Return what BM25 searches of a passage: its headings and its text, `searched`."""
    return searched(_under(passage.section, passage.text))


def searched_fields(passages: Sequence[Passage]) -> list[JSON]:
    """
    Return what a document's passages are found by, one object each.

    `searched`: headings and text. `outline`: headings and how the section begins, the same for all
    passages of a section.
    """
    opening: dict[SectionPath, str] = {}
    for passage in passages:
        opening.setdefault(passage.section, passage.text[:OPENING_CHARS])
    return [
        {
            "searched": passage_searched(passage),
            "outline": searched(_under(passage.section, opening[passage.section])),
        }
        for passage in passages
    ]


def query_parts(parts: Sequence[WeightedText]) -> tuple[WeightedText, ...]:
    """
    Return what is searched for of a question: `searched`, without the words that only ask.

    A question of nothing else is searched as it is.
    """
    # "Table 2" is searched as `table2`, without a 2, which is in many other texts too.
    asked = (WeightedText(_asked(text), weight) for text, weight in parts)
    return content_parts(tuple(asked)) if any(text.strip() for text, _ in parts) else tuple(parts)


def _asked(text: str) -> str:
    """Return a query's words without those that only ask, and its numbered names as one word."""
    text = _ASKING_CHINESE.sub(" ", text)
    bare = plain(text)
    named = _CHINESE_NUMBERED.sub(" ", _NUMBERED.sub(r" \1 ", bare))
    return " ".join((named, *_joined(bare)))


def _under(section: SectionPath, text: str) -> str:
    return "\n".join((*section, text))


def _greek(text: str) -> str:
    if text.isascii():
        return text
    return "".join(_letter_name(c) if "\u0370" <= c <= "\u03ff" else c for c in text)


def _letter_name(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return name.rsplit(" ", 1)[-1].lower() if " LETTER " in name else letter


def _joined(bare: str) -> Iterator[str]:
    for symbol in _SYMBOL.finditer(bare):
        parts = re.split(r"[_^-]+", symbol[0])
        yield "".join(parts).lower()
        if len(parts) > 1:
            yield from (part for part in parts if len(part) >= _MIN_PART)
    for negated in _NEGATED.finditer(bare):
        yield f"not{negated[1].lower()}"
    for found in (*_NUMBERED.finditer(bare), *_CHINESE_NUMBERED.finditer(bare)):
        name = found[1].lower()
        yield _ONE_NAME.get(name, name) + found[2].lower()
