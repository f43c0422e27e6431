"""Verdicts on claims: what differs is found and named, and where support lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.verdict import judge, verdict_of
from ccrag.pipeline.support_weights import support_weights, why_unsupported, word_support

EVIDENCE = (
    "The museum has 900 pictures. It was founded by a painter.",
    "The dam on the Ouse is 61 metres high and was finished in June 1931 by Ada Moor. "
    "It cost less than the bridge. It is not open to visitors.",
)
TRUE = "The dam on the Ouse is 61 metres high and was finished in June 1931 by Ada Moor."


def test_a_claim_in_the_words_of_its_evidence_is_supported() -> None:
    found = judge(TRUE, EVIDENCE, support_weights())
    assert found.verdict == "supported"
    assert found.reason == "its words stand in the evidence"
    [span] = found.spans
    assert EVIDENCE[span.text_index][span.start : span.end] == TRUE.removesuffix(".")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("61", "85", "the number differs: '85' in the claim, '61' in the evidence"),
        ("June", "July", "the date differs: 'July' in the claim, 'June' in the evidence"),
        ("metres", "feet", "the unit differs: 'feet' in the claim, 'metres' in the evidence"),
        (
            "Ada Moor",
            "Ida Lund",
            "the name differs: 'Ida Lund' in the claim, 'Ada Moor' in the evid",
        ),
        ("was finished", "was not finished", "the claim denies it ('not')"),
    ],
)
def test_one_thing_changed_is_found_and_named(old: str, new: str, reason: str) -> None:
    found = judge(TRUE.replace(old, new), EVIDENCE, support_weights())
    assert found.verdict == "unsupported"
    assert found.reason.startswith(reason)
    assert word_support(EVIDENCE[1], TRUE.replace(old, new)) in (0.0, found.probability)


def test_comparisons_and_denials_of_the_evidence() -> None:
    more = judge("It cost more than the bridge.", EVIDENCE, support_weights())
    assert more.reason == "the comparison differs: 'more' in the claim, 'less' in the evidence"
    open_ = judge("It is open to visitors.", EVIDENCE, support_weights())
    assert open_.reason == "the evidence denies it ('not')"
    assert more.verdict == open_.verdict == "unsupported"


def test_what_is_missing_is_named() -> None:
    found = judge("The dam sank in 1999 during a storm.", EVIDENCE, support_weights())
    assert found.verdict == "unsupported"
    assert found.reason == (
        "not in the evidence: the number 1999; words not in the evidence: sank, storm"
    )
    assert why_unsupported("Nothing of it.", "Boats float.").startswith("words not in the evid")


def test_a_second_claim_in_the_sentence_is_partly_supported() -> None:
    claim = f"{TRUE.removesuffix('.')}, and a team of divers from Norway tested its turbines."
    found = judge(claim, EVIDENCE, support_weights())
    assert found.verdict == "partly"
    assert found.reason == "not in the evidence: 'a team of divers from Norway tested its turbines'"


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [("…", EVIDENCE, "the claim holds no words"), (TRUE, (), "there is no evidence")],
)
def test_nothing_to_compare(claim: str, evidence: tuple[str, ...], reason: str) -> None:
    found = judge(claim, evidence, support_weights())
    assert (found.verdict, found.probability, found.reason) == ("unsupported", 0.0, reason)


def test_verdicts_by_probability() -> None:
    assert [verdict_of(p) for p in (0.0, 0.29, 0.3, 0.54, 0.55, 1.0)] == [
        "unsupported", "unsupported", "partly", "partly", "supported", "supported",
    ]  # fmt: skip


def test_the_packaged_weights_say_what_they_are_worth() -> None:
    held = support_weights().figures["questions_held_back"]
    assert held["macro_f1"] > 0.7
    assert held["accepted_unsupported"] < 0.2


TEXTS = st.lists(st.text(max_size=80) | st.sampled_from(EVIDENCE), max_size=4)


@given(st.text(max_size=80) | st.just(TRUE), TEXTS)
def test_spans_lie_inside_and_order_does_not_matter(claim: str, texts: list[str]) -> None:
    found = judge(claim, texts, support_weights())
    for span in found.spans:
        assert 0 <= span.start <= span.end <= len(texts[span.text_index])
    turned = judge(claim, texts[::-1], support_weights())
    assert (turned.verdict, turned.probability) == (found.verdict, found.probability)
