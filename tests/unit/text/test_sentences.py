"""Sentence spans."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.text.sentences import split_sentences

PAPERS = Path(__file__).parents[4] / "shared" / "data" / "longeval-rag" / "documents.jsonl"

texts = st.text() | st.text(alphabet=" \n.!?…。！a1A'\")]\u0301你「」、#-|", max_size=60)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(texts)
def test_sentences_tile_the_text(text: str) -> None:
    spans = split_sentences(text)
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    assert (spans[-1].end if spans else 0) == len(text)
    assert all(span.start < span.end for span in spans)


@given(texts)
def test_only_the_first_sentence_may_start_with_white_space(text: str) -> None:
    assert not any(sentence[0].isspace() for sentence in split(text)[1:])


@pytest.mark.parametrize(
    "sentence",
    [
        "Yan et al. [2004] analysed the data again.",
        "This follows Wells et al. 2020.",
        "As shown in Fig. [1] and Fig. 2, it holds.",
        "Pages are given as pp. [55-60] in the list.",
        "See Fig. 3 for Eq. (4) and Sec. 2.",
        "We met Dr. Lee there.",
        "Encoders, e.g. BERT, i.e. transformers, were used.",
        "It weighs 3.5 mg and costs $0.25 at most.",
        "He asked “Is it?” and left.",
        "It went on … and on ... and on.",
        "Why?! ! ! !",
        "А. С. Пушкин родился в г. Москва, см. рис. 3, т.е. там.",
        "no punctuation at all",
        "one line\nwrapped into\nthree",
        "these points:\n2. First comes",
        "file.name and version 2.1.3 stay whole",
    ],
)
def test_one_sentence(sentence: str) -> None:
    assert split(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", [" \n "]),
        ("  One two. Three. ", ["  One two. ", "Three. "]),
        ("It was p < 0.05. The rest.", ["It was p < 0.05. ", "The rest."]),
        ("He took 3.5 mg. Dr. Lee left.", ["He took 3.5 mg. ", "Dr. Lee left."]),
        ("It ended in 2020. Then (or so.) it", ["It ended in 2020. ", "Then (or so.) it"]),
        ('Yes? "No." He left.', ["Yes? ", '"No." ', "He left."]),
        ("lower case .\n starts here .", ["lower case .\n ", "starts here ."]),
        ("Wait… But why?", ["Wait… ", "But why?"]),
        ("1. First. 2. Second.", ["1. First. ", "2. Second."]),
        ("Да. Нет! Как?", ["Да. ", "Нет! ", "Как?"]),
        ("यह है। वह था।", ["यह है। ", "वह था।"]),
        ("A café.\u00a0Next 😀 one.\r\nMore.", ["A café.\u00a0", "Next 😀 one.\r\n", "More."]),
        ("Cafe\u0301 is. 👨\u200d👩 Not.", ["Cafe\u0301 is. ", "👨\u200d👩 Not."]),
    ],
)
def test_several_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好。世界！真的？", ["你好。", "世界！", "真的？"]),
        ("他说：「好。」然后走了。", ["他说：「好。」", "然后走了。"]),
        ("他说“好。”，然后走了。", ["他说“好。”，然后走了。"]),
        ("我想……算了。好｡", ["我想……", "算了。", "好｡"]),
        ("真的?好!", ["真的?", "好!"]),
        ("値は３．５です．次へ", ["値は３．５です．", "次へ"]),
    ],
)
def test_chinese_and_japanese_need_no_white_space(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_paragraphs_rows_items_and_headings_end_sentences() -> None:
    text = "# Dr. Title\nbody\n\n  next\r\n\r\n- one\n- two\n| a | b |\nPart\n\nEnd\n===\ntail"
    assert split(text) == [
        "# Dr. Title\n",
        "body\n\n  ",
        "next\r\n\r\n",
        "- one\n",
        "- two\n",
        "| a | b |\nPart\n\n",
        "End\n===\n",
        "tail",
    ]


@pytest.mark.parametrize(
    "text",
    ["!" * 10**6, "." * 10**6, "a.)" * 300_000, "。" * 10**6 + "、", "a" * 10**7, "\n" * 10**6],
    ids=["bangs", "dots", "closers", "wide", "glued", "lines"],
)
def test_no_text_is_quadratic(text: str) -> None:
    start = time.process_time()
    split_sentences(text)
    assert time.process_time() - start < 5


@pytest.mark.skipif(not PAPERS.exists(), reason="needs the development data beside the checkout")
def test_real_papers_are_split_quickly() -> None:
    records = map(json.loads, PAPERS.read_text().splitlines())
    text = "\n\n".join(r.get("fullText") or r["abstract"] for r in records)[:400_000]
    start = time.process_time()
    count = len(split_sentences(text))
    assert time.process_time() - start < 1  # 0.06 s on an idle machine
    assert 2_000 < count < 4_000
