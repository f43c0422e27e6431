"""
Sentences of the selected passages, scored and chosen as evidence. Pure.

Three steps, so that any scorer fits between: `candidate_sentences` lists, a scorer
(`order_scores`, `lexical_scores`, or a model's) maps sentence keys to scores, `choose` picks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ccrag.retrieval.analysis import budget_words, terms, unique_terms
from ccrag.retrieval.lexical import idf
from ccrag.types import Evidence, Passage, SentenceKey, Span


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence that may become evidence; `text` is the document's at `span`."""

    passage: Passage
    rank: int
    """Of the passage, from 1."""
    span: Span
    text: str

    @property
    def key(self) -> SentenceKey:
        """What a score is filed under."""
        return self.passage.doc_id, self.span.start, self.span.end


def candidate_sentences(
    passages: Sequence[Passage], *, sentences_per_passage: int, max_sentence_words: int
) -> tuple[CandidateSentence, ...]:
    """
    Return the first sentences of each passage, in reading order, each document span once.

    Spans are trimmed of white space. Blank sentences do not count among the first
    `sentences_per_passage`; longer ones than `max_sentence_words` do and are then left out.
    """
    found: dict[SentenceKey, CandidateSentence] = {}
    for rank, passage in enumerate(passages, start=1):
        for span in _first_spans(passage, sentences_per_passage):
            sentence = CandidateSentence(passage, rank, span, passage.slice(span))
            if budget_words(sentence.text) <= max_sentence_words:
                found.setdefault(sentence.key, sentence)
    return tuple(found.values())


def order_scores(candidates: Sequence[CandidateSentence]) -> dict[SentenceKey, float]:
    """Return 1 / rank of the passage for each sentence, which keeps the passages' order."""
    return {candidate.key: 1 / candidate.rank for candidate in candidates}


def lexical_scores(
    query_text: str, candidates: Sequence[CandidateSentence]
) -> dict[SentenceKey, float]:
    """
    Return the idf-weighted share of the query's terms in each sentence, in (0, 1].

    Sum of idf over the query's terms in the sentence / over all of them, with
    idf = ln(1 + (N - df + .5) / (df + .5)) over the N candidates. A sentence that shares no term
    with the query has no score.
    """
    found = {candidate.key: frozenset(terms(candidate.text)) for candidate in candidates}
    frequency = Counter(term for held in found.values() for term in held)
    weights = {term: idf(frequency[term], len(found)) for term in unique_terms(query_text)}
    total = sum(weights.values())
    scores: dict[SentenceKey, float] = {}
    for key, held in found.items():
        shared = [weight for term, weight in weights.items() if term in held]
        if shared:
            scores[key] = sum(shared) / total
    return scores


def choose(
    candidates: Sequence[CandidateSentence],
    scores: Mapping[SentenceKey, float],
    *,
    max_sentences: int,
    prefer: Callable[[str], bool] = lambda _: True,
) -> tuple[Evidence, ...]:
    """
    Return the `max_sentences` best candidates as evidence, numbered `e1`, `e2`, … in that order.

    Those whose text `prefer` takes come first; then score descending, rank of the passage, and
    position. A candidate without a score is not evidence. Scores may be of any scale; higher is
    better.
    """
    scored = [candidate for candidate in candidates if candidate.key in scores]
    scored.sort(key=lambda c: (-scores[c.key], c.rank, c.passage.doc_id, c.span))
    preferred: list[CandidateSentence] = []
    others: list[CandidateSentence] = []
    for candidate in scored:
        if len(preferred) == max_sentences:
            break
        (preferred if prefer(candidate.text) else others).append(candidate)
    return tuple(
        _evidence(f"e{number}", candidate, scores[candidate.key])
        for number, candidate in enumerate((preferred + others)[:max_sentences], start=1)
    )


def _first_spans(passage: Passage, depth: int) -> Iterator[Span]:
    trimmed = (trimmed_span(passage, span) for span in passage.sentences)
    return islice((span for span in trimmed if span.start < span.end), depth)


def trimmed_span(passage: Passage, span: Span) -> Span:
    """Return `span` without the white space at its ends."""
    text = passage.slice(span)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


def _evidence(evidence_id: str, candidate: CandidateSentence, score: float) -> Evidence:
    return Evidence(
        evidence_id=evidence_id,
        passage_id=candidate.passage.passage_id,
        doc_id=candidate.passage.doc_id,
        section=candidate.passage.section,
        start=candidate.span.start,
        end=candidate.span.end,
        text=candidate.text,
        score=score,
        collection=candidate.passage.collection,
    )
