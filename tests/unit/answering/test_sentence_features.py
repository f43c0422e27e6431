"""Features of sentences are relative to their query, and say what their names say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.documents import likely_documents
from ccrag.answering.evidence import CandidateSentence, candidate_sentences
from ccrag.answering.sentence_features import (
    NEEDS_ENCODER,
    NEEDS_TOKENS,
    SentenceSignals,
    question_parts,
    sentence_features,
)
from ccrag.types import Evidence
from tests.unit.stages import passage

SENTENCES = ("The dam was finished in 1931. ", "It is high. ", "See also: dams(x) = {1}")


def candidates() -> tuple[CandidateSentence, ...]:
    return candidate_sentences(
        [passage("d#1", doc_id="d", sentences=SENTENCES)],
        sentences_per_passage=9,
        is_heading=lambda *_: False,
    )


def signals(count: int, **more: object) -> SentenceSignals:
    column = np.arange(count, 0, -1, dtype=np.float64)
    return SentenceSignals(column, column, column[:, None], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How high is the dam?", ["How high is the dam?"]),
        (
            "How high is the dam, and who built the long bridge?",
            ["How high is the dam", "built the long bridge?"],
        ),
        ("dam and", ["dam and"]),
        ("", [""]),
    ],
)
def test_a_question_is_parted_at_its_clauses(question: str, parts: list[str]) -> None:
    found = [question[span.start : span.end].strip() for span in question_parts(question)]
    assert found == parts


def test_features_of_models_are_there_where_their_scores_are() -> None:
    found = candidates()
    words = sentence_features(found, signals(len(found))).keys()
    assert words.isdisjoint(NEEDS_ENCODER | NEEDS_TOKENS)
    column = np.zeros(len(found))
    more = {
        "cosines": column,
        "closest": np.ones((len(found), 2)),
        "token_weights": np.array([0.5, 0.5]),
    }
    every = sentence_features(found, signals(len(found), **more)).keys()
    assert every == words | NEEDS_ENCODER | NEEDS_TOKENS


def test_form_neighbours_and_ranks() -> None:
    found = candidates()
    features = sentence_features(found, signals(len(found)))
    assert features["ends"].tolist() == [1, 1, 0]
    assert features["first"].tolist() == [1, 0, 0]
    assert features["short"].tolist() == [0, 1, 1]
    assert features["code"][2] > 0 == features["code"][0]
    assert features["bm25_rank"].tolist() == [20 / 21, 20 / 22, 20 / 23]
    assert features["bm25"].mean() == pytest.approx(0)
    # the middle sentence takes in both of its neighbours, the outer ones one each
    assert features["bm25_neighbours"][1] == pytest.approx(0)


def test_tokens_take_in_neighbours_and_parts() -> None:
    found = candidates()
    closest = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    features = sentence_features(
        found,
        signals(
            len(found),
            closest=closest,
            token_weights=np.array([0.5, 0.5]),
            token_parts=(np.array([0]), np.array([1])),
        ),
    )
    assert np.argmax(features["tokens_neighbours"]) == 1  # both its neighbours meet one token
    assert features["tokens_part_top"].tolist() == [3 / 4, 3 / 5, 3 / 4]


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.floats(0.5, 3), st.floats(-9, 9))
def test_scale_and_shift_of_scores_change_nothing(
    scores: list[float], scale: float, shift: float
) -> None:
    found, column = candidates(), np.round(np.array(scores), 2)
    one = sentence_features(found, SentenceSignals(column, column, column[:, None]))
    moved = column * scale + shift
    other = sentence_features(found, SentenceSignals(moved, moved, moved[:, None]))
    for name in ("bm25", "bm25_in_context", "bm25_neighbours"):
        assert one[name] == pytest.approx(other[name], abs=1e-6)


def test_likely_documents_add_up_their_sentences() -> None:
    def item(doc_id: str, score: float) -> Evidence:
        return Evidence("e", f"{doc_id}#1", doc_id, (), 0, 1, "x", score)

    shown = [item("a", 0.5), item("b", 0.3), item("b", 0.3), item("c", 0.09)]
    assert likely_documents(shown, ratio=0.2) == {"a", "b"}  # .5, .51, .09
    assert likely_documents(shown, ratio=0.0) == {"a", "b", "c"}
    assert likely_documents(shown, ratio=1.0) == {"b"}
    assert likely_documents([], ratio=0.5) == frozenset()
