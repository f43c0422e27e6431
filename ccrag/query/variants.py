"""Variants of a query that get a ranked list of their own. Pure."""

from collections.abc import Collection, Sequence
from typing import Literal, get_args

from ccrag.text.analysis import STOP_WORDS, is_cjk, runs, stem, unique_terms
from ccrag.text.dates import RECENCY, years_in
from ccrag.types import Variant

VariantName = Literal["original", "keywords", "temporal", "method"]
VARIANT_NAMES: frozenset[str] = frozenset(get_args(VariantName))

MIN_CJK_CHARS = 2
"""A run of Chinese, Japanese or Korean script is a keyword from this length."""

TEMPORAL_EXPANSION = ("recent", "trend", "change", "evolution", "history")
"""Appended to the keywords when the query asks about time."""

METHOD_EXPANSION = ("method", "approach", "model", "algorithm", "technique")
"""Appended to the keywords when the query asks how something is done."""

TEMPORAL_INTENT = RECENCY | frozenset(
    map(
        stem,
        (
            *("trend", "evolution", "evolve", "change", "history", "historical", "historically"),
            *("timeline", "chronology", "decade", "century", "longitudinal"),
        ),
    )
)
"""Stems, one of which in a query is temporal intent; a year is, too."""

METHOD_INTENT = frozenset(
    map(
        stem,
        (
            *("method", "methodology", "approach", "model", "algorithm", "technique"),
            *("framework", "procedure", "protocol", "pipeline", "architecture", "implementation"),
        ),
    )
)
"""Stems, one of which in a query is method intent."""


def keywords(text: str, *, max_keywords: int, min_chars: int) -> tuple[str, ...]:
    """
    Return the first `max_keywords` distinct content words of `text`, in query order.

    Normalised as in `analysis`. Stop words and words shorter than `min_chars` are left out; a run
    of CJK script is one keyword from `MIN_CJK_CHARS` characters. No content words: ().
    """
    found = (run for run in runs(text) if _is_keyword(run, min_chars))
    return tuple(dict.fromkeys(found))[:max_keywords]


def make_variants(
    text: str, *, use: Collection[str], max_keywords: int, min_chars: int
) -> tuple[Variant, ...]:
    """
    Return the variants of `text` that `use` asks for: original, keywords, temporal, method.

    Always in this order, whatever the order of `use`; its other names are not looked at.
    `temporal` and `method` exist only for a query with that intent; they are the keywords followed
    by the expansion words that are not among them. Variants with the same words in the same order
    are one variant, the first.

    When none of those that `use` asks for applies (no keywords), the original stands in.
    """
    found = keywords(text, max_keywords=max_keywords, min_chars=min_chars)
    variants: dict[VariantName, str] = {"original": text, "keywords": " ".join(found)}
    if found and has_temporal_intent(text):
        variants["temporal"] = _expanded(found, TEMPORAL_EXPANSION)
    if found and not METHOD_INTENT.isdisjoint(unique_terms(text)):
        variants["method"] = _expanded(found, METHOD_EXPANSION)
    distinct: dict[tuple[str, ...], Variant] = {}
    for name, variant in variants.items():
        if name in use and (found or name == "original"):
            distinct.setdefault(tuple(runs(variant)), Variant(name, variant))
    if not distinct and not VARIANT_NAMES.isdisjoint(use):
        return (Variant("original", text),)
    return tuple(distinct.values())


def has_temporal_intent(text: str) -> bool:
    """Tell whether `text` holds a word of `TEMPORAL_INTENT`, in any inflection, or a year."""
    return bool(years_in(text)) or not TEMPORAL_INTENT.isdisjoint(unique_terms(text))


def _is_keyword(run: str, min_chars: int) -> bool:
    if is_cjk(run):
        return len(run) >= MIN_CJK_CHARS
    return len(run) >= min_chars and run not in STOP_WORDS


def _expanded(found: Sequence[str], expansion: Sequence[str]) -> str:
    present = set(map(stem, found))
    return " ".join([*found, *(word for word in expansion if stem(word) not in present)])
