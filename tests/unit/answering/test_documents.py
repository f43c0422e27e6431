import pytest

from ccrag.answering.documents import keep_documents
from ccrag.types import SentenceKey

SCORES: dict[SentenceKey, float] = {
    ("a", 0, 1): 0.9,
    ("a", 1, 2): 0.7,
    ("a", 2, 3): 0.1,
    ("b", 0, 1): 0.8,
    ("b", 1, 2): 0.6,
    ("c", 0, 1): 0.85,
    ("c", 1, 2): 0.1,
}


@pytest.mark.parametrize(
    ("best", "ratio", "at_most", "kept"),
    [
        (2, 0.0, 9, ("a", "b", "c")),  # means .8, .7, .475
        (2, 0.85, 9, ("a", "b")),  # floor .68
        (2, 0.9, 9, ("a",)),
        (2, 0.0, 1, ("a",)),
        (1, 0.0, 9, ("a", "c", "b")),
        (9, 0.0, 9, ("b", "a", "c")),  # means .7, .567, .475: fewer sentences, all of them
    ],
)
def test_documents_stay_by_the_mean_of_their_best_sentences(
    best: int, ratio: float, at_most: int, kept: tuple[str, ...]
) -> None:
    assert keep_documents(SCORES, best=best, ratio=ratio, at_most=at_most) == kept


def test_no_scores_keep_nothing() -> None:
    assert keep_documents({}, best=5, ratio=0.85, at_most=4) == ()


def test_ties_go_by_id_and_negative_scores_keep_the_best_only() -> None:
    tied: dict[SentenceKey, float] = {("b", 0, 1): -0.5, ("a", 0, 1): -0.5, ("c", 0, 1): -0.6}
    assert keep_documents(tied, best=1, ratio=0.85, at_most=4) == ("a", "b")
