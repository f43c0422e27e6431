"""
Linked reading: short runs of sentences from the documents that belong together. Pure.

Whole units lose to short passages at equal budgets, because one long document eats the budget. Here
the budget is spread instead: the best passage opens its unit; the best sentences of its documents,
and of all others ranked, are read with their neighbours, in turn, each document's next run counting
less than the one before.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ccrag.retrieval.fusion import reciprocal_ranks
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Passage, PassageId, SentenceKey, Span, make_passage_id

SentenceScoreMap = Mapping[SentenceKey, float]


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """A sentence of a passage, white space included."""

    passage: Passage
    span: Span

    @property
    def key(self) -> SentenceKey:
        """Return what its scores are filed under."""
        return self.passage.doc_id, self.span.start, self.span.end

    @property
    def text(self) -> str:
        """Return the document's text at `span`."""
        return self.passage.slice(self.span)


class Pool:
    """The sentences that may be read, each with its neighbours in its section."""

    def __init__(self, passages: Iterable[Passage], *, window: int) -> None:
        """
        Take the sentences of `passages`; one that two passages share is taken once.

        Where one passage ends with it, white space may be missing: the longer one is taken, of
        equals the first.

        Args:
            window: neighbours on each side that are read with a sentence.
        """
        found: dict[tuple[DocId, int], PassageSentence] = {}
        for passage in passages:
            for span in passage.sentences:
                other = found.get((passage.doc_id, span.start))
                if other is None or other.span.end < span.end:
                    found[passage.doc_id, span.start] = PassageSentence(passage, span)
        self.ordered = [found[place] for place in sorted(found)]
        """By document and place."""
        self._place = {sentence.key: at for at, sentence in enumerate(self.ordered)}
        self._window = window

    @property
    def sentences(self) -> list[PassageSentence]:
        """Return all but blank ones, in the same order."""
        return [sentence for sentence in self.ordered if sentence.text.strip()]

    def run(self, sentence: PassageSentence) -> tuple[PassageSentence, ...]:
        """Return a sentence and its neighbours, as far as they stand beside it in its section."""
        at = self._place[sentence.key]
        first = last = at
        while first > max(0, at - self._window) and self._touch(first - 1, first):
            first -= 1
        end = min(len(self.ordered) - 1, at + self._window)
        while last < end and self._touch(last, last + 1):
            last += 1
        return tuple(self.ordered[first : last + 1])

    def runs_around(self, sentence: PassageSentence) -> Iterator[str]:
        """
        Yield what a run of `sentence` could say where some of its neighbours are not in the pool.
        """
        run = self.run(sentence)
        at = run.index(sentence)
        for first in range(at + 1):
            for last in range(at, len(run)):
                texts = (neighbour.text for neighbour in run[first : last + 1])
                yield " ".join(" ".join(texts).split())

    def run_text(self, sentence: PassageSentence) -> str:
        """Return what a run says."""
        return " ".join(" ".join(neighbour.text for neighbour in self.run(sentence)).split())

    def _touch(self, at: int, after: int) -> bool:
        """Tell whether nothing but white space stands between two sentences of a section."""
        one, other = self.ordered[at], self.ordered[after]
        if (one.passage.doc_id, one.passage.section) != (
            other.passage.doc_id,
            other.passage.section,
        ):
            return False
        return one.span.end == other.span.start or (
            other.passage.ordinal == one.passage.ordinal + 1
            and one.span.end == one.passage.end
            and other.span.start == other.passage.start
        )


@dataclass(frozen=True, slots=True)
class LinkedRules:
    """The rules by which the budget is spread."""

    max_tokens: int | None
    spread: float
    """A document's n-th run counts 1 / (1 + spread * (n - 1))."""
    bonus: float
    """The first run of a document of the opened unit counts 1 + bonus."""
    max_share: float
    """Of the budget, for one document."""


def combine(
    lists: Sequence[SentenceScoreMap], passage_ranks: Mapping[PassageId, int], pool: Pool, *, k: int
) -> dict[SentenceKey, float]:
    """
    Return a score per sentence: the sum of 1 / (k + rank) over the lists and its passage's rank.

    A sentence that a list lacks, or whose passage is not ranked, gets nothing from there; ties in
    a list go by place.
    """
    scores = {
        sentence.key: _reciprocal(passage_ranks.get(sentence.passage.passage_id), k)
        for sentence in pool.sentences
    }
    for held in lists:
        for key, share in reciprocal_ranks(held, k=k).items():
            scores[key] += share
    return scores


def _reciprocal(rank: int | None, k: int) -> float:
    return 0.0 if rank is None else 1 / (k + rank)


def opener(scores: SentenceScoreMap) -> SentenceKey | None:
    """Return the sentence that opens its unit: the best, ties by place; None when there is none."""
    return min(scores, key=lambda key: (-scores[key], key), default=None)


