"""An answer out of the evidence's own sentences. Pure; no sentence is rewritten."""

from collections.abc import Iterable, Iterator, Sequence

from ccrag.answering.citations import DraftSentence
from ccrag.answering.wellformed import has_capitals, has_predicate, readable, well_formed
from ccrag.retrieval.analysis import count_words, normalise, terms, unique_terms
from ccrag.types import Evidence

SAME_CONTENT = 0.8
"""Share of the shorter sentence's terms from which two sentences say the same."""


def extract(
    evidence: Sequence[Evidence],
    *,
    query_text: str,
    max_sentences: int,
    min_words: int,
    max_words: int,
    min_coverage: float,
) -> tuple[DraftSentence, ...]:
    """
    Return up to `max_sentences` evidence sentences that can stand as the answer, best first.

    In the order of the evidence, but those without a sign of a verb (titles, mostly) come after all
    others. Left out: what is not a well-formed sentence of `min_words` words (if no sentence is,
    those with broken edges only stand in); what holds less than
    `min_coverage` (0 to 1) of the query's terms, or none; what repeats an earlier one; and what
    does not fit into the rest of `max_words`, where a later, shorter one may. White space is
    collapsed for display, nothing else is changed. Nothing left: (), and the caller abstains.
    """
    asked = frozenset(unique_terms(query_text))
    drafts: list[DraftSentence] = []
    words_left = max_words
    usable = _answering(evidence, asked, min_words, min_coverage)
    for item in _distinct(sorted(usable, key=lambda item: not has_predicate(item.text))):
        if len(drafts) == max_sentences:
            break
        text = " ".join(item.text.split())
        if count_words(text) <= words_left:
            words_left -= count_words(text)
            drafts.append(DraftSentence(text, (item.evidence_id,)))
    return tuple(drafts)


def _answering(
    evidence: Sequence[Evidence], asked: frozenset[str], min_words: int, min_coverage: float
) -> list[Evidence]:
    """Return the whole sentences that speak of what was asked; without any, the readable ones."""
    covering = [item for item in evidence if _covers(item, asked, min_coverage)]
    cased = has_capitals(item.text for item in evidence)
    whole = [i for i in covering if well_formed(i.text, min_words=min_words, cased=cased)]
    return whole or [item for item in covering if readable(item.text, min_words=min_words)]


def _covers(item: Evidence, asked: frozenset[str], min_coverage: float) -> bool:
    shared = len(asked.intersection(terms(item.text)))
    return shared > 0 and shared >= min_coverage * len(asked)


def _distinct(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield each sentence that no earlier one repeats, word for word or nearly."""
    texts: set[str] = set()
    contents: list[frozenset[str]] = []
    for item in evidence:
        text, content = normalise(item.text), frozenset(terms(item.text))
        if text in texts or any(_overlap(content, other) >= SAME_CONTENT for other in contents):
            continue
        texts.add(text)
        contents.append(content)
        yield item


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0
