"""
Compute the features from which it is decided whether the candidates answer a query. Pure.

Figures by name, all of them where lower ranks, fewer words in common and less agreement speak
against an answer. They say nothing by themselves; `calibration` weighs them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log1p
from statistics import fmean

from ccrag.retrieval.bm25 import idf
from ccrag.text.analysis import term_set, unique_terms
from ccrag.types import Passage, Ranking, Turn

AnswerabilityFeatures = Mapping[str, float]
Weigh = Callable[[str], float]

DEPTH = 5
"""So many hits of a list are its head."""
CROSS_ENCODER, ENTAILMENT = "cross-encoder", "entailment"
"""The features that a model of its own gives."""


@dataclass(frozen=True, slots=True)
class AnswerabilityInput:
    """The input of the features; every text and passage is one that the pipeline has read."""

    question: str
    """The variant that evidence was chosen by."""
    turn: str
    """The question as it was put; of a dialogue, its last turn."""
    turns: tuple[Turn, ...]
    """The dialogue before it."""
    leans_back: bool
    """True where the question leans on what was said before."""
    lists: Sequence[Ranking]
    """The first lists."""
    bm25: Sequence[Sequence[float]]
    """Scores of each BM25 list, best first."""
    cosines: Sequence[Sequence[float]] | None
    """Cosines of each dense list, best first; None: the pipeline has no such lists."""
    ranking: Ranking
    """The final ranking of the lists."""
    shortlist: Sequence[Passage]
    read: Sequence[Passage]
    evidence: Sequence[str]
    closest: float | None
    """Best cosine of the question and a sentence of the evidence; None: nothing compares them."""


def features(seen: AnswerabilityInput) -> dict[str, float]:
    """
    Return the figures; which there are depends on the pipeline alone, not on the query.

    `bm25-top`      ln(1 + best score), mean of the BM25 lists, from 0
    `bm25-drop`     (1st - 5th score) / 1st, mean of the BM25 lists, 0 to 1; a missing 5th is 0
    `dense-top`     best cosine, mean of the dense lists, -1 to 1
    `dense-drop`    best cosine - mean of the next five, mean of the dense lists, 0 to 2
    `first-agreed`  1 / rank of the final ranking's first passage, mean of all lists, 0 to 1
    `agreement`     share of their best five that two lists have in common, mean of pairs, 0 to 1
    `read-covers`, `passage-covers`, `sentence-covers`
                    share of the question's terms, weighted by idf over the shortlist, in all
                    passages read, in the best of them, in the best sentence of the evidence, 0 to 1
    `turn-passage-covers`, `turn-sentence-covers`
                    the last two, of the question as it was put
    `sentence-top`  best cosine of question and evidence sentence, -1 to 1
    `turns`         ln(1 + earlier turns of the user), from 0
    `length`        ln(1 + distinct terms of the question as it was put), from 0
    `said-before`   share of these terms in the dialogue before, 0 to 1
    `leans-back`    whether the question leans on it, 0 or 1

    Without lists, hits, terms or evidence the figure is 0; a lone list agrees with itself.
    """
    return {**_shape(seen), **_overlap(seen), **_dialogue(seen)}


def _shape(seen: AnswerabilityInput) -> dict[str, float]:
    """Return how the scores fall, and how far the lists agree."""
    found = {
        "bm25-top": _mean(log1p(scores[0]) if scores else 0.0 for scores in seen.bm25),
        "bm25-drop": _mean(map(_drop, seen.bm25)),
        "first-agreed": _first_agreed(seen.ranking, seen.lists),
        "agreement": _agreement(seen.lists),
    }
    if seen.cosines is not None:
        found["dense-top"] = _mean(cosines[0] if cosines else 0.0 for cosines in seen.cosines)
        found["dense-drop"] = _mean(map(_lead, seen.cosines))
    return found


def _overlap(seen: AnswerabilityInput) -> dict[str, float]:
    """Return how much of what is asked stands in what was found."""
    weigh = _idf([unique_terms(passage.text) for passage in seen.shortlist])
    asked, put = unique_terms(seen.question), unique_terms(seen.turn)
    passages = [term_set(passage.text) for passage in seen.read]
    sentences = [term_set(text) for text in seen.evidence]
    found = {
        "read-covers": _covers(asked, frozenset().union(*passages), weigh),
        "passage-covers": _best_covers(asked, passages, weigh),
        "sentence-covers": _best_covers(asked, sentences, weigh),
        "turn-passage-covers": _best_covers(put, passages, weigh),
        "turn-sentence-covers": _best_covers(put, sentences, weigh),
    }
    return found if seen.closest is None else {**found, "sentence-top": seen.closest}


def _dialogue(seen: AnswerabilityInput) -> dict[str, float]:
    """Return what the question is like in its dialogue."""
    put = unique_terms(seen.turn)
    before = {term for turn in seen.turns for term in unique_terms(turn.text)}
    return {
        "turns": log1p(sum(turn.speaker == "user" for turn in seen.turns)),
        "length": log1p(len(put)),
        "said-before": sum(term in before for term in put) / len(put) if put else 0.0,
        "leans-back": float(seen.leans_back),
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _drop(scores: Sequence[float]) -> float:
    if not scores or scores[0] <= 0:
        return 0.0
    return 1 - (scores[DEPTH - 1] if len(scores) >= DEPTH else 0.0) / scores[0]


def _lead(cosines: Sequence[float]) -> float:
    following = cosines[1 : DEPTH + 1]
    return cosines[0] - fmean(following) if following else 0.0


def _first_agreed(ranking: Ranking, lists: Sequence[Ranking]) -> float:
    if not ranking.hits:
        return 0.0
    first = ranking.hits[0].passage_id
    ranks = [[hit.passage_id for hit in ranked] for ranked in lists]
    return _mean(1 / (1 + ids.index(first)) if first in ids else 0.0 for ids in ranks)


def _agreement(lists: Sequence[Ranking]) -> float:
    heads = [{hit.passage_id for hit in ranked.hits[:DEPTH]} for ranked in lists]
    pairs = list(combinations(heads, 2)) or [(head, head) for head in heads]
    return _mean(len(a & b) / max(len(a), len(b), 1) for a, b in pairs)


def _idf(texts: Sequence[Collection[str]]) -> Weigh:
    """Return the idf of terms over `texts`."""
    frequency = Counter(term for held in texts for term in held)
    return lambda term: idf(frequency[term], len(texts))


def _covers(asked: Sequence[str], held: frozenset[str], weigh: Weigh) -> float:
    total = sum(map(weigh, asked))
    return sum(weigh(term) for term in asked if term in held) / total if total else 0.0


def _best_covers(asked: Sequence[str], held: Sequence[frozenset[str]], weigh: Weigh) -> float:
    return max((_covers(asked, one, weigh) for one in held), default=0.0)
