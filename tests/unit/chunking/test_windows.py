"""Counting words, and window chunking."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ccrag.chunking.windows import whole_passages, window_passages
from ccrag.text.words import passage_words
from ccrag.types import Document, Passage, doc_id_of

PAPERS = Path(__file__).parents[4] / "shared" / "data" / "longeval-rag" / "documents.jsonl"

words = st.sampled_from(
    ["a", "Word", "end.", "x,", "你好。", "你好吗", "ก" * 40, "b" * 31, "😀", "e\u0301", "state-of",
     "\n\n", "# H\n", "\n", " " * 70, "-" * 100, "…", "1.", "\u200d", "\u0301" * 9]
)  # fmt: skip
texts = st.text(max_size=200) | st.lists(words, max_size=80).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda glue: glue.join(parts))
)


def passages(text: str, *, max_words: int = 8, overlap: int = 1) -> list[Passage]:
    document = Document("d#1", "T", text, "2020-01-01")
    return window_passages(document, max_words=max_words, overlap_sentences=overlap, edges=3)


def bodies(text: str, *, max_words: int = 8, overlap: int = 1) -> list[str]:
    return [p.text for p in passages(text, max_words=max_words, overlap=overlap)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("... -- !", 0),
        ("one two, three.", 3),
        ("state-of-the-art isn't o’clock", 3),
        ("-a- 'b'", 2),
        ("0.05 a/b", 4),
        ("Café naïve Müller α-synuclein β2", 5),
        ("cafe\u0301s re\u0301sume\u0301", 2),
        ("人工智能 AI 应用", 4 + 1 + 2),
        ("ひらがなカナ", 6),
        ("한국어 문장", 2),
        ("a" * 30, 1),
        ("a" * 31, 6),  # ceil(31 / 6)
        ("ก" * 60, 60 / 6),
        ("a-" * 30 + "a", 11),  # 61 characters, ceil(61 / 6)
    ],
)
def test_passage_words(text: str, expected: int) -> None:
    assert passage_words(text) == expected


@given(texts, st.integers(1, 20), st.integers(0, 5))
@example("b" * 31 + " " + "c" * 40 + " " + "d" * 20, 3, 2)
def test_every_passage_keeps_its_promises(text: str, max_words: int, overlap: int) -> None:
    covered: set[int] = set()
    for ordinal, passage in enumerate(passages(text, max_words=max_words, overlap=overlap)):
        assert passage.ordinal == ordinal
        assert passage.text == text[passage.start : passage.end]
        assert passage.text == passage.text.strip() != ""
        assert passage_words(passage.text) <= max_words
        ends = [passage.start, *(span.end for span in passage.sentences)]
        assert [span.start for span in passage.sentences] == ends[:-1]
        assert ends[-1] == passage.end
        covered.update(range(passage.start, passage.end))
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered


@given(texts, st.integers(1, 20), st.integers(0, 5))
def test_passages_are_in_order_and_distinct(text: str, max_words: int, overlap: int) -> None:
    ends = [passage.end for passage in passages(text, max_words=max_words, overlap=overlap)]
    assert ends == sorted(set(ends))


def test_a_passage_carries_its_document() -> None:
    (passage,) = passages("  One two.  ")
    assert (passage.text, passage.start, passage.end) == ("One two.", 2, 10)
    assert (passage.doc_id, passage.title, passage.date, passage.edges) == (
        "d#1",
        "T",
        "2020-01-01",
        3,
    )
    assert doc_id_of(passage.passage_id) == "d#1"


@pytest.mark.parametrize("text", ["", " \n\u00a0 "])
def test_no_text_has_no_passages(text: str) -> None:
    assert passages(text) == []


def test_windows_repeat_whole_sentences() -> None:
    first, second, third, fourth = "A one two.", "B one two.", "C one two.", "D one two."
    text = " ".join((first, second, third, fourth))
    pairs = [f"{first} {second}", f"{second} {third}", f"{third} {fourth}"]
    assert bodies(text, max_words=8, overlap=1) == pairs
    assert bodies(text, max_words=8, overlap=0) == pairs[::2]
    assert bodies(text, max_words=8, overlap=9) == pairs


def test_overlap_gives_way_to_the_cap() -> None:
    sentences = ["One two here.", "Three four five six seven there.", "Eight nine ten."]
    assert bodies(" ".join(sentences), max_words=7) == sentences


def test_three_long_sentences_do_not_exceed_the_cap() -> None:
    sentence = "Word" + " word" * 128 + " end."
    assert [passage_words(body) for body in bodies(" ".join([sentence] * 3), max_words=140)] == [
        130
    ] * 3


def test_sections_are_not_crossed() -> None:
    text = "# One\na b.\n## Two\nc d.\n"
    assert [(p.section, p.text) for p in passages(text)] == [
        (("One",), "# One\na b."),
        (("One", "Two"), "## Two\nc d."),
    ]


def test_a_long_sentence_is_split_after_a_clause() -> None:
    assert bodies("a b c d e; f g h i j k l", max_words=8) == ["a b c d e;", "f g h i j k l"]


def test_a_clause_mark_too_early_is_no_place_to_split() -> None:
    assert bodies("a, b c d e f g h i j", max_words=8) == ["a, b c d e f g h", "i j"]


def test_a_sentence_without_clauses_is_split_between_words() -> None:
    bodies_ = bodies("word " * 5_000, max_words=140)
    assert [passage_words(body) for body in bodies_] == [140] * 35 + [100]


def test_unspaced_text_is_split_anywhere_but_before_a_mark() -> None:
    assert bodies("你好吗你好吗", max_words=4) == ["你好吗你", "好吗"]
    assert bodies("a\u0301" * 40, max_words=8)[0] == "a\u0301" * (8 * 6 // 2)
    assert bodies("a" + "e\u0301" * 40, max_words=8)[0] == "a" + "e\u0301" * 23


def test_a_long_chinese_document_gives_many_passages() -> None:
    text = "人工智能在医疗领域的应用越来越广泛，" * 1_900
    found = bodies(text, max_words=140)
    assert len(found) >= len(text) / 18 * 17 / 140
    assert all(body.endswith("，") for body in found)


def test_text_without_words_is_split_too() -> None:
    assert [len(body) for body in bodies("😀" * 1_000, max_words=8)] == [240, 240, 240, 240, 40]


def test_ids_are_stable_and_change_with_the_settings() -> None:
    text = "A one two. B one two. C one two."
    ids = {passage.passage_id for passage in passages(text, max_words=6)}
    assert ids == {passage.passage_id for passage in passages(text, max_words=6)}
    assert len(ids) == 2
    assert ids.isdisjoint({passage.passage_id for passage in passages(text, max_words=9)})


def test_one_sentence_of_two_megabytes_finishes() -> None:
    start = time.process_time()
    found = bodies("abcd efg, " * 200_000, max_words=140)
    assert time.process_time() - start < 10  # 0.5 s on an idle machine
    assert len(found) >= 2 * 200_000 / 140


@pytest.mark.skipif(not PAPERS.exists(), reason="needs the development data beside the checkout")
def test_real_papers_are_chunked_quickly() -> None:
    records = list(map(json.loads, PAPERS.read_text().splitlines()))
    texts = [record.get("fullText") or record["abstract"] for record in records]
    start = time.process_time()
    found = [passage for text in texts for passage in passages(text, max_words=140)]
    assert time.process_time() - start < 3  # 0.25 s on an idle machine
    assert max(passage_words(passage.text) for passage in found) <= 140


def test_a_document_that_is_a_passage_already_stays_whole() -> None:
    text = "\nBonds\n=====\n" + "A bond is a loan. " * 200 + "\n\n## Safe?\nMostly.\n"
    [passage] = whole_passages(Document("d", "T", text, collection="fiqa"), edges=2)
    assert passage.text == text.strip()
    assert document_slice(text, passage) == passage.text
    assert (passage.section, passage.ordinal, passage.edges) == ((), 0, 2)
    assert (passage.title, passage.collection) == ("T", "fiqa")
    spans = passage.sentences
    assert [s.start for s in spans] == [passage.start, *(s.end for s in spans[:-1])]
    assert len(spans) > 200


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_of_a_text_of_white_space_no_passage_is_made(text: str) -> None:
    assert whole_passages(Document("d", "T", text)) == []


def document_slice(text: str, passage: Passage) -> str:
    return text[passage.start : passage.end]
