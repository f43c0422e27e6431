"""Semantic and topic-shift chunking, over vectors that say what a sentence is about."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.chunking.semantic import (
    chunk_sentences,
    group_semantic,
    group_topic_shift,
)
from ccrag.errors import InvariantError, ModelError
from ccrag.text.words import passage_words
from ccrag.types import Document, Passage, doc_id_of

Vectors = npt.NDArray[np.float32]
VectorsOf = Callable[[Sequence[str]], Vectors]
Chunk = Callable[..., list[Passage]]


def semantic_passages(
    document: Document,
    vectors_of: VectorsOf,
    *,
    max_words: int,
    threshold: float = 0.72,
    edges: int = 0,
) -> list[Passage]:
    """Both steps for one document: cut, then group by meaning."""
    cut = chunk_sentences(document, max_words=max_words)
    if not cut.sections:
        return []
    return group_semantic(cut, vectors_of(cut.texts), threshold=threshold, edges=edges)


def topic_shift_passages(
    document: Document,
    vectors_of: VectorsOf,
    *,
    max_words: int,
    threshold: float = 0.18,
    edges: int = 0,
) -> list[Passage]:
    """Both steps for one document: cut, then group by shifts of topic."""
    cut = chunk_sentences(document, max_words=max_words)
    if not cut.sections:
        return []
    return group_topic_shift(cut, vectors_of(cut.texts), threshold=threshold, edges=edges)


both = pytest.mark.parametrize("chunk", [semantic_passages, topic_shift_passages])

words = st.sampled_from(
    ["a", "Word", "end.", "x,", "你好。", "ก" * 40, "b" * 31, "😀", "e\u0301", "\n\n", "# H\n",
     " " * 70, "-" * 100, "…", "\u200d", "\r\n", "\u00a0"]
)  # fmt: skip
texts = st.text(max_size=150) | st.lists(words, max_size=60).map(" ".join)


def hashed(sentences: Sequence[str]) -> Vectors:
    """A fixed vector per text; a third of all pairs are close."""
    angles = [zlib.crc32(text.encode("utf-8", "surrogatepass")) % 6 / 4 for text in sentences]
    return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)


def angled(**degrees: float) -> Callable[[Sequence[str]], Vectors]:
    """A sentence's direction by its first word."""

    def vectors_of(sentences: Sequence[str]) -> Vectors:
        angles = [np.radians(degrees[sentence.split()[0]]) for sentence in sentences]
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)

    return vectors_of


def bodies(passages: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in passages]


@both
@given(text=texts, max_words=st.integers(1, 20), threshold=st.floats(-1, 1))
def test_every_passage_keeps_its_promises(
    chunk: Chunk, text: str, max_words: int, threshold: float
) -> None:
    document = Document("d#1", "T", text, "2020-01-01")
    passages = chunk(document, hashed, max_words=max_words, threshold=threshold, edges=3)
    reached = 0
    for ordinal, passage in enumerate(passages):
        assert passage.ordinal == ordinal
        assert passage.text == text[passage.start : passage.end] == passage.text.strip() != ""
        assert passage_words(passage.text) <= max_words
        ends = [passage.start, *(span.end for span in passage.sentences)]
        assert [span.start for span in passage.sentences] == ends[:-1]
        assert ends[-1] == passage.end
        assert not text[reached : passage.start].strip()  # no gap, and by <=, no overlap
        assert reached <= passage.start
        reached = passage.end
        assert (doc_id_of(passage.passage_id), passage.title, passage.date, passage.edges) == (
            "d#1", "T", "2020-01-01", 3
        )  # fmt: skip
    assert not text[reached:].strip()
    assert passages == chunk(document, hashed, max_words=max_words, threshold=threshold, edges=3)


@both
@pytest.mark.parametrize("text", ["", " \n\u00a0 "])
def test_no_text_has_no_passages_and_encodes_nothing(chunk: Chunk, text: str) -> None:
    def never(sentences: Sequence[str]) -> Vectors:
        pytest.fail(f"asked to encode {sentences}")

    assert chunk(Document("d", "", text), never, max_words=8) == []


@both
def test_one_sentence_is_one_passage(chunk: Chunk) -> None:
    document = Document("d", "", "  One two.  ")
    assert bodies(chunk(document, hashed, max_words=8)) == ["One two."]


