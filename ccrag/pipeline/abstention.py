"""Whether a query's candidates answer it: features of its way, and abstention where they do not."""

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from ccrag.answering.answerability import CROSS_ENCODER, ENTAILMENT, Features, Seen, features
from ccrag.answering.calibration import Calibration
from ccrag.answering.citations import assemble
from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.pipeline.retrievers import dot_of
from ccrag.pipeline.state import Way
from ccrag.query.rewrite_rules import leans_back
from ccrag.retrieval.model_rerank import sigmoid
from ccrag.types import Ranking

STAGE = "answerability"
Entails = Callable[[str, str], float | None]
"""From (premise, hypothesis) to the probability of entailment; None: cannot be told."""


class Measuring:
    """The features of ways that have their evidence."""

    def __init__(
        self,
        settings: PipelineSettings,
        encoder: Encoder | None,
        *,
        reranker: Reranker | None = None,
        entails: Entails | None = None,
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

    def features(self, ways: Sequence[Way]) -> list[dict[str, float]]:
        """Return one mapping per way; sentences of all of them are encoded in one call."""
        closest = self._closest(ways)
        return [
            {**features(self._seen(way, cosine)), **self._by_models(way)}
            for way, cosine in zip(ways, closest, strict=True)
        ]

    def _seen(self, way: Way, closest: float | None) -> Seen:
        dense = [ranking for ranking in way.lists if ranking.stage.startswith("dense:")]
        return Seen(
            question=way.question,
            turn=way.query.text,
            turns=way.query.turns,
            leans_back=leans_back(way.query.text),
            lists=way.lists,
            bm25=[_scores(ranked) for ranked in way.lists if ranked.stage.startswith("bm25:")],
            cosines=[list(map(dot_of, _scores(r))) for r in dense] if self._has_dense else None,
            ranking=way.current(),
            shortlist=list(way.passages.values()),
            read=way.read,
            evidence=[item.text for item in way.evidence],
            closest=closest,
        )

    def _closest(self, ways: Sequence[Way]) -> list[float | None]:
        """Return the best cosine of each way's question and evidence; None without an encoder."""
        if self._encoder is None:
            return [None] * len(ways)
        texts = list(dict.fromkeys(item.text for way in ways for item in way.evidence))
        vectors = dict(zip(texts, self._encoder.encode_passages(texts).vectors, strict=True))
        return [
            max(
                (float(np.dot(vectors[item.text], way.unit_vector())) for item in way.evidence),
                default=0.0,
            )
            for way in ways
        ]

    def _by_models(self, way: Way) -> dict[str, float]:
        found: dict[str, float] = {}
        if self._reranker is not None:
            texts = [passage.text for passage in way.read]
            scores = self._reranker.scores(way.question, texts).values if texts else []
            if not all(map(isfinite, scores)):
                raise ModelError(f"{self._reranker.model_id!r} gave a score that is not a number")
            found[CROSS_ENCODER] = max(map(sigmoid, scores), default=0.0)
        if self._entails is not None:
            told = (self._entails(item.text, way.question) for item in way.evidence)
            found[ENTAILMENT] = max((p for p in told if p is not None), default=0.0)
        return found


def _scores(ranking: Ranking) -> list[float]:
    return [hit.score for hit in ranking]


class Abstaining:
    """Decides for each way, and gives those that are not answered the abstention."""

    def __init__(
        self,
        settings: PipelineSettings,
        measuring: Measuring,
        calibration: Calibration,
        *,
        label: str,
    ) -> None:
        """Take who looks and who weighs; `label` says in the record which calibration it is."""
        self._measuring = measuring
        self._calibration = calibration
        self._label = label
        self._threshold = settings.answer.abstain_from
        self._abstention = settings.answer.abstention

    def decide(self, ways: Sequence[Way]) -> None:
        for way, found in zip(ways, self._measuring.features(ways), strict=True):
            self._one(way, found)

    def _one(self, way: Way, found: Features) -> None:
        decision = self._calibration.decide(found, label=self._label, threshold=self._threshold)
        way.answerability = decision
        if not decision.abstains:
            return
        way.answer, _ = assemble(way.query, (), way.evidence, abstention=self._abstention)
        way.note(
            STAGE,
            f"the candidates seem not to answer: probability {decision.probability:.2f}, "
            f"abstention from {decision.threshold:g}",
        )
