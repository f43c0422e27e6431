"""
Learn to rank sentences as evidence from questions with gold quotes, and measure it on others.

Logistic regression with an L2 penalty over standardised features (scikit-learn), one row a
sentence; its label says whether the sentence holds more than half of a gold quote, or a quote more
than half of it. The worth is measured by cross-validation over questions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ccrag.answering.calibration import Weight
from ccrag.answering.evidence import CandidateSentence
from ccrag.answering.sentence_features import Column
from ccrag.answering.sentence_ranker import SentenceRanking
from ccrag.errors import InputError, ModelError
from ccrag.evaluation.gold import GoldQuote
from ccrag.evaluation.measures import evidence_found
from ccrag.evaluation.quotes import FoldedText
from ccrag.evaluation.significance import Comparison, compare
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.stages import Stage
from ccrag.pipeline.state import Failure, QueryState
from ccrag.types import DocId, Evidence, Passage, Query, QueryId, Span

FOLDS = 5
REPEATS = 3
SEED = 0
INVERSE_PENALTY = 0.03
"""scikit-learn's C, over standardised features; .01 to .1 differ by less than a question in ten."""
FEWEST = 20
"""Questions with a gold quote in a passage read at least: fewer say nothing about others."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """The sentences of the passages that one question reads, and its gold quotes."""

    query_id: QueryId
    candidates: Sequence[CandidateSentence]
    features: Mapping[str, Column]
    quotes: Sequence[GoldQuote]
    texts: Mapping[DocId, str]
    """Texts of the documents that hold a gold quote."""
    read: Sequence[Passage]
    shown: Sequence[Evidence]
    """The evidence that the pipeline's own scorer chose."""

    def labels(self) -> npt.NDArray[np.bool_]:
        """Return which sentences are gold, `(n_sentences,)`."""
        spans = [
            (quote.doc_id, span)
            for quote in self.quotes
            if quote.doc_id in self.texts
            for span in FoldedText.of(self.texts[quote.doc_id]).spans(quote.text)
        ]
        return np.array(
            [
                any(
                    doc_id == c.passage.doc_id and _overlaps(c.span, span) for doc_id, span in spans
                )
                for c in self.candidates
            ]
        )

    def recall(self, chosen: Sequence[Evidence] | Sequence["_Shown"]) -> float | None:
        """Return the share of the gold quotes that `chosen` covers; None: no document holds one."""
        found = evidence_found(
            [quote.text for quote in self.quotes],
            texts=self.texts,
            evidence=chosen,
            passages=self.read,
        )
        return found.evidence_share

    def best(self, scores: Column, at_most: int) -> list["_Shown"]:
        """Return the best sentences that are no headings."""
        order = np.argsort(-scores, kind="stable").tolist()
        found = [self.candidates[at] for at in order if not self.candidates[at].heading]
        return [_Shown(c.passage.doc_id, *c.span) for c in found[:at_most]]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A sentence that would be shown."""

    doc_id: DocId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RankingWorth:
    """Recall of gold quotes in the sentences shown, by the own scorer and by the learnt one."""

    sentences: int
    own: Mapping[QueryId, float | None]
    learnt: Mapping[QueryId, float | None]
    """By weights that were learnt without the question; means over the repeats."""
    compared: Comparison | None

    def figures(self) -> dict[str, Any]:
        """Return the means, for the file of the ranking."""
        own, learnt = (
            float(np.mean([v for v in values.values() if v is not None]))
            for values in (self.own, self.learnt)
        )
        found = {"questions": len(self.own), "sentences": self.sentences}
        rounded = {"recall_own": round(own, 3), "recall_learnt": round(learnt, 3)}
        p = {} if self.compared is None else {"p": round(self.compared.p, 4)}
        return {**found, **rounded, **p}


def judge_questions(
    pipeline: Pipeline,
    selector: EvidenceSelector,
    queries: Sequence[Query],
    quotes: Mapping[QueryId, Sequence[GoldQuote]],
    texts: Mapping[DocId, str],
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[JudgedQuestion]:
    """
    Run the pipeline and return what it read for each question that has gold quotes.

    Args:
        pipeline: one that writes nothing, see `factory.open_to_train_evidence`.
        selector: gives the features.
        texts: of the documents that hold a gold quote.

    Raises:
        CcragError: whatever kept a query from its evidence.
        InputError: too few questions have a gold quote in what was read.
    """
    found: list[JudgedQuestion] = []

    def on_stage(stage: str, states: Sequence[QueryState]) -> None:
        if stage != Stage.EVIDENCE:
            return
        for state, candidates, features in selector.with_features(states):
            wanted = quotes.get(state.query_id, ())
            found.append(
                JudgedQuestion(
                    query_id=state.query_id,
                    candidates=candidates,
                    features=features,
                    quotes=wanted,
                    texts={q.doc_id: texts[q.doc_id] for q in wanted if q.doc_id in texts},
                    read=state.read,
                    shown=state.evidence,
                )
            )

    asked = [query for query in queries if quotes.get(query.query_id)]
    for done, outcome in enumerate(pipeline.run(asked, on_stage=on_stage), start=1):
        if isinstance(outcome, Failure):
            raise outcome.error
        on_progress(done)
    judged = [one for one in sorted(found, key=lambda j: j.query_id) if one.candidates]
    usable = sum(bool(one.labels().any()) for one in judged)
    if usable < FEWEST:
        raise InputError(
            f"{usable} questions have a gold quote in the passages read; a ranking is learnt from "
            f"{FEWEST} at least"
        )
    return judged


def measure(judged: Sequence[JudgedQuestion], *, sentences: int, seed: int = SEED) -> RankingWorth:
    """
    Return the worth of what is learnt, by cross-validation over the questions.

    Args:
        sentences: number of sentences shown.
    """
    held: dict[QueryId, list[float]] = {}
    for repeat in range(REPEATS):
        order = np.random.default_rng(seed + repeat).permutation(len(judged))
        for fold in np.array_split(order, FOLDS):
            ranking = fit([judged[at] for at in order if at not in set(fold.tolist())], {})
            for one in (judged[at] for at in fold):
                recall = one.recall(one.best(scores_of(ranking, one), sentences))
                if recall is not None:
                    held.setdefault(one.query_id, []).append(recall)
    learnt = {query_id: float(np.mean(values)) for query_id, values in held.items()}
    own = {one.query_id: one.recall(one.shown) for one in judged if one.query_id in learnt}
    return RankingWorth(sentences, own, learnt, compare(own, learnt))


def scores_of(ranking: SentenceRanking, one: JudgedQuestion) -> Column:
    """Return the probabilities of a question's sentences."""
    return ranking.probabilities(ranking.contributions(one.features))


