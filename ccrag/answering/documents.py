"""Documents first: which documents an answer should come from, by their sentences. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from statistics import fmean

from ccrag.types import DocId, Evidence, SentenceKey


def keep_documents(
    scores: Mapping[SentenceKey, float], *, best: int, ratio: float, at_most: int
) -> tuple[DocId, ...]:
    """
    Return the documents worth citing, best first; ties by id. No scores: ().

    A document's score is the mean of its `best` best sentence scores (of all, if it has fewer). It
    stays when that is at least `ratio` (0 to 1) of the best document's, `at_most` of them. With a
    best score of zero or less, only equals of the best stay.

    Args:
        scores: of every considered sentence, well formed or not; higher is better.
    """
    by_document: defaultdict[DocId, list[float]] = defaultdict(list)
    for (doc_id, _, _), score in scores.items():
        by_document[doc_id].append(score)
    means = {doc_id: _mean_of_best(found, best) for doc_id, found in by_document.items()}
    ranked = sorted(means, key=lambda doc_id: (-means[doc_id], doc_id))
    if not ranked:
        return ()
    highest = means[ranked[0]]
    floor = ratio * highest if highest > 0 else highest
    return tuple(doc_id for doc_id in ranked if means[doc_id] >= floor)[:at_most]


def likely_documents(
    evidence: Sequence[Evidence], *, best: int = 5, ratio: float
) -> frozenset[DocId]:
    """
    Return the documents that probably hold evidence, by sentences whose scores are probabilities.

    The probability that one of a document's `best` best sentences is evidence is 1 - the product of
    (1 - p), as if they were independent (noisy or). A document stays whose probability is at least
    `ratio` (0 to 1) of the best document's.
    """
    by_document: defaultdict[DocId, list[float]] = defaultdict(list)
    for item in evidence:
        by_document[item.doc_id].append(item.score)
    likely = {
        doc_id: 1 - prod(1 - p for p in sorted(found, reverse=True)[:best])
        for doc_id, found in by_document.items()
    }
    floor = ratio * max(likely.values(), default=0.0)
    return frozenset(doc_id for doc_id, p in likely.items() if p >= floor)


def _mean_of_best(scores: Sequence[float], best: int) -> float:
    return fmean(sorted(scores, reverse=True)[:best])
