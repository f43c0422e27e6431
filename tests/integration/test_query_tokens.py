"""Long queries in every script, against the real analyzer and the engine's limit of clauses."""

import random
from collections.abc import Iterator
from unicodedata import category

import pytest
from opensearchpy import OpenSearch

from ccrag.config import PipelineSettings
from ccrag.engine import bodies
from ccrag.engine.tokens import cut_tokens
from ccrag.pipeline.pipeline import Pipeline
from ccrag.types import Candidates, Document, Query, WeightedText
from tests.integration.building import build_index, opened

BETWEEN = "zzqsep"
TEXTS_PER_REQUEST = 250
SHAPES = (
    "{0}",
    "{0}{0}{0}",
    " {0} {0}",
    "q{0}q{0}q",
    "7{0}7{0}",
    "ก{0}ก{0}ก",
    "漢{0}漢{0}漢",
    "😀{0}😀{0}",
)
MADE_BY_RULE = (range(0x3500, 0x9F00), range(0xAC10, 0xD700), range(0x17010, 0x18700))
"""Thousands of characters alike: a few of each are tried."""

LONG = {
    "Korean": "도시의 교통 체계를 설명하시오 " * 60,
    "Korean without blanks": "도시의교통체계를설명하시오" * 100,
    "Chinese": "城市交通系統是如何運作的呢" * 100,
    "Japanese": "都市のコウツウシステムはどのように動くのか" * 60,
    "Thai": "ระบบขนส่ง ในเมือง ทำงานอย่างไร " * 200,
    "Thai between Latin": "aระbบcขdนe" * 300,
    "Khmer": "ប្រព័ន្ធ ដឹកជញ្ជូន ក្នុងទីក្រុង " * 200,
    "Arabic": "كيف يعمل نظام النقل في المدينة " * 100,
    "Hindi": "शहर में परिवहन कैसे काम करता है " * 100,
    "English": "how does the traffic of a city work " * 200,
    "one endless word": "a" * 400_000,
    "emoji": "😀" * 5_000,
    "emoji families": "👨‍👩‍👧‍👦🏳️‍🌈🇩🇪1️⃣" * 500,
    "combining marks": "z\u0351\u0352\u0353" * 2_000,
    "ideographs with marks": "漢\u0301" * 2_000,
    "symbols": "©®™→★" * 500,
    "new letters": "a\U0001df00b\ua7d3" * 800,
}


@pytest.fixture(scope="module")
def pipeline(client: OpenSearch) -> Iterator[Pipeline]:
    name = "test-query-tokens"
    settings = PipelineSettings.model_validate({"bm25": {"title_weight": 0.5}})
    build_index(client, name, [Document("d", "城市 도시 city", "도시 城市 😀 traffic")], settings)
    yield Pipeline(settings, opened(client, name, settings))
    for index in client.indices.get(index=f"ccrag-{name}-*"):
        client.indices.delete(index=index)


def counts(client: OpenSearch, index: str, texts: list[str]) -> list[int]:
    """Return the analyzer's number of tokens of each text."""
    found = [0]
    text = f"\n{BETWEEN}\n".join(texts)
    answer = client.indices.analyze(index=index, body={"analyzer": "ccrag_text", "text": text})
    for token in answer["tokens"]:
        if token["token"] == BETWEEN:
            found.append(0)
        else:
            found[-1] += 1
    return found


def too_low(client: OpenSearch, index: str, texts: list[str]) -> list[str]:
    """Return the texts of which more tokens are made than were counted."""
    wrong = []
    for at in range(0, len(texts), TEXTS_PER_REQUEST):
        some = texts[at : at + TEXTS_PER_REQUEST]
        made = zip(some, counts(client, index, some), strict=True)
        wrong += [text for text, count in made if count > cut_tokens(text, at_most=10**9)[1]]
    return wrong


def characters() -> list[str]:
    codes = (code for code in range(0x20, 0x110000) if not any(code in r for r in MADE_BY_RULE))
    return [char for char in map(chr, codes) if category(char) not in ("Cn", "Co", "Cs")][:40_000]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_character_makes_more_tokens_than_are_counted(
    client: OpenSearch, pipeline: Pipeline, shape: str
) -> None:
    index = pipeline.index.info.passages_index
    assert too_low(client, index, [shape.format(char) for char in characters()]) == []


def test_no_mixture_makes_more_tokens_than_are_counted(
    client: OpenSearch, pipeline: Pipeline
) -> None:
    rng = random.Random(7)
    known = characters()
    glue = [
        " ",
        "_",
        ".",
        "'",
        "\u200d",
        "\ufe0f",
        "\u0301",
        "\u3099",
        "ก็",
        "က",
        "ក្ក",
        "가",
        "カ",
        "😀",
    ]
    texts = [
        "".join(
            rng.choice((rng.choice(known), rng.choice(glue)))
            * rng.choice((1, 1, 1, 1, 2, 270 * (rng.random() < 0.02) + 1))
            for _ in range(rng.choice((3, 8, 20)))
        )
        for _ in range(1_500)
    ]
    assert too_low(client, pipeline.index.info.passages_index, texts) == []


@pytest.mark.parametrize("script", LONG)
def test_a_long_query_is_cut_with_a_note_and_answered(pipeline: Pipeline, script: str) -> None:
    result = pipeline.search(Query("q", LONG[script], Candidates.of(["d"], query_id="q")))
    notes = [note.message for note in result.trace.notes]
    assert f"original is long: its first {bodies.MAX_TOKENS} tokens are searched" in notes[0]


def test_documents_are_listed_by_long_texts(client: OpenSearch, pipeline: Pipeline) -> None:
    for text in LONG.values():
        pipeline.index.listed(Candidates.whole_index(), text=text, size=3)


def test_the_limit_of_tokens_is_not_needlessly_small(pipeline: Pipeline) -> None:
    text = " ".join(f"word{number}" for number in range(bodies.MAX_TOKENS))
    assert bodies.searched([WeightedText(text, 1.0)]) == [WeightedText(text, 1.0)]
    result = pipeline.search(Query("q", text, Candidates.of(["d"], query_id="q")))
    assert not [note for note in result.trace.notes if "is long" in note.message]
