"""An answer out of the evidence's own sentences. Pure; no sentence is rewritten."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ccrag.answering.citations import DraftSentence
from ccrag.answering.trimming import trimmed
from ccrag.answering.wellformed import has_capitals, has_predicate, readable, well_formed
from ccrag.retrieval.analysis import budget_words, normalise, terms, unique_terms
from ccrag.types import DocId, Evidence

SAME_CONTENT = 0.8
"""Share of the shorter sentence's terms from which two sentences say the same."""


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """What an extractive answer may hold."""

    max_sentences: int
    max_words: int
    """Of the whole answer, kept by whole sentences."""
    min_words: int
    max_sentence_words: int | None = None
    max_per_document: int | None = None
    min_coverage: float = 0.0
    """Share (0 to 1) of the query's terms that a sentence must hold."""
    must_share: bool = True
    """A sentence must hold one term of the query at least; not when a model found it."""


def extract(
    evidence: Sequence[Evidence], *, query_text: str, limits: ExtractLimits, trim: bool = False
) -> tuple[DraftSentence, ...]:
    """
    Return evidence sentences that can stand as the answer, best first, within `limits`.

    In the order of the evidence, but those without a sign of a verb (titles, mostly) come after all
    others. Left out: what is not a well-formed sentence (if no sentence is, those with broken edges
    only stand in); what does not speak of the query; what repeats an earlier one; and what does not
    fit into the rest of the words, where a later, shorter one may. White space is collapsed for
    display; nothing else is changed unless `trim` is set (see `trimmed`). Nothing left: (), and the
    caller abstains.
    """
    drafts: list[DraftSentence] = []
    words_left = limits.max_words
    per_document: Counter[DocId] = Counter()
    usable = _usable(evidence, frozenset(unique_terms(query_text)), limits)
    for item in _distinct(sorted(usable, key=lambda item: not has_predicate(item.text))):
        if len(drafts) == limits.max_sentences:
            break
        if per_document[item.doc_id] == limits.max_per_document:
            continue
        text = trimmed(item.text) if trim else " ".join(item.text.split())
        if budget_words(text) <= words_left:
            words_left -= budget_words(text)
            per_document[item.doc_id] += 1
            drafts.append(DraftSentence(text, (item.evidence_id,)))
    return tuple(drafts)


def _usable(
    evidence: Sequence[Evidence], asked: frozenset[str], limits: ExtractLimits
) -> list[Evidence]:
    """Return the whole sentences that speak of what was asked; without any, the readable ones."""
    fitting = [item for item in evidence if _fits(item, asked, limits)]
    cased = has_capitals(item.text for item in evidence)
    whole = [i for i in fitting if well_formed(i.text, min_words=limits.min_words, cased=cased)]
    return whole or [i for i in fitting if readable(i.text, min_words=limits.min_words)]


def _fits(item: Evidence, asked: frozenset[str], limits: ExtractLimits) -> bool:
    longest = limits.max_sentence_words
    if longest is not None and budget_words(item.text) > longest:
        return False
    shared = len(asked.intersection(terms(item.text)))
    return shared >= max(int(limits.must_share), limits.min_coverage * len(asked))


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
