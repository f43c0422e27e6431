"""Decide whether the candidates answer a query, and abstain where they do not."""

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from ccrag.answering.answerability import (
    CROSS_ENCODER,
    ENTAILMENT,
    AnswerabilityFeatures,
    AnswerabilityInput,
    features,
)
from ccrag.answering.calibration import Calibration
from ccrag.answering.citations import assemble
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.pipeline.retrievers.dense import dot_of
from ccrag.pipeline.stages import Stage
from ccrag.pipeline.state import QueryState
from ccrag.query.rewrite_rules import leans_back
from ccrag.retrieval.model_rerank import sigmoid
from ccrag.types import Ranking

EntailmentScore = Callable[[str, str], float | None]
"""From (premise, hypothesis) to the probability of entailment; None: cannot be told."""


class FeatureExtractor:
    """Compute the features of queries that have their evidence."""

    def __init__(
        self,
        settings: PipelineSettings,
        encoder: Encoder | None,
        *,
        reranker: Reranker | None = None,
        entails: EntailmentScore | None = None,
    ) -> None:
        """
        Take the models that look.

        Args:
            encoder: the pipeline's own, if it has one.
            reranker: gives `cross-encoder`: the best score of a passage read for the question,
                0 to 1.
            entails: gives `entailment`: the best probability, 0 to 1, that a sentence of the
                evidence entails the question.
        """
        self._has_dense = "dense" in settings.retrieval.lists
        self._encoder = encoder
        self._reranker = reranker
        self._entails = entails

    def features(self, states: Sequence[QueryState]) -> list[dict[str, float]]:
        """Return one mapping per query; sentences of all of them are encoded in one call."""
        closest = self._closest(states)
        return [
            {**features(self._seen(state, cosine)), **self._by_models(state)}
            for state, cosine in zip(states, closest, strict=True)
        ]

    def _seen(self, state: QueryState, closest: float | None) -> AnswerabilityInput:
        dense = [ranking for ranking in state.lists if ranking.source == "dense"]
        return AnswerabilityInput(
            question=state.question,
            turn=state.query.text,
            turns=state.query.turns,
            leans_back=leans_back(state.query.text),
            lists=state.lists,
            bm25=[_scores(ranked) for ranked in state.lists if ranked.source == "bm25"],
            cosines=[list(map(dot_of, _scores(r))) for r in dense] if self._has_dense else None,
            ranking=state.current(),
            shortlist=list(state.passages.values()),
            read=state.read,
            evidence=[item.text for item in state.evidence],
            closest=closest,
        )

    def _closest(self, states: Sequence[QueryState]) -> list[float | None]:
        """Return the best cosine of each query's question and evidence; None without an encoder."""
        if self._encoder is None:
            return [None] * len(states)
        texts = list(dict.fromkeys(item.text for state in states for item in state.evidence))
        vectors = dict(zip(texts, self._encoder.encode_passages(texts).vectors, strict=True))
        return [
            max(
                (float(np.dot(vectors[item.text], state.unit_vector())) for item in state.evidence),
                default=0.0,
            )
            for state in states
        ]

    def _by_models(self, state: QueryState) -> dict[str, float]:
        found: dict[str, float] = {}
        if self._reranker is not None:
            texts = [passage.text for passage in state.read]
            scores = self._reranker.scores(state.question, texts).values if texts else []
            if not all(map(isfinite, scores)):
                raise ModelError(f"{self._reranker.model_id!r} gave a score that is not a number")
            found[CROSS_ENCODER] = max(map(sigmoid, scores), default=0.0)
        if self._entails is not None:
            told = (self._entails(item.text, state.question) for item in state.evidence)
            found[ENTAILMENT] = max((p for p in told if p is not None), default=0.0)
        return found


def _scores(ranking: Ranking) -> list[float]:
    return [hit.score for hit in ranking]


class Abstainer:
    """Decide for each query whether its candidates answer it, and abstain where they do not."""

    def __init__(
        self,
        settings: PipelineSettings,
        extractor: FeatureExtractor,
        calibration: Calibration,
        *,
        label: str,
    ) -> None:
        """Take who looks and who weighs; `label` says in the record which calibration it is."""
        self._extractor = extractor
        self._calibration = calibration
        self._label = label
        self._threshold = settings.answer.abstain_from
        self._abstention = settings.answer.abstention

    def decide(self, states: Sequence[QueryState]) -> None:
        for state, found in zip(states, self._extractor.features(states), strict=True):
            self._one(state, found)

    def _one(self, state: QueryState, found: AnswerabilityFeatures) -> None:
        decision = self._calibration.decide(found, label=self._label, threshold=self._threshold)
        state.answerability = decision
        if not decision.abstains:
            return
        state.answer, _ = assemble(state.query, (), state.evidence, abstention=self._abstention)
        state.note(
            Stage.ANSWERABILITY.value,
            f"the candidates seem not to answer: probability {decision.probability:.2f}, "
            f"abstention from {decision.threshold:g}",
        )
