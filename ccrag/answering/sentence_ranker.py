"""
Rank sentences as evidence by learnt weights: a logistic regression, as plain numbers. Pure.

`pipeline.rankings` reads one from a file, `training.sentence_ranker` learns one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccrag.answering.calibration import Weight
from ccrag.answering.sentence_features import NEEDS_ENCODER, NEEDS_TOKENS, Column
from ccrag.errors import InvariantError

REASONS = 3
"""Features that are named as the reason for a sentence."""


@dataclass(frozen=True, slots=True)
class SentenceRanking:
    """Weights of sentence features, learnt from questions with gold quotes."""

    weights: Mapping[str, Weight]
    """By feature."""
    intercept: float
    figures: Mapping[str, Any]
    """Figures on questions held back, for people to read."""

    @property
    def needs_encoder(self) -> bool:
        """Tell whether a feature compares vectors of texts."""
        return not NEEDS_ENCODER.isdisjoint(self.weights)

    @property
    def needs_tokens(self) -> bool:
        """Tell whether a feature compares vectors of tokens."""
        return not NEEDS_TOKENS.isdisjoint(self.weights)

    def contributions(self, features: Mapping[str, Column]) -> dict[str, Column]:
        """
        Return what each feature adds to the log-odds that a sentence is evidence.

        Raises:
            InvariantError: a feature that was learnt from is missing.
        """
        missing = sorted(self.weights.keys() - features.keys())
        if missing:
            raise InvariantError(f"no feature {', '.join(missing)} to rank sentences by")
        return {
            name: weight.coefficient * (features[name] - weight.mean) / weight.scale
            for name, weight in self.weights.items()
        }

    def probabilities(self, contributions: Mapping[str, Column]) -> Column:
        """Return the probability of each sentence to be evidence, `(n_sentences,)`."""
        total = self.intercept + np.sum(list(contributions.values()), axis=0)
        return np.asarray(1 / (1 + np.exp(-total)), dtype=np.float64)


def reasons(contributions: Mapping[str, Column], at: int) -> Sequence[tuple[str, float]]:
    """Return the features that speak most for the sentence at position `at`, strongest first."""
    found = sorted(((float(v[at]), name) for name, v in contributions.items()), reverse=True)
    return [(name, value) for value, name in found[:REASONS] if value > 0]
