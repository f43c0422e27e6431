"""The stage that measures ways, decides, and abstains."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ccrag.answering.calibration import Calibration, Weight
from ccrag.config import PipelineSettings
from ccrag.errors import CandidateLeakError, ModelError
from ccrag.models.reranker import RerankScores
from ccrag.pipeline.abstention import Abstainer, FeatureExtractor
from ccrag.pipeline.retrievers.dense import dot_of, engine_score
from ccrag.pipeline.state import QueryState
from ccrag.retrieval.model_rerank import sigmoid
from ccrag.types import Hit, Ranking, Turn
from tests.fakes import HashEncoder, OverlapReranker
from tests.support import query
from tests.unit.stages import by_id, evidence, passage, ranking

ASKED = "And how high is it?"


def settings(**answer: Any) -> PipelineSettings:
    lists = {"retrieval": {"lists": ["bm25", "dense"]}, "vectors": {"mode": "exact"}}
    return PipelineSettings.model_validate({**lists, "answer": answer})


def state(encoder: HashEncoder, *, found: bool = True) -> QueryState:
    one = QueryState(query(ASKED, "a", "b"), question="How high is the dam?")
    one.query = replace(one.query, turns=(Turn("user", "What of the dam?"),))
    one.vector = encoder.encode_queries([one.question]).vectors[0]
    passages = [passage("a", "The dam is high."), passage("b", "Water.")] if found else []
    names = [p.passage_id for p in passages]
    one.lists = [ranking(*names, stage="bm25:rewrite"), cosines(names, 0.5)]
    one.ranking = ranking(*names, stage="rrf")
    one.passages, one.read = by_id(*passages), tuple(passages)
    one.evidence = tuple(evidence(f"e{n}", p.text) for n, p in enumerate(passages, start=1))
    return one


def cosines(names: Sequence[str], best: float) -> Ranking:
    hits = [Hit(name, name, engine_score(best - at / 10)) for at, name in enumerate(names)]
    return Ranking.of("q1", "dense:rewrite", hits)


def calibration(intercept: float = 0.0) -> Calibration:
    encoder = HashEncoder()
    [names] = FeatureExtractor(settings(), encoder).features([state(encoder)])
    weights = dict.fromkeys(names, Weight(0.0, 1.0, 0.0))
    return Calibration("mine", {}, weights, intercept, None, {})


def decided(intercept: float, **answer: Any) -> QueryState:
    encoder = HashEncoder()
    one, chosen = state(encoder), settings(**answer)
    measuring = FeatureExtractor(chosen, encoder)
    Abstainer(chosen, measuring, calibration(intercept), label="mine@1").decide([one])
    return one


@pytest.mark.parametrize("dot", [0.7, 0.0, -0.4])
def test_an_engines_score_gives_its_dot_product_back(dot: float) -> None:
    assert dot_of(engine_score(dot)) == pytest.approx(dot)


def test_features_are_read_from_the_way() -> None:
    encoder = HashEncoder()
    one = state(encoder)
    [found] = FeatureExtractor(settings(), encoder).features([one])
    assert found["dense-top"] == pytest.approx(0.5)
    assert found["agreement"] == found["first-agreed"] == 1.0
    assert found["leans-back"] == 1.0
    assert found["turns"] == pytest.approx(np.log(2))
    assert found["turn-sentence-covers"] == 1.0  # `high` is its only content word
    vectors = encoder.encode_passages([item.text for item in one.evidence]).vectors
    assert found["sentence-top"] == pytest.approx(float((vectors @ one.unit_vector()).max()))


def test_without_dense_lists_or_an_encoder_there_are_fewer_features() -> None:
    encoder = HashEncoder()
    lexical = PipelineSettings()
    [found] = FeatureExtractor(lexical, None).features([state(encoder)])
    [all_of_them] = FeatureExtractor(settings(), encoder).features([state(encoder)])
    assert all_of_them.keys() - found.keys() == {"dense-top", "dense-drop", "sentence-top"}


def test_nothing_found_has_the_same_features() -> None:
    encoder = HashEncoder()
    measuring = FeatureExtractor(
        settings(), encoder, reranker=OverlapReranker(), entails=lambda *_: 0.5
    )
    [empty], [full] = (measuring.features([state(encoder, found=found)]) for found in (False, True))
    assert empty.keys() == full.keys()
    assert empty["sentence-top"] == empty["cross-encoder"] == empty["entailment"] == 0.0
    assert measuring.features([]) == []


def test_models_that_are_given_add_their_features() -> None:
    encoder = HashEncoder()
    told = {"The dam is high.": 0.2, "Water.": None}
    asked: list[str] = []

    def entails(premise: str, hypothesis: str) -> float | None:
        asked.append(hypothesis)
        return told[premise]

    measuring = FeatureExtractor(settings(), encoder, reranker=OverlapReranker(), entails=entails)
    [found] = measuring.features([state(encoder)])
    assert found["cross-encoder"] == sigmoid(2.0)  # shares `the` and `is`, not `dam?`
    assert found["entailment"] == 0.2
    assert asked == ["How high is the dam?"] * 2


def test_a_model_that_says_no_number_is_refused() -> None:
    class Broken(OverlapReranker):
        def scores(self, query: str, texts: Sequence[str]) -> RerankScores:
            return RerankScores([float("nan")] * len(texts))

    encoder = HashEncoder()
    with pytest.raises(ModelError, match="'overlap' gave a score that is not a number"):
        FeatureExtractor(settings(), encoder, reranker=Broken()).features([state(encoder)])


def test_the_abstention_is_the_one_set_and_keeps_the_evidence() -> None:
    one = decided(1.0, abstention="I do not have specific information.")
    assert one.answer is not None
    assert one.answer.abstained
    assert [s.text for s in one.answer.sentences] == ["I do not have specific information."]
    assert one.answer.references == ()
    assert one.answer.evidence == one.evidence
    [note] = one.notes
    assert note.stage == "answerability"
    assert note.message == (
        "the candidates seem not to answer: probability 0.73, abstention from 0.5"
    )


def test_what_seems_answered_is_left_to_the_writer_and_recorded() -> None:
    one = decided(-1.0)
    assert (one.answer, one.notes) == (None, [])
    assert one.answerability is not None
    assert one.answerability.probability == pytest.approx(sigmoid(-1.0))
    assert one.answerability.calibration == "mine@1"


def test_the_threshold_is_heard() -> None:
    assert decided(1.0, abstain_from=0.8).answer is None
    assert decided(-1.0, abstain_from=0.2).answer is not None


def test_evidence_from_outside_is_a_crash_here_too() -> None:
    encoder = HashEncoder()
    one = state(encoder)
    one.evidence = (evidence("e1", "The dam is high.", doc_id="z"),)
    abstaining = Abstainer(
        settings(), FeatureExtractor(settings(), encoder), calibration(1.0), label="mine@1"
    )
    with pytest.raises(CandidateLeakError):
        abstaining.decide([one])
