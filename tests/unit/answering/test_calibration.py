"""The decision's arithmetic."""

from math import exp

import pytest

from ccrag.answering.calibration import Calibration, Weight
from ccrag.errors import InvariantError
from ccrag.retrieval.model_rerank import sigmoid

CALIBRATION = Calibration(
    pipeline="mine",
    made_with={},
    weights={"a": Weight(1.0, 2.0, -3.0), "b": Weight(0.0, 1.0, 0.5)},
    intercept=0.25,
    nli=None,
    figures={},
)


def test_log_odds_are_the_intercept_and_each_features_part() -> None:
    decision = CALIBRATION.decide({"a": 2.0, "b": 4.0}, label="mine@1", threshold=0.5)
    assert decision.contributions == {"a": -3.0 * (2.0 - 1.0) / 2.0, "b": 0.5 * 4.0}
    assert decision.probability == pytest.approx(1 / (1 + exp(-(0.25 - 1.5 + 2.0))))
    assert (decision.calibration, decision.threshold) == ("mine@1", 0.5)
    assert decision.features == {"a": 2.0, "b": 4.0}


def test_it_abstains_from_the_threshold_on() -> None:
    features = {"a": 1.0, "b": -0.5}  # log-odds 0
    assert CALIBRATION.decide(features, label="", threshold=0.5).abstains
    assert not CALIBRATION.decide(features, label="", threshold=0.51).abstains


@pytest.mark.parametrize("features", [{"a": 1.0}, {"a": 1.0, "b": 0.0, "c": 0.0}])
def test_other_features_are_a_bug(features: dict[str, float]) -> None:
    with pytest.raises(InvariantError, match="other than those that were learnt from: [bc]"):
        CALIBRATION.decide(features, label="", threshold=0.5)


@pytest.mark.parametrize(("log_odds", "probability"), [(0, 0.5), (800, 1.0), (-800, 0.0)])
def test_no_log_odds_are_too_large(log_odds: float, probability: float) -> None:
    assert sigmoid(log_odds) == probability