def test_semantic_joins_by_the_mean_of_the_chunk() -> None:
    document = Document("d", "", "A is. B is. C is.")
    vectors_of = angled(A=0, B=40, C=65)  # C is 45° from the mean of A and B, 25° from B

    def chunk(threshold: float) -> list[str]:
        passages = semantic_passages(document, vectors_of, max_words=99, threshold=threshold)
        return bodies(passages)

    assert chunk(0.70) == ["A is. B is. C is."]  # cos 45° = .707
    assert chunk(0.72) == ["A is. B is.", "C is."]
    assert chunk(0.77) == ["A is.", "B is. C is."]  # cos 40° = .766: C is compared with B alone


def test_topic_shift_compares_neighbours_alone() -> None:
    document = Document("d", "", "A is. B is. C is.")
    vectors_of = angled(A=0, B=34, C=70)

    def chunk(threshold: float) -> list[str]:
        passages = topic_shift_passages(document, vectors_of, max_words=99, threshold=threshold)
        return bodies(passages)

    assert chunk(0.20) == ["A is. B is. C is."]  # 1 - cos 36° = .191, 1 - cos 34° = .171
    assert chunk(0.18) == ["A is. B is.", "C is."]
    assert chunk(0.17) == ["A is.", "B is.", "C is."]


def test_a_similarity_equal_to_the_threshold_joins() -> None:
    document = Document("d", "", "A is. B is.")
    cut = chunk_sentences(document, max_words=9)
    vectors = np.array([[1, 0], [3, 4]], dtype=np.float32)  # cosine 3 / 5, not unit rows
    assert len(group_semantic(cut, vectors, threshold=3 / 5)) == 1
    assert len(group_topic_shift(cut, vectors, threshold=1 - 3 / 5)) == 1
    assert len(group_semantic(cut, vectors, threshold=0.61)) == 2
    assert len(group_topic_shift(cut, vectors, threshold=0.39)) == 2


@both
def test_one_topic_is_split_at_the_cap(chunk: Chunk) -> None:
    document = Document("d", "", "A one two. A three four. A five six. A seven eight.")
    found = bodies(chunk(document, angled(A=0), max_words=6))
    assert found == ["A one two. A three four.", "A five six. A seven eight."]


@both
def test_one_topic_does_not_cross_a_section(chunk: Chunk) -> None:
    document = Document("d", "", "# One\na b.\n## Two\nc d.\n")
    found = chunk(document, lambda s: np.ones((len(s), 2), np.float32), max_words=99)
    assert [(p.section, p.text) for p in found] == [
        (("One",), "# One\na b."),
        (("One", "Two"), "## Two\nc d."),
    ]


@both
def test_each_section_is_chunked_by_its_own_vectors(chunk: Chunk) -> None:
    vectors_of = angled(**{"#": 0, "A": 0, "B": 90})
    document = Document("d", "", "# One\nA is. A was.\n# Two\nA is. B is.\n")
    found = bodies(chunk(document, vectors_of, max_words=99))
    assert found == ["# One\nA is. A was.", "# Two\nA is.", "B is."]


@both
def test_vectors_of_zeros_belong_to_no_topic(chunk: Chunk) -> None:
    document = Document("d", "", "A is. B is.")
    found = chunk(document, lambda s: np.zeros((len(s), 2), np.float32), max_words=99)
    assert len(found) == 2


def test_sentences_of_several_documents_can_be_encoded_together() -> None:
    documents = [Document("a", "", "A is. A was."), Document("b", "", ""), Document("c", "", "B!")]
    cuts = [chunk_sentences(document, max_words=9) for document in documents]
    assert [cut.texts for cut in cuts] == [["A is.", "A was."], [], ["B!"]]
    vectors = hashed([text for cut in cuts for text in cut.texts])
    together = [
        group_semantic(cuts[0], vectors[:2], threshold=0.7),
        group_semantic(cuts[1], vectors[2:2], threshold=0.7),
        group_semantic(cuts[2], vectors[2:], threshold=0.7),
    ]
    assert together == [
        semantic_passages(document, hashed, max_words=9, threshold=0.7) for document in documents
    ]


def test_a_long_sentence_is_encoded_in_chunks() -> None:
    cut = chunk_sentences(Document("d", "", "a b c d e; f g h i j k l"), max_words=8)
    assert cut.texts == ["a b c d e;", "f g h i j k l"]


def test_vectors_that_cannot_be_used_are_refused() -> None:
    cut = chunk_sentences(Document("d", "", "A is. B is."), max_words=9)
    with pytest.raises(InvariantError, match="'d': 1 vectors for 2 sentences"):
        group_semantic(cut, np.ones((1, 2), np.float32), threshold=0.7)
    with pytest.raises(ModelError, match="'d': .* not finite"):
        group_topic_shift(cut, np.full((2, 2), np.nan, np.float32), threshold=0.7)
