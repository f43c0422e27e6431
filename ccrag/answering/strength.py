"""
Tell in words how well the evidence matches the question. Pure.

A first, plain form: which of the question's content words stand in the evidence, weighted by how
rare they are among the passages that were looked at, and, where an encoder compared them, how close
the evidence is. It does not say that an answer is right; it says when there is little to go by.
"""

from collections.abc import Sequence

from ccrag.retrieval.bm25 import idf
from ccrag.text.analysis import STOP_WORDS, stem, term_set, words
from ccrag.types import Strength

WEAK_BELOW = 0.25
"""Share of the question's content words, by idf, below which words alone call evidence weak."""
CLOSE_FROM = 0.4
"""Cosine of question and evidence from which it is not weak, whatever its words."""
COVERED_FROM = 0.6
"""Share of the words from which it is not weak either, where cosines are known."""
# Chosen by looking at questions over the example, LongEval's documents and the tests' short facts,
# each with its own documents and with others': docs/measured.md.


UNANSWERED = Strength("none", "the evidence does not answer the question", 0.0, ())
"""Stands for the evidence of an answer that abstains."""


def strength_of(
    question: str,
    evidence: Sequence[str],
    *,
    among: Sequence[str],
    closest: float | None = None,
) -> Strength:
    """
    Return how far `evidence` matches `question`, and why.

    Args:
        evidence: the texts that were chosen, with the headings they stand under; none: "none".
        among: the texts that idf is counted over.
        closest: best cosine of the question and a piece of evidence; None: nothing compares them.
    """
    asked: dict[str, str] = {}
    for word in words(question):
        if word not in STOP_WORDS:
            asked.setdefault(stem(word), word)
    if not evidence:
        looked = f"none was taken from the {len(among)} passages read"
        reason = looked if among else "no passage of the candidates was found"
        return Strength("none", f"no evidence: {reason}", 0.0, tuple(asked.values()))
    held = {stem(word) for text in evidence for word in words(text)}
    looked_at = [term_set(text) for text in among]
    weights = {term: idf(sum(term in found for found in looked_at), len(among)) for term in asked}
    total = sum(weights.values())
    covered = sum(weights[term] for term in asked if term in held) / total if total else 0.0
    missing = tuple(word for term, word in asked.items() if term not in held)
    return Strength(
        "weak" if _is_weak(covered, closest) else "strong",
        _reason(len(asked), missing, closest),
        covered,
        missing,
    )


def _is_weak(covered: float, closest: float | None) -> bool:
    if closest is None:
        return covered < WEAK_BELOW
    return closest < CLOSE_FROM and covered < COVERED_FROM


def _reason(asked: int, missing: Sequence[str], closest: float | None) -> str:
    reason = f"{asked - len(missing)} of {asked} content words of the question stand in it"
    if missing:
        reason += f", without {', '.join(map(repr, missing))}"
    return reason if closest is None else f"{reason}; closest sentence at cosine {closest:.2f}"
