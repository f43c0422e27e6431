"""An answer out of the evidence's own sentences. Pure; no sentence is rewritten."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ccrag.answering.citations import DraftSentence
from ccrag.answering.merit import Merit
from ccrag.answering.polarity import denies, numbers
from ccrag.answering.trim import trimmed
from ccrag.text.analysis import budget_words, normalise, term_set
from ccrag.types import DocId, Evidence

SAME_CONTENT = 0.8
"""Share of the shorter sentence's terms from which two sentences say the same."""

WORTH_ADDING, SHORT_WORTH_ADDING = 0.5, 0.3
"""
Share of the best sentence's worth that a further one with a defect of form must have; the second is
for those that are short and nothing worse, which cost the reader little.
"""

NEARLY_AS_GOOD = 0.95
"""From this share of the best sentence's worth, a document may give one sentence more."""


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """The limits of an extractive answer."""

    max_sentences: int
    max_words: int
    """Of the whole answer, kept by whole sentences."""
    max_per_document: int | None = None
    min_coverage: float = 0.0
    """Share (0 to 1) of the query's terms that a sentence must hold."""
    must_share: bool = True
    """A sentence must hold one term of the query at least; not when a model found it."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The sentences of an answer, and why other evidence is not among them."""

    drafts: tuple[DraftSentence, ...]
    left_out: Mapping[str, str]
    """Reasons by evidence id, in the order of the evidence."""


def extract(
    evidence: Sequence[Evidence],
    *,
    query_text: str,
    limits: ExtractLimits,
    merit: Mapping[str, Merit] = MappingProxyType({}),
    trim: bool = False,
) -> Extract:
    """
    Return evidence sentences as the answer, in the order of the evidence, within `limits`.

    Left out: what does not speak of the query; what repeats an earlier one; what does not fit into
    the rest of the words, where a later, shorter one may; and, after the first, a sentence with a
    defect of form that is worth less than a share of the best one's (`WORTH_ADDING`). Short
    sentences take no place of their document: they cost few words, and may be the whole answer. Of
    one that is worth nearly as much as the best, a document may give one more. White space is
    collapsed for display; nothing else is changed unless `trim` is set (see `trimmed`). Nothing
    left: no drafts, and the caller abstains.

    Args:
        merit: of the evidence, by id; what is missing has no defect.
    """
    answer = _Growing(term_set(query_text), limits, merit)
    left_out: dict[str, str] = {}
    for item in evidence:
        text = trimmed(item.text) if trim else " ".join(item.text.split())
        reason = answer.refuses(item, text)
        if reason is None:
            answer.add(item, text)
        else:
            left_out[item.evidence_id] = reason
    return Extract(tuple(answer.drafts), left_out)


class _Growing:
    """An answer as it grows, and what may still join it."""

    def __init__(
        self, asked: frozenset[str], limits: ExtractLimits, merit: Mapping[str, Merit]
    ) -> None:
        self.drafts: list[DraftSentence] = []
        self._asked = asked
        self._limits = limits
        self._merit = merit
        self._best_worth = max((own.worth for own in merit.values()), default=0.0)
        self._words_left = limits.max_words
        self._per_document: Counter[DocId] = Counter()
        self._texts: set[str] = set()
        self._contents: list[tuple[frozenset[str], str]] = []

    def refuses(self, item: Evidence, text: str) -> str | None:
        """Return why `item`, shown as `text`, does not join; None: it does."""
        return next(self._reasons_against(item, text), None)

    def _reasons_against(self, item: Evidence, text: str) -> Iterator[str]:
        """Yield why `item` does not join, the cheapest to find out first: one is enough."""
        if len(self.drafts) == self._limits.max_sentences:
            yield "answer.max_sentences is reached"
        if not self._speaks(item):
            yield "shares too few words with the question"
        if self._is_full(item):
            yield "answer.max_per_document is reached"
        own = self._merit_of(item)
        if self._is_blemish(own):
            yield f"form: {', '.join(own.defects)}"
        if self._repeats(item):
            yield "repeats an earlier one"
        if budget_words(text) > self._words_left:
            yield "answer.max_words is reached"

    def add(self, item: Evidence, text: str) -> None:
        """Let `item` join as `text`."""
        self.drafts.append(DraftSentence(text, (item.evidence_id,)))
        self._words_left -= budget_words(text)
        self._per_document[item.doc_id] += "short" not in self._merit_of(item).defects
        self._texts.add(normalise(item.text))
        self._contents.append((term_set(item.text), item.text))

    def _merit_of(self, item: Evidence) -> Merit:
        return self._merit.get(item.evidence_id, Merit())

    def _speaks(self, item: Evidence) -> bool:
        shared = len(self._asked & term_set(item.text))
        least = self._limits.min_coverage * len(self._asked)
        return shared >= max(int(self._limits.must_share), least)

    def _is_blemish(self, own: Merit) -> bool:
        """Tell whether its defects outweigh what it would add to the answer there is."""
        least = SHORT_WORTH_ADDING if own.defects == ("short",) else WORTH_ADDING
        return bool(self.drafts and own.defects) and own.worth < least * self._best_worth

    def _is_full(self, item: Evidence) -> bool:
        """Tell whether its document has no place left for it."""
        own, most = self._merit_of(item), self._limits.max_per_document
        if most is None or "short" in own.defects:
            return False
        if own.worth >= NEARLY_AS_GOOD * self._best_worth:
            most += 1
        return self._per_document[item.doc_id] >= most

    def _repeats(self, item: Evidence) -> bool:
        """Tell whether it says what an earlier one says, word for word or nearly."""
        content = term_set(item.text)
        return normalise(item.text) in self._texts or any(
            _overlap(content, other) >= SAME_CONTENT and _agree(item.text, text)
            for other, text in self._contents
        )


def _agree(one: str, other: str) -> bool:
    """
    Tell whether two sentences of the same words name the same numbers, and deny alike.

    "Finished in 1901" and "finished in 1902" share most words and do not say the same.
    """
    return numbers(one) == numbers(other) and denies(one) == denies(other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0
