"""
Citation recall and precision by entailment, as ALCE defines them (Gao et al., EMNLP 2023).

Recall: share of sentences that all their cited evidence together entails. Precision: share of
citations that are not superfluous, where a citation counts only in an entailed sentence and is
superfluous when it does not entail the sentence alone and the others do without it. A sentence
without citations is not entailed. What does not resolve entails nothing and counts as a citation.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from ccrag.evaluation.citation_metrics import cited_texts, undefined_support
from ccrag.evaluation.registry import Case, FigureOrGap, LeftOut, Measure, Need, per_query

ENTAILED = 0.5
"""From this probability on, a premise entails a hypothesis."""
NOT_GIVEN = "needs an entailment model (--nli)"

EntailmentCheck = Callable[[str, str], bool]


class NliScorer(Protocol):
    """A model of natural language inference."""

    def __call__(self, premise: str, hypothesis: str) -> float:
        """Return the probability, 0 to 1, that `premise` entails `hypothesis`."""
        ...


def entailment_measures(
    scorer: NliScorer | None, *, threshold: float = ENTAILED
) -> tuple[Measure, ...]:
    """Return both measures; with no scorer they are left out and say so."""
    unavailable = NOT_GIVEN if scorer is None else None
    entails = _entails(scorer, threshold) if scorer is not None else _never
    needs = (Need.ANSWERS, Need.PROVENANCE)
    return (
        Measure(
            "nli-recall",
            "share of sentences that their cited evidence entails (ALCE citation recall)",
            needs,
            True,
            per_query(lambda case: _recall(case, entails)),
            unavailable,
        ),
        Measure(
            "nli-precision",
            "share of citations that help to entail their sentence (ALCE citation precision)",
            needs,
            True,
            per_query(lambda case: _precision(case, entails)),
            unavailable,
        ),
    )


def _entails(scorer: NliScorer, threshold: float) -> EntailmentCheck:
    """
    Tell whether a premise entails a hypothesis; each pair is scored once, no text entails nothing.
    """

    @lru_cache(maxsize=100_000)
    def entails(premise: str, hypothesis: str) -> bool:
        return bool(premise) and scorer(premise, hypothesis) >= threshold

    return entails


def _never(premise: str, hypothesis: str) -> bool:
    return False


def _recall(case: Case, entails: EntailmentCheck) -> FigureOrGap:
    undefined = undefined_support(case.answer)
    if undefined is not None:
        return undefined
    sentences = case.answer.sentences
    entailed = [entails(_joined(cited_texts(case.answer, s)), s.text) for s in sentences]
    return sum(entailed) / len(entailed)


def _precision(case: Case, entails: EntailmentCheck) -> FigureOrGap:
    undefined = undefined_support(case.answer)
    if undefined is not None:
        return undefined
    helpful = [
        helps
        for sentence in case.answer.sentences
        for helps in _helpful(cited_texts(case.answer, sentence), sentence.text, entails)
    ]
    return sum(helpful) / len(helpful) if helpful else LeftOut("nothing is cited")


def _helpful(texts: list[str], sentence: str, entails: EntailmentCheck) -> list[bool]:
    """Return for each citation of one sentence, whether it counts."""
    if not entails(_joined(texts), sentence):
        return [False] * len(texts)
    return [
        entails(text, sentence) or not entails(_joined(texts[:at] + texts[at + 1 :]), sentence)
        for at, text in enumerate(texts)
    ]


def _joined(texts: list[str]) -> str:
    return " ".join(text for text in texts if text)
