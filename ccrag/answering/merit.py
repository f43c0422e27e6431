"""
Score how well a sentence can stand in an answer: its relevance, less its defects of form. Pure.

Form is a preference, never a filter. A defect of form (see `wellformed`) costs a share of a
sentence's relevance, so it lets past only sentences that answer nearly as well, and at most
`MAX_PASSED` of them: a short right sentence stays before filler, a caption that holds every word of
the question comes after a statement that holds most of them. Shares and not ranks, because the
ranks of a short document are all close: one place there is the whole way from the answer to filler.
Relevance and not the scorer's score, because a share of a score means nothing for reciprocal ranks
or a cross-encoder's logits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ccrag.answering.evidence import CandidateSentence, lexical_scores
from ccrag.answering.wellformed import COSTS, Defect, defects, habits_of
from ccrag.types import SentenceKey

MAX_PASSED = 5
"""So many lower scored sentences may come before one with a defect."""


@dataclass(frozen=True, slots=True)
class Merit:
    """Hold how well a sentence meets the question, 0 to 1, and its defects of form."""

    relevance: float = 1.0
    defects: tuple[Defect, ...] = ()

    @property
    def cost(self) -> float:
        """Return the share of its relevance that the defects cost together, 0 to 1."""
        return 1 - prod(1 - COSTS[defect] for defect in self.defects)

    @property
    def worth(self) -> float:
        """Return the relevance that is left after the cost."""
        return (1 - self.cost) * self.relevance


def merits(
    question: str,
    candidates: Sequence[CandidateSentence],
    cosines: Mapping[SentenceKey, float],
    *,
    min_words: int,
    max_words: int | None,
) -> dict[SentenceKey, Merit]:
    """
    Return the merit of each candidate.

    Relevance is the share of the question's terms in the sentence, weighted by idf over the
    candidates; where there are `cosines`, the mean of that and of the cosine, each as a share of
    the best candidate's, so that a question in another language than the text is judged by meaning
    alone.
    """
    covered = lexical_scores(question, candidates)
    found = [_shares(covered, candidates)] if covered else []
    if cosines:
        found.append(_shares(cosines, candidates))
    habits = habits_of([c.text for c in candidates], min_words=min_words, max_words=max_words)
    return {
        c.key: Merit(
            relevance=sum(share[c.key] for share in found) / max(len(found), 1),
            defects=defects(c.text, habits),
        )
        for c in candidates
    }


def by_merit(
    scored: Sequence[CandidateSentence],
    merit: Mapping[SentenceKey, Merit],
    *,
    at_most: int,
) -> list[CandidateSentence]:
    """
    Return the first `at_most` of `scored`, which come best score first, with form considered.

    The next is always the best scored that need not wait. A sentence waits while there is another
    with a smaller defect and at least its worth, until `MAX_PASSED` have come before it.
    """
    waiting = list(scored)
    own = {c.key: (merit[c.key].cost, merit[c.key].worth) for c in scored}
    passed = dict.fromkeys((candidate.key for candidate in scored), 0)
    chosen: list[CandidateSentence] = []
    while waiting and len(chosen) < at_most:
        best: dict[float, float] = {}
        for candidate in waiting:
            cost, worth = own[candidate.key]
            best[cost] = max(worth, best.get(cost, 0.0))
        at = next(
            at
            for at, candidate in enumerate(waiting)
            if passed[candidate.key] == MAX_PASSED or not _waits(*own[candidate.key], best)
        )
        chosen.append(waiting.pop(at))
        for candidate in waiting[:at]:
            passed[candidate.key] += 1
    return chosen


def _waits(cost: float, worth: float, best: Mapping[float, float]) -> bool:
    """Tell whether a smaller cost has at least this worth; `best` has the best worth by cost."""
    return any(other < cost and held >= worth for other, held in best.items())


def _shares(
    scores: Mapping[SentenceKey, float], candidates: Sequence[CandidateSentence]
) -> dict[SentenceKey, float]:
    """Scores as shares of the best, 0 to 1; nothing where all are 0 or less."""
    best = max((scores.get(c.key, 0.0) for c in candidates), default=0.0)
    return {c.key: max(scores.get(c.key, 0.0), 0.0) / best if best > 0 else 0.0 for c in candidates}