def with_mentions(
    scores: SentenceScoreMap, closeness: SentenceScoreMap, *, weight: float, k: int
) -> dict[SentenceKey, float]:
    """Return the scores, plus `weight` / (k + rank) by closeness to what the opener says."""
    added = reciprocal_ranks(closeness, k=k)
    return {key: score + weight * added.get(key, 0.0) for key, score in scores.items()}


def choose_runs(
    pool: Pool,
    scores: SentenceScoreMap,
    rules: LinkedRules,
    count: TokenCounter,
    *,
    unit: frozenset[DocId] = frozenset(),
) -> dict[DocId, list[PassageSentence]]:
    """
    Return the sentences to read per document: documents in the order they were first chosen,
    sentences in the document's order.

    Again and again the best run that fits is taken. A run that does not fit is passed over, and a
    shorter one may follow. What two runs share counts once.

    Args:
        scores: of every sentence of the pool; higher is better, none below 0.
        unit: the documents of the opened unit but for the one that opened it.
    """
    choosing = _Choosing(pool, scores, rules, count, unit)
    while choosing.take_next():
        pass
    return choosing.by_document()


class _Choosing:
    """The sentences that wait and those that were taken."""

    def __init__(
        self,
        pool: Pool,
        scores: SentenceScoreMap,
        rules: LinkedRules,
        count: TokenCounter,
        unit: frozenset[DocId],
    ) -> None:
        self._pool, self._scores, self._rules, self._unit = pool, scores, rules, unit
        self._sizes = {s.key: count(s.text) for s in pool.ordered}
        self._waiting: dict[DocId, deque[PassageSentence]] = {}
        for sentence in sorted(pool.sentences, key=lambda s: (-scores[s.key], s.key)):
            self._waiting.setdefault(sentence.passage.doc_id, deque()).append(sentence)
        self._taken: set[SentenceKey] = set()
        self._tokens: dict[DocId, int] = {}
        """In the order in which documents were first read."""
        self._runs: Counter[DocId] = Counter()

    def take_next(self) -> bool:
        """Look at the best run that waits, and take it if it fits; False when none waits."""
        if not self._waiting:
            return False
        doc_id = min(self._waiting, key=lambda doc_id: (-self._worth(doc_id), doc_id))
        run = self._pool.run(self._waiting[doc_id].popleft())
        fresh = [sentence.key for sentence in run if sentence.key not in self._taken]
        size = sum(self._sizes[key] for key in fresh)
        if self._fits(doc_id, size):
            self._taken.update(fresh)
            self._tokens[doc_id] = self._tokens.get(doc_id, 0) + size
            self._runs[doc_id] += 1
        self._drop_read(doc_id)
        return True

    def _worth(self, doc_id: DocId) -> float:
        """Return what the next run of a document counts."""
        runs = self._runs[doc_id]
        bonus = self._rules.bonus if doc_id in self._unit and not runs else 0.0
        score = self._scores[self._waiting[doc_id][0].key]
        return score * (1 + bonus) / (1 + self._rules.spread * runs)

    def _fits(self, doc_id: DocId, size: int) -> bool:
        budget = self._rules.max_tokens
        if budget is None:
            return True
        of_document = self._tokens.get(doc_id, 0) + size
        in_all = sum(self._tokens.values()) + size
        return of_document <= self._rules.max_share * budget and in_all <= budget

    def _drop_read(self, doc_id: DocId) -> None:
        """Leave out what has been read as another sentence's neighbour."""
        queue = self._waiting[doc_id]
        while queue and queue[0].key in self._taken:
            queue.popleft()
        if not queue:
            del self._waiting[doc_id]

    def by_document(self) -> dict[DocId, list[PassageSentence]]:
        """Return the sentences taken."""
        chosen: dict[DocId, list[PassageSentence]] = {doc_id: [] for doc_id in self._tokens}
        for sentence in self._pool.ordered:
            if sentence.key in self._taken:
                chosen[sentence.passage.doc_id].append(sentence)
        return chosen


def joined(sentences: Sequence[PassageSentence]) -> list[Passage]:
    """
    Return one document's sentences as passages: those that stand side by side in a section as one.

    Their ids are made as any passage's, of span and text; ordinals are those of the passages that
    the first sentences come from.
    """
    runs: list[list[PassageSentence]] = []
    for sentence in sentences:
        before = runs[-1][-1] if runs else None
        if (
            before is not None
            and before.span.end == sentence.span.start
            and before.passage.section == sentence.passage.section
        ):
            runs[-1].append(sentence)
        else:
            runs.append([sentence])
    return [_passage(run) for run in runs]


def _passage(run: Sequence[PassageSentence]) -> Passage:
    span = Span(run[0].span.start, run[-1].span.end)
    text = "".join(sentence.text for sentence in run)
    first = run[0].passage
    return replace(
        first,
        passage_id=make_passage_id(first.doc_id, span, text),
        start=span.start,
        end=span.end,
        sentences=tuple(sentence.span for sentence in run),
        text=text,
    )
