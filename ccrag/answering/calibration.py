"""
From features to a decision: a logistic regression, fitted elsewhere, as plain numbers. Pure.

`stages.calibrations` reads one from a file, `evaluation.calibrating` fits one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ccrag.answering.answerability import AnswerabilityFeatures
from ccrag.errors import InvariantError
from ccrag.retrieval.model_rerank import sigmoid
from ccrag.types import Answerability


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of a feature: it adds `coefficient` * (value - `mean`) / `scale`, in log-odds."""

    mean: float
    scale: float
    """Above 0."""
    coefficient: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights that were learnt from judged queries of one pipeline."""

    pipeline: str
    """Its name."""
    made_with: Mapping[str, str]
    """Its settings that decide the features, by `section.key`."""
    weights: Mapping[str, Weight]
    """By feature."""
    intercept: float
    nli: str | None
    """The entailment model that gave a feature, by folder or name on the hub, if any did."""
    figures: Mapping[str, Any]
    """Figures on queries held back, for people to read."""

    def contributions(self, features: AnswerabilityFeatures) -> dict[str, float]:
        """
        Return what each feature adds to the log-odds that the candidates do not answer.

        Raises:
            InvariantError: they are not the features that were learnt from.
        """
        if features.keys() != self.weights.keys():
            odd = ", ".join(sorted(features.keys() ^ self.weights.keys()))
            raise InvariantError(f"features other than those that were learnt from: {odd}")
        return {
            name: weight.coefficient * (features[name] - weight.mean) / weight.scale
            for name, weight in self.weights.items()
        }

    def decide(
        self, features: AnswerabilityFeatures, *, label: str, threshold: float
    ) -> Answerability:
        """Return the decision; `label` says in the record whose it is."""
        contributions = self.contributions(features)
        return Answerability(
            calibration=label,
            probability=sigmoid(self.intercept + sum(contributions.values())),
            threshold=threshold,
            features=dict(features),
            contributions=contributions,
        )
