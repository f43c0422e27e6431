"""
Sentences of the selected passages, scored and chosen as evidence. Pure.

Three steps, so that any scorer fits between: `candidate_sentences` lists, a scorer
(`order_scores`, `lexical_scores`, or a model's) maps sentence keys to scores, and the best of them
are taken, in the order that `merit.by_merit` gives.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from ccrag.retrieval.bm25 import idf
from ccrag.text.analysis import term_set, unique_terms
from ccrag.types import Evidence, Passage, SectionPath, SentenceKey, Span

IsHeading = Callable[[str, SectionPath], bool]
"""Tells whether a sentence is a heading, by its text and the path of its section."""


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence that may become evidence; `text` is the document's at `span`."""

    passage: Passage
    rank: int
    """Of the passage, from 1."""
    span: Span
    text: str
    heading: bool = False
    """Speaks for its document, and is never evidence itself."""

    @property
    def key(self) -> SentenceKey:
        """Return what a score is filed under."""
        return self.passage.doc_id, self.span.start, self.span.end


def candidate_sentences(
    passages: Sequence[Passage], *, sentences_per_passage: int, is_heading: IsHeading
) -> tuple[CandidateSentence, ...]:
    """
    Return the first sentences of each passage, in reading order, each document span once.

    Spans are trimmed of white space. A question on a line of its own is one sentence with the reply
    below it, which alone shares few words with what is asked ("Yes."). Headings, as `is_heading`
    tells them, are marked and do not count among the first `sentences_per_passage`; rules, bullets
    and blanks are left out.
    """
    found: dict[SentenceKey, CandidateSentence] = {}
    for rank, passage in enumerate(passages, start=1):
        taken = 0
        for span in _with_replies(passage):
            text = passage.slice(span)
            if taken == sentences_per_passage:
                break
            if any(map(str.isalnum, text)):
                heading = is_heading(text, passage.section)
                taken += not heading
                sentence = CandidateSentence(passage, rank, span, text, heading)
                found.setdefault(sentence.key, sentence)
    return tuple(found.values())


@lru_cache(maxsize=1_024)  # the same passages are read for query after query
def _with_replies(passage: Passage) -> tuple[Span, ...]:
    """Return the trimmed spans of the sentences; a question line ends with the line below it."""
    found: list[Span] = []
    asked: Span | None = None
    for raw in passage.sentences:
        text, span = passage.slice(raw), trimmed_span(passage, raw)
        if asked is not None and passage.slice(Span(asked.start, span.end)).count("\n") == 1:
            found[-1] = Span(asked.start, span.end)
            asked = None
            continue
        found.append(span)
        is_question = text.endswith(("?\n", "？\n")) and "\n" not in text.strip()
        asked = span if is_question else None
    return tuple(found)


def says_something(passage: Passage, span: Span, is_heading: IsHeading) -> bool:
    """Tell whether a trimmed span holds a word, and is no heading of the passage."""
    text = passage.slice(span)
    return any(map(str.isalnum, text)) and not is_heading(text, passage.section)


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
    found = {candidate.key: term_set(candidate.text) for candidate in candidates}
    frequency = Counter(term for held in found.values() for term in held)
    weights = {term: idf(frequency[term], len(found)) for term in unique_terms(query_text)}
    total = sum(weights.values())
    scores: dict[SentenceKey, float] = {}
    for key, held in found.items():
        shared = [weight for term, weight in weights.items() if term in held]
        if shared:
            scores[key] = sum(shared) / total
    return scores


def best_first(
    candidates: Sequence[CandidateSentence], scores: Mapping[SentenceKey, float]
) -> list[CandidateSentence]:
    """
    Return the candidates that have a score, best first; ties by rank of the passage and position.

    Scores may be of any scale; higher is better.
    """
    scored = [candidate for candidate in candidates if candidate.key in scores]
    return sorted(scored, key=lambda c: (-scores[c.key], c.rank, c.passage.doc_id, c.span))


def as_evidence(
    chosen: Sequence[CandidateSentence],
    scores: Mapping[SentenceKey, float],
    reasons: Mapping[SentenceKey, tuple[tuple[str, float], ...]] = MappingProxyType({}),
) -> tuple[Evidence, ...]:
    """Return the sentences as evidence, numbered `e1`, `e2`, … in the order given."""
    return tuple(
        _evidence(f"e{number}", candidate, scores[candidate.key], reasons.get(candidate.key, ()))
        for number, candidate in enumerate(chosen, start=1)
    )


def trimmed_span(passage: Passage, span: Span) -> Span:
    """Return `span` without the white space at its ends."""
    text = passage.slice(span)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


def _evidence(
    evidence_id: str,
    candidate: CandidateSentence,
    score: float,
    reasons: tuple[tuple[str, float], ...],
) -> Evidence:
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
        reasons=reasons,
    )