def fit(judged: Sequence[JudgedQuestion], figures: Mapping[str, Any]) -> SentenceRanking:
    """
    Learn from all of `judged`; `figures` go into the ranking as they are.

    Raises:
        ModelError: scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise ModelError(
            "learning a ranking needs scikit-learn: pip install 'ccrag[neural]'"
        ) from error
    rows, labels = zip(*_rows(judged), strict=True)
    values, gold = np.concatenate(rows), np.concatenate(labels)
    means, scales = values.mean(axis=0), values.std(axis=0)
    scales[scales < 1e-9] = 1.0  # a feature that is always alike says nothing
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=3_000)
    model.fit((values - means) / scales, gold)
    names = list(judged[0].features)
    return SentenceRanking(
        weights={
            name: Weight(round(float(mean), 6), round(float(scale), 6), round(float(weight), 6))
            for name, mean, scale, weight in zip(names, means, scales, model.coef_[0], strict=True)
        },
        intercept=round(float(model.intercept_[0]), 6),
        figures=figures,
    )


def _rows(
    judged: Sequence[JudgedQuestion],
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
    """Yield features and labels of the questions of which a gold sentence was read."""
    for one in judged:
        labels = one.labels()
        if labels.any():
            yield np.stack(list(one.features.values()), axis=1), labels


def _overlaps(one: Span, other: Span) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > 0.5 * min(one.end - one.start, other.end - other.start)
