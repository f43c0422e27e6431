"""
Compute the features by which sentences are ranked as evidence, from scores made elsewhere. Pure.

All features are relative to the other sentences of the same query, so that weights learnt on one
collection can be used on another. Late interaction follows ColBERT (Khattab & Zaharia, SIGIR 2020).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ccrag.answering.evidence import CandidateSentence
from ccrag.text.analysis import term_set
from ccrag.types import Span

Column = npt.NDArray[np.float64]
"""`(n_sentences,)`, in the order of the candidates."""

NEEDS_ENCODER = frozenset({"cosine", "cosine_rank", "cosine_neighbours"})
NEEDS_TOKENS = frozenset(
    {"tokens", "tokens_rank", "tokens_top", "tokens_neighbours", "tokens_part", "tokens_part_top"}
)
RANK_DAMPING = 20
TOP_DAMPING = 3
"""Damping constants of reciprocal ranks: the small one tells the best few from the rest."""
SHORT_WORDS = 6
MIN_PART_TERMS = 2
"""Content terms of a part of a question at least; a shorter one says too little by itself."""

_PART = re.compile(
    r"[,;:?](?=\s)|(?<=\s)(?:and|or|but|while|whereas|when|if|what|how|which|why|where|who)(?=\s)",
    re.IGNORECASE,
)
_CODE = re.compile(r"[=(){}<>\[\]]|>>>|::")
_SENTENCE_ENDS = tuple(".!?:)")


@dataclass(frozen=True, slots=True)
class SentenceSignals:
    """Scores of one query's sentences; each is relative to this query alone."""

    bm25: Column
    """BM25 of the question over the sentences."""
    bm25_in_context: Column
    """BM25 of the question over the sentences under their titles and headings."""
    bm25_parts: npt.NDArray[np.float64]
    """`(n_sentences, n_parts)`: BM25 of each part of the question."""
    cosines: Column | None = None
    """Cosine of question and sentence, where there is an encoder."""
    closest: npt.NDArray[np.float64] | None = None
    """`(n_sentences, n_tokens)`: cosine of each question token and the closest of the sentence."""
    token_weights: npt.NDArray[np.float64] | None = None
    """`(n_tokens,)`: idf of the question's tokens, sum 1."""
    token_parts: tuple[npt.NDArray[np.intp], ...] = ()
    """The question's tokens in each of its parts, by position."""


def question_parts(question: str) -> list[Span]:
    """Return the spans of a question's clauses; of one that has a single clause, all of it."""
    spans, start = [], 0
    for cut in _PART.finditer(question):
        spans.append(Span(start, cut.start()))
        start = cut.end()
    spans.append(Span(start, len(question)))
    parts = [s for s in spans if len(term_set(question[s.start : s.end])) >= MIN_PART_TERMS]
    return parts if len(parts) > 1 else [Span(0, len(question))]


def sentence_features(
    candidates: Sequence[CandidateSentence], signals: SentenceSignals
) -> dict[str, Column]:
    """
    Return the features of each sentence, by name; those of models only where they gave scores.

    `_rank` and `_top` are reciprocal ranks, `_neighbours` takes in the sentences before and behind,
    `_part` is the best over the question's parts; all others but those of form are z-scores.
    """
    around = _neighbours(candidates)
    words = [len(candidate.text.split()) for candidate in candidates]
    texts = [candidate.text for candidate in candidates]
    features = {
        "bm25": _standardised(signals.bm25),
        "bm25_rank": _reciprocal_rank(signals.bm25, RANK_DAMPING),
        "bm25_in_context": _standardised(signals.bm25_in_context),
        "bm25_neighbours": _standardised(_mean_around(signals.bm25_in_context, around)),
        "bm25_part_top": _best_part_rank(signals.bm25_parts),
        "passage_rank": np.array([5 / (4 + candidate.rank) for candidate in candidates]),
        "code": np.array([len(_CODE.findall(text)) / max(len(text), 1) for text in texts]),
        "ends": np.array([float(text.rstrip().endswith(_SENTENCE_ENDS)) for text in texts]),
        "length": np.log1p(np.array(words, dtype=np.float64)),
        "short": np.array([float(count < SHORT_WORDS) for count in words]),
        "first": np.array([float(candidate.span.start == 0) for candidate in candidates]),
    }
    if signals.cosines is not None:
        features |= {
            "cosine": _standardised(signals.cosines),
            "cosine_rank": _reciprocal_rank(signals.cosines, RANK_DAMPING),
            "cosine_neighbours": _standardised(_mean_around(signals.cosines, around)),
        }
    if signals.closest is not None and signals.token_weights is not None:
        features |= _token_features(
            signals.closest, signals.token_weights, signals.token_parts, around
        )
    return features


def _token_features(
    closest: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    parts: Sequence[npt.NDArray[np.intp]],
    around: Sequence[Sequence[int]],
) -> Mapping[str, Column]:
    match = closest @ weights
    with_neighbours = np.array([closest[[at, *near]].max(axis=0) for at, near in enumerate(around)])
    by_part = np.stack(list(_part_matches(closest, weights, parts)) or [match], axis=1)
    return {
        "tokens": _standardised(match),
        "tokens_rank": _reciprocal_rank(match, RANK_DAMPING),
        "tokens_top": _reciprocal_rank(match, TOP_DAMPING),
        "tokens_neighbours": _standardised(with_neighbours @ weights),
        "tokens_part": _standardised(by_part.max(axis=1)),
        "tokens_part_top": _best_part_rank(by_part),
    }


def _part_matches(
    closest: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    parts: Sequence[npt.NDArray[np.intp]],
) -> Iterator[Column]:
    for part in parts:
        total = weights[part].sum()
        if total > 0:
            yield closest[:, part] @ (weights[part] / total)


def _neighbours(candidates: Sequence[CandidateSentence]) -> list[list[int]]:
    """Return the positions of the sentences before and behind each, in the same section."""
    order = sorted(
        range(len(candidates)),
        key=lambda at: (candidates[at].passage.doc_id, candidates[at].span),
    )
    around: list[list[int]] = [[] for _ in candidates]
    for at, following in pairwise(order):
        one, other = candidates[at].passage, candidates[following].passage
        if (one.doc_id, one.section) == (other.doc_id, other.section):
            around[at].append(following)
            around[following].append(at)
    return around


def _mean_around(values: Column, around: Sequence[Sequence[int]]) -> Column:
    return np.array([values[[at, *near]].mean() for at, near in enumerate(around)])


def _standardised(values: Column) -> Column:
    """Return z-scores; values that are all alike become 0."""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))


def _reciprocal_rank(values: Column, damping: int) -> Column:
    """Return damping / (damping + rank), rank from 1; ties keep the order of the candidates."""
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return damping / (damping + ranks)


def _best_part_rank(by_part: npt.NDArray[np.float64]) -> Column:
    """Return the best reciprocal rank over the question's parts."""
    ranks = np.array([_reciprocal_rank(part, TOP_DAMPING) for part in by_part.T])
    return np.asarray(ranks.max(axis=0), dtype=np.float64)
