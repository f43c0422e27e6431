"""
Judge whether a claim is supported by its evidence: a probability, a verdict and its reason. Pure.

Learnt weights make a probability of the features (`support_features`); where the claim follows a
sentence of the evidence nearly word by word and differs in a number, a date, a unit, a comparison,
a name or a denial (`disagreement`), it is not supported, whatever else it shares.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Literal, NamedTuple

from ccrag.answering.calibration import Weight
from ccrag.answering.disagreement import Disagreement, disagreements, is_number, value_set
from ccrag.answering.support_features import Compared, compare, features
from ccrag.answering.support_text import words_of

Judgement = Literal["supported", "partly", "unsupported"]
SUPPORTED_FROM, PARTLY_FROM = 0.55, 0.3
"""Probabilities: from .55 on a fifth of unsupported claims pass, a third of supported ones fail."""
HALF = 0.5
"""The probability of a claim of which a whole clause is missing, at most: partly supported."""
MISSING_CLAUSE, CLAUSE_TERMS = 0.3, 4
"""A clause of so many content terms is missing where less than that share is in the evidence."""
_CLAUSE = re.compile(
    r"[,;](?: and| but| while| whereas)? |(?<=\w) and (?=the |it |he |she |they |this )"
)
DISAGREES = 0.05
"""The probability of a claim that its evidence contradicts, at most."""
MAX_MISSING = 6
"""Words that a reason names at most."""


class SupportSpan(NamedTuple):
    """Where support lies: `evidence[text_index][start:end]`."""

    text_index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """Weights of the features, learnt from claims that people judged."""

    weights: Mapping[str, Weight]
    intercept: float
    figures: Mapping[str, Any]
    """Figures on claims held back, for people to read."""

    def probability(self, found: Mapping[str, float]) -> float:
        """Return the probability that a claim with these features is supported."""
        total = self.intercept + sum(
            weight.coefficient * (found[name] - weight.mean) / weight.scale
            for name, weight in self.weights.items()
        )
        return 1 / (1 + exp(-total))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one claim."""

    verdict: Judgement
    probability: float
    """The probability that the evidence supports the claim."""
    reason: str
    spans: tuple[SupportSpan, ...]
    """The best sentence of the evidence, and what contradicts the claim."""
    disagreements: tuple[Disagreement, ...] = ()


def judge(
    claim: str, evidence: Sequence[str], weights: SupportWeights, *, question: str | None = None
) -> Verdict:
    """
    Return the verdict on `claim`; the order of the evidence texts does not matter.

    Args:
        question: the question that the claim answers, if known: its words prove nothing.
    """
    compared = compare(claim, evidence)
    if not compared.words:
        return Verdict("unsupported", 0.0, "the claim holds no words", ())
    if compared.best is None:
        return Verdict("unsupported", 0.0, "there is no evidence", ())
    probability = weights.probability(features(compared, question))
    against = disagreements(compared.words, compared.best)
    missing = _missing_clause(claim, compared)
    if missing is not None:
        probability = min(probability, HALF)
    if against:
        probability = min(probability, DISAGREES)
    best = compared.best
    spans = dict.fromkeys(
        [
            SupportSpan(best.text_index, best.start, best.end),
            *(SupportSpan(d.text_index, d.start, d.end) for d in against),
        ]
    )
    return Verdict(
        verdict_of(probability),
        round(probability, 4),
        _reason(compared, against, missing),
        tuple(spans),
        against,
    )


def verdict_of(probability: float) -> Judgement:
    """Return the verdict that a probability stands for."""
    if probability >= SUPPORTED_FROM:
        return "supported"
    return "partly" if probability >= PARTLY_FROM else "unsupported"


def _missing_clause(claim: str, compared: Compared) -> str | None:
    """Return the first clause of a claim of several that the evidence does not speak of."""
    clauses = [part for part in _CLAUSE.split(claim) if part.strip()]
    if len(clauses) < 2:
        return None
    held = frozenset[str]().union(*(clause.stems for clause in compared.clauses))
    for part in clauses:
        stems = {word.stem for word in words_of(part) if word.is_content}
        if len(stems) >= CLAUSE_TERMS and len(stems & held) < MISSING_CLAUSE * len(stems):
            return part.strip(" .")
    return None


def _reason(compared: Compared, against: Sequence[Disagreement], missing: str | None) -> str:
    """Say in words what speaks against the claim, or that its words stand in the evidence."""
    if against:
        return "; ".join(map(_said, against))
    if missing is not None:
        return f"not in the evidence: {missing!r}"
    held = frozenset[str]().union(*(clause.stems for clause in compared.clauses))
    values = value_set(w for clause in compared.clauses for w in clause.words if is_number(w))
    numbers = [w.text for w in compared.words if is_number(w) and value_set([w]).isdisjoint(values)]
    words = dict.fromkeys(
        w.text for w in compared.words if w.is_content and not is_number(w) and w.stem not in held
    )
    parts = []
    if numbers:
        parts.append(f"not in the evidence: the number {', '.join(dict.fromkeys(numbers))}")
    if words:
        shown = list(words)[:MAX_MISSING]
        more = f" and {len(words) - len(shown)} more" if len(words) > len(shown) else ""
        parts.append(f"words not in the evidence: {', '.join(shown)}{more}")
    return "; ".join(parts) or "its words stand in the evidence"


def _said(one: Disagreement) -> str:
    if one.kind == "negation":
        who = "the evidence" if one.found else "the claim"
        return f"{who} denies it ({one.found or one.claimed!r})"
    return f"the {one.kind} differs: {one.claimed!r} in the claim, {one.found!r} in the evidence"
