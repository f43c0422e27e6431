from ccrag.answering.evidence import candidate_sentences
from ccrag.answering.sentence_scores import bm25_sentence_scores, rrf_sentence_scores
from ccrag.types import SentenceKey
from tests.unit.stages import passage

A: SentenceKey = ("a", 0, 1)
B: SentenceKey = ("b", 0, 1)
C: SentenceKey = ("c", 0, 1)


def test_rrf_is_the_papers_arithmetic_and_absent_sentences_get_nothing() -> None:
    fused = rrf_sentence_scores([{A: 0.9, B: 0.5}, {C: 7.0, A: 3.0}], k=20)
    assert fused == {A: 1 / 21 + 1 / 22, B: 1 / 22, C: 1 / 21}


def test_ties_go_by_key_and_nothing_gives_nothing() -> None:
    assert rrf_sentence_scores([{B: 1.0, A: 1.0}], k=1) == {A: 1 / 2, B: 1 / 3}
    assert rrf_sentence_scores([], k=1) == {}
    assert rrf_sentence_scores([{}, {}], k=1) == {}


def test_bm25_ranks_the_sentences_and_leaves_out_what_matches_nothing() -> None:
    found = candidate_sentences(
        [passage("a", sentences=["Ice melts fast. ", "Ice is cold. ", "Snow falls here."])],
        sentences_per_passage=5,
        is_heading=lambda *_: False,
    )
    scores = bm25_sentence_scores("melting ice", found, k1=1.5, b=0.75)
    assert list(scores) == [found[0].key, found[1].key]
    assert scores[found[0].key] > scores[found[1].key]
    assert bm25_sentence_scores("zebra", found, k1=1.5, b=0.75) == {}
    assert bm25_sentence_scores("ice", [], k1=1.5, b=0.75) == {}
