import pytest

from ccrag.query.variants import (
    METHOD_EXPANSION,
    TEMPORAL_EXPANSION,
    VariantName,
    has_temporal_intent,
    keywords,
    make_variants,
)
from ccrag.text.analysis import content_parts
from ccrag.types import Variant, WeightedText

ALL: tuple[VariantName, ...] = ("original", "keywords", "temporal", "method")


def variants(text: str, *use: VariantName, max_keywords: int = 12) -> tuple[Variant, ...]:
    return make_variants(text, use=use or ALL, max_keywords=max_keywords, min_chars=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("What is it?", ()),
        ("Which ions of Ca are in the Ions?", ("ions",)),
        ("How do α-synuclein fibrils grow?", ("synuclein", "fibrils", "grow")),
        ("BERT模型的深度学习 我", ("bert", "模型的深度学习")),
    ],
)
def test_keywords(text: str, expected: tuple[str, ...]) -> None:
    assert keywords(text, max_keywords=12, min_chars=3) == expected


def test_keyword_limits_are_kept() -> None:
    text = "zinc of iron and gold in ore"
    assert keywords(text, max_keywords=2, min_chars=3) == ("zinc", "iron")
    assert keywords(text, max_keywords=12, min_chars=4) == ("zinc", "iron", "gold")


def test_a_plain_question_has_original_and_keywords() -> None:
    assert variants("How do fibrils grow?") == (
        Variant("original", "How do fibrils grow?"),
        Variant("keywords", "fibrils grow"),
    )


def test_intents_add_expanded_keywords() -> None:
    made = {v.name: v.text for v in variants("Which models track the evolution of ice?")}
    assert list(made) == list(ALL)
    assert made["temporal"] == "models track evolution ice recent trend change history"
    assert made["method"] == "models track evolution ice method approach algorithm technique"
    assert "evolution" in TEMPORAL_EXPANSION  # already a keyword, so not said twice
    assert "model" in METHOD_EXPANSION


def test_same_words_are_one_variant() -> None:
    assert [v.name for v in variants("Fibrils, grow!")] == ["original"]


@pytest.mark.parametrize("text", ["", "What is it?"])
def test_without_keywords_the_original_stands_alone(text: str) -> None:
    assert variants(text) == variants(text, "keywords") == (Variant("original", text),)


def test_only_what_is_asked_for_in_fixed_order() -> None:
    made = variants("Which models track ice?", "method", "keywords")
    assert [v.name for v in made] == ["keywords", "method"]


def test_variants_use_the_keyword_limit() -> None:
    assert variants("zinc iron gold model", "keywords", max_keywords=2)[0].text == "zinc iron"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What changed in 2019?", True),
        ("historical trends of fishing", True),
        ("latest evidence", True),
        ("deaths in 1854", True),
        ("doc 120195 on fishing", False),
        ("", False),
    ],
)
def test_temporal_intent(text: str, expected: bool) -> None:
    assert has_temporal_intent(text) is expected


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["How do the Fibrils grow?"], ["fibrils grow"]),
        (["Who is it?"], ["Who is it?"]),
        (["Who is it?", "What of bonds?"], ["bonds"]),
        ([""], [""]),
        (["什么是债券"], ["什么是债券"]),
    ],
)
def test_content_words_alone_unless_there_are_none(given: list[str], kept: list[str]) -> None:
    parts = [WeightedText(text, 0.5) for text in given]
    assert content_parts(parts) == tuple(WeightedText(text, 0.5) for text in kept)
