import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.text.analysis import (
    STOP_WORDS,
    budget_words,
    normalise,
    runs,
    stem,
    terms,
    unique_terms,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?! -- …", []),
        ("Café naïve Müller α-synuclein β2", ["café", "naïve", "müller", "α", "synuclein", "β2"]),
        ("cafe\u0301", ["café"]),
        ("ﬁne ＡＢＣ Straße", ["fine", "abc", "strasse"]),
        ("rate-limited", ["rate", "limited"]),
        ("the patient’s 'quoted' words", ["the", "patient's", "quoted", "words"]),
        ("3.5 mg, 1,200 and d_k.", ["3.5", "mg", "1,200", "and", "d_k"]),
        ("connec\u00adtivity", ["connectivity"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("使用BERT模型", ["使用", "bert", "模型"]),
        ("我，深度学习。", ["我", "深度", "度学", "学习"]),
        ("データ・モデル", ["デー", "ータ", "モデ", "デル"]),
        ("órgãos { / ' }", ["órgãos"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_runs_keep_cjk_whole() -> None:
    assert runs("使用BERT模型2019年") == ["使用", "bert", "模型", "2019", "年"]


def test_terms_are_stems_without_stop_words_and_keep_repetitions() -> None:
    assert list(terms("How do the networks network with don't?")) == ["network", "network"]
    assert unique_terms("How do the networks network?") == ("network",)


def test_a_text_of_stop_words_has_no_terms() -> None:
    assert list(terms("What is it, and why?")) == []
    assert {"what", "is", "it", "and", "why"} <= STOP_WORDS


def test_latin_accents_fold_in_stems_only() -> None:
    assert stem("müller") == stem("muller") == "muller"
    assert stem("synucléine") == stem("synucleine")
    assert stem("й") == "й"  # a letter of its own: its base is not Latin


def test_the_possessive_is_the_same_term() -> None:
    assert terms("patient's") == terms("patients")


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("two words", 2), ("深度学习模型", 5), ("± = ± x", 4)]
)
def test_budget_words_counts_chinese_and_formulas(text: str, expected: int) -> None:
    assert budget_words(text) == expected


@given(st.text())
def test_normalising_twice_changes_nothing_and_words_agree(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert words(once) == words(text)
