"""What models reply, read to sentences with shown evidence; all else is reported."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.citations import DraftSentence
from ccrag.answering.replies import ParsedReply, better, read_reply
from tests.unit.stages import evidence

SHOWN = [evidence(f"e{n}", f"Fact {n}.", doc_id=f"d{n}") for n in (1, 2, 3)]


def replied(*sentences: object, **keys: object) -> str:
    return json.dumps({"answerable": True, "sentences": sentences, **keys})


def sentence(text: str, *ids: object) -> dict[str, object]:
    return {"text": text, "evidence": list(ids)}


def messages(reading: ParsedReply) -> list[str]:
    assert all(note.stage == "generation" for note in reading.notes)
    return [note.message for note in reading.notes]


def test_the_form_asked_for_is_read_without_a_word() -> None:
    reading = read_reply(replied(sentence("One. ", "e2", "e1"), sentence("Two.", "e3")), SHOWN)
    assert reading == ParsedReply(
        (DraftSentence("One.", ("e2", "e1")), DraftSentence("Two.", ("e3",)))
    )


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([sentence("One.", "e1")]),
        json.dumps({"answer": [sentence("One.", "e1")]}),
        json.dumps({"answer": {"sentences": [sentence("One.", "e1")]}}),
        json.dumps({"sentences": sentence("One.", "e1")}),
        json.dumps({"sentences": [{"sentence": "One.", "citations": "e1"}]}),
        json.dumps({"response": [{"content": "One.", "ids": ["e1"]}]}),
        replied({"text": " One.\n", "evidence_ids": ["e1"]}),
        replied(sentence("One [e1].", "e1")),
        replied(sentence("One (e1, e3).", "e1")),
    ],
)
def test_variants_of_the_form_are_read(text: str) -> None:
    reading = read_reply(text, SHOWN)
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert reading.complaints == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [("Sure! ", ""), ("```json\n", "\n```"), ("<think>e9?</think>", ""), ("", "\nSee [1].")],
)
def test_what_stands_around_is_passed_over_and_noted(before: str, after: str) -> None:
    reading = read_reply(before + replied(sentence("One.", "e1")) + after, SHOWN)
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert messages(reading) == ["reply: text around the JSON was passed over"]


def test_two_answers_in_one_reply_are_a_complaint_and_the_last_is_read() -> None:
    reading = read_reply(replied(sentence("One.", "e1")) + replied(sentence("Two.", "e2")), SHOWN)
    assert reading.drafts == (DraftSentence("Two.", ("e2",)),)
    assert reading.complaints == ("it holds 2 JSON answers where one was asked for",)


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("e9", "'e9' was not shown"),
        ("E9", "'E9' was not shown"),
        ("0", "'0' was not shown"),
        ("", "'' is not an evidence id"),
        (9, "9 was not shown"),
        ("e1-e3", "'e1-e3' is not an evidence id"),
        ("d3", "'d3' is not an evidence id"),
        ("e1.5", "'e1.5' is not an evidence id"),
        ("p3", "'p3' is not an evidence id"),
        ("see 3", "'see 3' is not an evidence id"),
        (-1, "-1 is not an evidence id"),
        (True, "True is not an evidence id"),
        (None, "None is not an evidence id"),
        (2.5, "2.5 is not an evidence id"),
        (["e9"], "'e9' was not shown"),
        ({"id": "e9"}, "{'id': 'e9'} was not shown"),
        ("e1", "'e1' is named more than once"),
        ("E1", "'E1' is named more than once"),
    ],
)
def test_what_is_no_shown_id_is_noted_and_left_out(named: object, problem: str) -> None:
    reading = read_reply(replied(sentence("One.", "e1", named, "e2")), SHOWN)
    assert reading.drafts == (DraftSentence("One.", ("e1", "e2")),)
    assert messages(reading) == [f"sentence 1: {problem}"]
    assert reading.complaints == ()


def test_a_sentence_left_without_evidence_is_a_complaint_with_its_reasons() -> None:
    reading = read_reply(
        replied(sentence("One.", "e1"), sentence("Two.", "e9", 2.5), sentence("Three.")), SHOWN
    )
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert reading.complaints == (
        "sentence 2 has no evidence that was shown: 'e9' was not shown; 2.5 is not an evidence id",
        "sentence 3 has no evidence that was shown: names no evidence",
    )
    assert "sentence 2: no shown evidence, left out: 'Two.'" in messages(reading)


@pytest.mark.parametrize("text", ["", "  ", "—", 7, None, ["One."]])
def test_a_sentence_without_text_is_noted(text: object) -> None:
    reading = read_reply(replied({"text": text, "evidence": ["e1"]}), SHOWN)
    assert reading.drafts == ()
    assert "sentence 1: no text in" in messages(reading)[0]


@pytest.mark.parametrize("item", ["Bare text.", 7, None, [], True])
def test_what_is_no_sentence_at_all(item: object) -> None:
    reading = read_reply(replied(item, sentence("One.", "e1")), SHOWN)
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert messages(reading)


@pytest.mark.parametrize("sentences", [[], [sentence("One.", "e1")]])
def test_not_answerable_is_a_refusal_whatever_else_is_said(sentences: list[object]) -> None:
    reading = read_reply(json.dumps({"answerable": False, "sentences": sentences}), SHOWN)
    assert (reading.declined, reading.drafts, reading.complaints) == (True, (), ())
    assert len(reading.notes) == len(sentences)


@pytest.mark.parametrize("text", ["", "I do not know.", "[1, 2]", "{}", "null", '{"x": 1}'])
def test_what_is_no_answer_is_a_complaint(text: str) -> None:
    reading = read_reply(text, SHOWN)
    assert (reading.drafts, reading.declined) == ((), False)
    assert reading.complaints == ("it is not one whole JSON object of the form asked for",)


def test_nothing_of_a_reply_that_is_cut_counts() -> None:
    whole = replied(sentence("One.", "e1"), sentence("Two.", "e2"))
    reading = read_reply(whole[: whole.index("Two") + 2], SHOWN)
    assert (reading.drafts, reading.answers) == ((), False)
    assert reading.complaints == ("it is not one whole JSON object of the form asked for",)


@pytest.mark.parametrize(
    "named",
    [
        "E1",
        "[e1]",
        "e1.",
        "1",
        1,
        1.0,
        "(1)",
        "（１）",
        "ｅ１",
        "١",
        "e01",
        " e1 ",
        '"e1"',
        "【E1】",
        "Evidence 1",
        "#1",
        "e 1",
        "e\u200b1",
        {"id": "e1"},
        ["e1"],
        "[^1]",
        "**e1**",
    ],
)
def test_ids_are_read_however_they_are_written(named: object) -> None:
    reading = read_reply(replied(sentence("One.", named)), SHOWN)
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert (reading.complaints, reading.notes) == ((), ())


@pytest.mark.parametrize(
    "named", ["e1, e3", "[e1][e3]", "E1 and E3", "1; 3", "e1/e3", '"e1", "e3"']
)
def test_several_ids_in_one_text_are_several(named: str) -> None:
    assert read_reply(replied(sentence("One.", named)), SHOWN).drafts[0].evidence_ids == (
        "e1",
        "e3",
    )


@pytest.mark.parametrize("named", ["2", 2])
def test_an_id_that_names_a_document_as_well_is_no_evidence(named: object) -> None:
    reading = read_reply(replied(sentence("One.", "e1", named)), SHOWN, other_ids={"2"})
    assert reading.drafts == (DraftSentence("One.", ("e1",)),)
    assert messages(reading) == [
        f"sentence 1: {named!r} is the id of a document, not of evidence",
    ]


@pytest.mark.parametrize("said", ["false", "False", " no "])
def test_a_word_may_decline(said: str) -> None:
    assert read_reply(json.dumps({"answerable": said, "sentences": []}), SHOWN).declined


@pytest.mark.parametrize(
    "text",
    [
        '{"answerable": true, "sentences": []}',
        '{"sentences": []}',
        '{"answerable": null, "sentences": []}',
    ],
)
def test_to_give_no_sentence_is_not_to_decline(text: str) -> None:
    reading = read_reply(text, SHOWN)
    assert (reading.declined, reading.answers) == (False, False)
    assert reading.complaints == (
        "it says that the question can be answered, and gives no sentence",
    )


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (1, 2, "second"),
        (1, 1, "second"),
        (0, 0, "second"),
        (2, 1, "first"),
    ],
)
def test_the_second_reply_counts_unless_it_holds_less(first: int, second: int, kept: str) -> None:
    readings = {
        name: read_reply(replied(*[sentence(name, "e1")] * count, sentence("x", "e9")), SHOWN)
        for name, count in (("first", first), ("second", second))
    }
    reading = better(readings["first"], readings["second"])
    assert {draft.text for draft in reading.drafts} <= {kept}
    assert len(reading.drafts) == max(first, second)
    assert f"asked again; the {kept} reply counts" in messages(reading)
    assert len(reading.notes) == 5


def test_a_second_reply_may_decline() -> None:
    declined = read_reply('{"answerable": false}', SHOWN)
    assert better(read_reply(replied(sentence("One.", "e1")), SHOWN), declined).declined


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("e1"),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["text", "evidence", "sentences", "answerable"]), inner)
    ),
)


@given(JSON_VALUES)
def test_no_reply_makes_it_fail_or_name_what_was_not_shown(value: object) -> None:
    for text in (json.dumps(value), str(value)):
        for draft in read_reply(text, SHOWN).drafts:
            assert set(draft.evidence_ids) <= {"e1", "e2", "e3"}
            assert draft.evidence_ids
            assert draft.text.strip()
