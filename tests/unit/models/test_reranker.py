"""Scoring by a cross-encoder: windows, batches, order. The model here counts words."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import InvariantError, ModelError
from ccrag.models.folder import ModelFolder
from ccrag.models.reranker import CrossEncoderReranker, RerankScores
from ccrag.pipeline.model_scores import cosine_scores, scores_by_id, sentence_scores
from tests.unit.stages import passage


class Encoded(dict[str, list[list[tuple[int, int]]]]):
    """What a tokenizer returns; a token is up to four characters of a word."""

    def __init__(self, texts: Sequence[str]) -> None:
        tokens = [list(_tokens(text)) for text in texts]
        super().__init__(offset_mapping=[[(s, e) for _, s, e in of_text] for of_text in tokens])
        self._words = [[word for word, _, _ in of_text] for of_text in tokens]

    def word_ids(self, index: int) -> list[int]:
        return self._words[index]


def _tokens(text: str) -> list[tuple[int, int, int]]:
    found, at = [], 0
    for number, word in enumerate(text.split()):
        at = text.index(word, at)
        end = at + len(word)
        found += [(number, start, min(start + 4, end)) for start in range(at, end, 4)]
        at = end
    return found


class Tokenizer:
    is_fast = True

    def __call__(self, texts: Sequence[str], **options: bool) -> Encoded:
        assert options == {
            "add_special_tokens": False, "return_offsets_mapping": True, "verbose": False
        }  # fmt: skip
        return Encoded(texts)

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        return 3 if pair else 2


class Model:
    """Scores a pair by how many words it shares; refuses what it would have to cut."""

    def __init__(self, max_tokens: int) -> None:
        self.tokenizer = Tokenizer()
        self.max_tokens = max_tokens
        self.batches: list[list[tuple[str, str]]] = []

    def logits(self, batches: Sequence[Sequence[tuple[str, str]]]) -> Iterator[list[float]]:
        for pairs in batches:
            for query, text in pairs:
                assert len(_tokens(query)) + len(_tokens(text)) + 3 <= self.max_tokens
            self.batches.append(list(pairs))
            yield [self.score(*pair) for pair in pairs]

    def score(self, query: str, text: str) -> float:
        return float(sum(text.split().count(word) for word in query.split()))


def reranker(
    model: Any = None, *, max_tokens: int = 16, overlap: int = 2, batch_tokens: int = 64
) -> tuple[CrossEncoderReranker, Any]:
    model = model or Model(max_tokens)
    folder = ModelFolder(Path("m"), "m", "r")
    found = CrossEncoderReranker(
        model, folder, max_tokens=max_tokens, window_overlap=overlap, batch_tokens=batch_tokens
    )
    return found, model


def test_no_texts_make_no_call() -> None:
    scorer, model = reranker()
    assert scorer.scores("x", []) == RerankScores([])
    assert scores_by_id(scorer, "x", {}) == ({}, [])
    assert model.batches == []


def test_scores_come_in_the_order_of_the_texts() -> None:
    scorer, _ = reranker()
    texts = ["b", "x x", "", "x a b c d", "x x x"]
    assert scorer.scores("x", texts) == RerankScores([0, 2, 0, 1, 3])


@given(st.permutations(["x", "x x", "b x x x", "b", "x b x x x c"]))
def test_the_order_of_the_texts_changes_no_batch(texts: list[str]) -> None:
    scorer, model = reranker(batch_tokens=12)
    found = scorer.scores("x", texts)
    assert found.values == [text.count("x") for text in texts]
    first, second = reranker(batch_tokens=12)
    first.scores("x", sorted(texts))
    assert model.batches == second.batches


def test_identical_texts_are_scored_once() -> None:
    scorer, model = reranker()
    assert scorer.scores("x", ["a x", "b", "a x"]).values == [1, 0, 1]
    assert sorted(text for batch in model.batches for _, text in batch) == ["a x", "b"]


def test_batches_keep_the_token_budget_and_hold_like_lengths() -> None:
    scorer, model = reranker(batch_tokens=20)
    scorer.scores("x", ["a", "b", "c d e f g h", "i j", "k l m n o p"])
    # 6 words, the query's and the three special tokens are 10: two fit into 20
    assert [[text for _, text in batch] for batch in model.batches] == [
        ["c d e f g h", "k l m n o p"],
        ["i j", "a", "b"],
    ]


def test_a_text_above_the_budget_travels_alone() -> None:
    scorer, model = reranker(batch_tokens=1)
    scorer.scores("x", ["a", "b"])
    assert [len(batch) for batch in model.batches] == [1, 1]


def test_an_answer_far_behind_the_limit_is_found() -> None:
    scorer, model = reranker(max_tokens=512, overlap=64, batch_tokens=4096)
    late = "word " * 600 + "answer here"
    found = scorer.scores("answer", ["answer word", late, "word " * 600])
    assert found == RerankScores([1, 1, 0], windowed=2)
    pieces = [text for batch in model.batches for _, text in batch if text in late]
    assert max(len(piece.split()) for piece in pieces) == 512 - 2 - 3  # "answer" is two


def test_the_best_window_counts_and_not_their_sum() -> None:
    scorer, _ = reranker(overlap=0)
    text = " ".join(["x", *"abcdefghijk", "x", "x", *"lmnopq", "x"])  # 12 fit beside the query
    assert scorer.scores("x", [text]) == RerankScores([3], windowed=1)
    assert scorer.scores("x", [text[::-1]]) == RerankScores([3], windowed=1)


def test_a_text_that_just_fits_is_not_windowed() -> None:
    scorer, _ = reranker()
    assert scorer.scores("x", ["a " * 12]).windowed == 0
    assert scorer.scores("x", ["a " * 13]).windowed == 1


@given(st.lists(st.sampled_from(["a", "x", "longer", "wordwordwordword", "é\u0301"]), max_size=60))
def test_windows_never_split_a_word_that_fits(words: list[str]) -> None:
    scorer, model = reranker()
    scorer.scores("x", [" ".join(words)])
    assert {word for batch in model.batches for _, text in batch for word in text.split()} == set(
        words
    )


def test_a_query_that_is_too_long_leaves_half_for_the_text() -> None:
    scorer, model = reranker()
    found = scorer.scores("q " * 30, ["a b", "c " * 9])
    assert found.query_cut
    assert found.windowed == 1
    assert {query for batch in model.batches for query, _ in batch} == {"q q q q q q q q"}
    assert not scorer.scores("q " * 8, ["a"]).query_cut


def test_a_score_that_is_no_number_is_an_error() -> None:
    class Broken(Model):
        def score(self, query: str, text: str) -> float:
            return float("nan")

    scorer, _ = reranker(Broken(16))
    with pytest.raises(ModelError, match="'m' gave a score that is not a number"):
        scorer.scores("x", ["a"])


def test_threads_take_turns() -> None:
    class Exclusive(Model):
        busy = threading.Lock()

        def logits(self, batches: Sequence[Sequence[tuple[str, str]]]) -> Iterator[list[float]]:
            assert self.busy.acquire(blocking=False)
            threading.Event().wait(0.005)
            self.busy.release()
            yield from super().logits(batches)

    scorer, _ = reranker(Exclusive(16))
    found: list[RerankScores] = []
    threads = [
        threading.Thread(target=lambda: found.append(scorer.scores("x", ["x", "a"])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [RerankScores([1, 0])] * 8


class Reversing:
    """A reranker whose scores say where a text stood."""

    model_id, revision, max_tokens = "m", "r", 512

    def __init__(self, *, windowed: int = 0, query_cut: bool = False, extra: int = 0) -> None:
        self._said = windowed, query_cut
        self._extra = extra

    def scores(self, query: str, texts: Sequence[str]) -> RerankScores:
        return RerankScores(
            [float(-len(text)) for text in texts] + [0.0] * self._extra, *self._said
        )


def test_scores_are_filed_by_id_with_what_is_worth_knowing() -> None:
    assert scores_by_id(Reversing(), "q", {"p": "aa", "r": "a"}) == ({"p": -2, "r": -1}, [])
    _, notes = scores_by_id(Reversing(windowed=1, query_cut=True), "q", {"p": "aa", "r": "a"})
    assert [note.stage for note in notes] == ["reranker", "reranker"]
    assert notes[0].message.startswith("1 of 2 texts with the query are longer than the 512 tokens")
    assert "the query takes more than half" in notes[1].message


def test_a_reranker_that_loses_texts_is_refused() -> None:
    with pytest.raises(InvariantError, match="'m' gave 2 scores for 1 texts"):
        scores_by_id(Reversing(extra=1), "q", {"p": "a"})


def candidates(*texts: str) -> Any:
    from ccrag.answering.evidence import candidate_sentences

    found = passage("p", sentences=texts)
    return candidate_sentences([found], sentences_per_passage=9, is_heading=lambda *_: False)


def test_sentences_are_scored_under_their_keys() -> None:
    scores, _ = sentence_scores(Reversing(), "q", candidates("abc ", "de"))
    assert scores == {("p", 0, 3): -3, ("p", 4, 6): -2}
    assert sentence_scores(Reversing(), "q", ()) == ({}, [])


def test_cosines_are_filed_under_their_keys() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    query = np.array([0, 1], dtype=np.float32)
    found = cosine_scores(query, vectors, candidates("abc ", "de"))
    assert found == {("p", 0, 3): 0, ("p", 4, 6): pytest.approx(0.8)}
    assert cosine_scores(query, vectors[:0], ()) == {}
    with pytest.raises(InvariantError, match="1 vectors for 2 sentences"):
        cosine_scores(query, vectors[:1], candidates("abc ", "de"))
    with pytest.raises(InvariantError, match="not a number"):
        cosine_scores(query * np.nan, vectors, candidates("abc ", "de"))
