from ccrag.query.feedback import feedback_terms, feedback_variant
from ccrag.types import Variant


def terms_of(
    *texts: str, keywords: tuple[str, ...] = (), max_terms: int = 6, min_chars: int = 4
) -> tuple[str, ...]:
    return feedback_terms(texts, keywords=keywords, max_terms=max_terms, min_chars=min_chars)


def test_most_frequent_first_ties_alphabetical() -> None:
    assert terms_of("zebra apple zebra", "mango apple zebra") == ("zebra", "apple", "mango")


def test_what_is_no_feedback_term() -> None:
    text = "there there 2019 2019 3.5000 ions ion cell cells neurons"
    assert terms_of(text, keywords=("neuron",)) == ("cell", "ions")


def test_a_keyword_of_the_same_stem_is_not_new() -> None:
    assert terms_of("retinal retinas", keywords=("retina",)) == ("retinal",)


def test_limits_are_kept() -> None:
    assert terms_of("gold gold iron iron zinc", max_terms=2) == ("gold", "iron")
    assert terms_of("iron ore", min_chars=3) == ("iron", "ore")
    assert terms_of("深度学习") == ()
    assert terms_of("深度学习", keywords=("深度",), min_chars=2) == ("学习", "度学")


def test_empty_and_single_passages() -> None:
    assert terms_of() == ()
    assert terms_of("", "the of") == ()
    assert terms_of("one passage suffices") == ("passage", "suffices")


def test_variant_is_keywords_then_terms_or_nothing() -> None:
    assert feedback_variant(("ice",), ("glacier", "melt")) == Variant(
        "feedback", "ice glacier melt"
    )
    assert feedback_variant(("ice",), ()) is None
