"""The course of a generated answer: asked, read, asked again, limited, checked, cited."""

import json
import re
from dataclasses import replace

import pytest

from ccrag.answering.generate import Generated, Generation, generate, generation_request
from ccrag.answering.support import SupportCheck, contained
from ccrag.errors import CandidateLeakError, ModelError, UnusableReplyError
from ccrag.llm.prompts import load_prompt
from ccrag.llm.reply import ChatReply, Usage
from ccrag.llm.request import ChatParameters
from ccrag.types import Unit, UnitPart
from tests.fakes import ScriptedLlm
from tests.support import query
from tests.unit.stages import by_id, evidence, passage

SHOWN = [
    evidence("e1", "The dam is 61 metres high.", doc_id="b", score=0.4),
    evidence("e2", "It was finished in 1931.", doc_id="a", score=0.7),
]
PASSAGES = by_id(
    passage("b#1", SHOWN[0].text, doc_id="b", title="Dams", date="1950-01-01"),
    passage("a#1", SHOWN[1].text, doc_id="a"),
)
ASKED = query("How high is the dam?", "a", "b", "c")
GENERATION = Generation(
    prompt=load_prompt("answer"),
    parameters=ChatParameters("m", temperature=0.1),
    max_sentences=5,
    max_words=400,
    abstention="No answer.",
    support=SupportCheck("flag", 0.5, contained),
)
HIGH = {"text": "The dam is 61 metres high.", "evidence": ["e1"]}
DONE = {"text": "It was finished in 1931.", "evidence": ["e2", "e1"]}
LOST = {"text": "Nobody knows.", "evidence": ["e9"]}


def replied(*sentences: object) -> str:
    return json.dumps({"answerable": True, "sentences": sentences})


def generated(llm: ScriptedLlm, **changes: object) -> Generated:
    generation = replace(GENERATION, **changes)  # type: ignore[arg-type]
    return generate(ASKED, SHOWN, PASSAGES, generation, llm.complete)


def messages(done: Generated) -> list[str]:
    return [note.message for note in done.notes]


def test_sentences_cite_documents_in_order_of_first_citation() -> None:
    llm = ScriptedLlm(replied(DONE, HIGH))
    done = generated(llm)
    assert done.answer.references == ("a", "b")
    assert [(s.text, s.evidence_ids, s.citations) for s in done.answer.sentences] == [
        (DONE["text"], ("e2", "e1"), (0, 1)),
        (HIGH["text"], ("e1",), (1,)),
    ]
    assert done.answer.evidence == tuple(SHOWN)
    assert done.notes == ()
    assert len(llm.requests) == 1


def test_the_request_holds_the_question_and_the_evidence() -> None:
    llm = ScriptedLlm(replied(HIGH))
    generated(llm, max_sentences=3, max_words=77)
    system, user = llm.requests[0].messages
    assert "at most 3 sentences, 77 words in all" in system.content
    assert user.content == (
        "<evidence>\n"
        '{"id": "e1", "title": "Dams", "text": "The dam is 61 metres high."}\n'
        '{"id": "e2", "text": "It was finished in 1931."}\n'
        '</evidence>\n\nQuestion: "How high is the dam?"'
    )
    assert llm.requests[0].parameters == GENERATION.parameters
    assert llm.requests[0].prompt == GENERATION.prompt.label


@pytest.mark.parametrize(
    ("title", "date", "shown"),
    [
        (True, True, '{"id": "e1", "title": "Dams", "date": "1950-01-01", "text"'),
        (False, True, '{"id": "e1", "date": "1950-01-01", "text"'),
        (False, False, '{"id": "e1", "text"'),
    ],
)
def test_titles_and_dates_are_shown_as_wanted(title: bool, date: bool, shown: str) -> None:
    llm = ScriptedLlm(replied(HIGH))
    generated(llm, show_title=title, show_date=date)
    assert shown in llm.requests[0].messages[1].content


def test_every_call_is_recorded() -> None:
    reply = ChatReply(replied(HIGH, LOST), "m-2024", Usage(100, 20), "stop", cached=True)
    llm = ScriptedLlm(reply, replied(HIGH))
    first, second = generated(llm).calls
    assert (first.prompt, first.model, first.finish_reason) == ("answer@1", "m-2024", "stop")
    assert (first.prompt_tokens, first.completion_tokens, first.cached) == (100, 20, True)
    assert first.parameters == {"temperature": 0.1}
    assert first.digest == llm.requests[0].digest
    assert second.digest == llm.requests[1].digest != first.digest


def test_a_sentence_without_evidence_is_asked_for_once_more_with_the_reason() -> None:
    llm = ScriptedLlm(replied(HIGH, LOST), replied(HIGH, DONE))
    done = generated(llm)
    assert [s.text for s in done.answer.sentences] == [HIGH["text"], DONE["text"]]
    *before, said, again = llm.requests[1].messages
    assert tuple(before) == llm.requests[0].messages
    assert (said.role, said.content) == ("assistant", replied(HIGH, LOST))
    assert "sentence 2 has no evidence that was shown: 'e9' was not shown" in again.content
    assert "asked again; the second reply counts" in messages(done)


def test_what_has_no_evidence_the_second_time_is_left_out_and_reported() -> None:
    llm = ScriptedLlm(replied(HIGH, LOST), replied(HIGH, LOST))
    done = generated(llm)
    assert [s.text for s in done.answer.sentences] == [HIGH["text"]]
    assert messages(done).count("sentence 2: no shown evidence, left out: 'Nobody knows.'") == 2
    assert len(llm.requests) == 2


def test_a_worse_second_reply_does_not_count() -> None:
    done = generated(ScriptedLlm(replied(HIGH, LOST), "I am sorry."))
    assert [s.text for s in done.answer.sentences] == [HIGH["text"]]
    assert "asked again; the first reply counts" in messages(done)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("It is high.", "it is not one whole JSON object of the form asked for"),
        (replied(HIGH)[:-2], "it is not one whole JSON object of the form asked for"),
        (replied(LOST), "sentence 1 has no evidence that was shown: 'e9' was not shown"),
        (replied(), "it says that the question can be answered, and gives no sentence"),
    ],
)
def test_what_cannot_be_used_twice_is_an_error_and_no_abstention(said: str, reason: str) -> None:
    llm = ScriptedLlm(said, said)
    with pytest.raises(UnusableReplyError, match=re.escape(reason)):
        generated(llm)
    assert [request.readable(said) for request in llm.requests if request.readable] == [False] * 2


FAULTY = [
    (ChatReply("", "m", None, "length", reasoned=True), "all tokens went into reasoning: raise"),
    (ChatReply("<think>so", "m", None, "length"), "reasoning: raise llm.max_tokens"),
    (ChatReply("", "m", None, "length"), "cut off: raise llm.max_tokens"),
    (ChatReply(replied(HIGH)[:-2], "m", None, "length"), "cut off: raise llm.max_tokens"),
    (ChatReply(replied(HIGH), "m", None, "MAX_TOKENS"), "cut off: raise llm.max_tokens"),
    (ChatReply("", "m", None, "content_filter"), "filtered by the provider"),
    (ChatReply(replied(HIGH), "m", None, "content_filter"), "filtered by the provider"),
    (ChatReply("", "m", refusal="I can't help."), 'refused: "I can\'t help."'),
    (ChatReply("", "m", None, "tool_calls", called_tools=True), "tool calls instead of a text"),
    (ChatReply("", "m", None, "stop"), "the reply is empty"),
    (ChatReply(" \n\ufeff", "m", None, "stop"), "the reply is empty"),
    (ChatReply("", "m", None, "stop", reasoned=True), "empty but for its reasoning"),
    (ChatReply(f"<think>{replied(HIGH)} but", "m", None, "stop"), "the reply is all thinking"),
]


@pytest.mark.parametrize(("reply", "reason"), FAULTY)
def test_a_faulty_reply_is_an_error_with_its_reason(reply: ChatReply, reason: str) -> None:
    for llm in (ScriptedLlm(reply), ScriptedLlm(replied(HIGH, LOST), reply)):
        with pytest.raises(UnusableReplyError, match=re.escape(reason)):
            generated(llm)


def test_what_precedes_an_end_of_thinking_is_no_answer() -> None:
    said = replied(LOST) + "</think>" + replied(HIGH)
    assert [s.text for s in generated(ScriptedLlm(said)).answer.sentences] == [HIGH["text"]]


def test_a_document_named_by_its_number_is_not_taken_for_evidence() -> None:
    shown = [replace(SHOWN[0], doc_id="2"), replace(SHOWN[1], doc_id="7")]
    passages = by_id(*(passage(item.passage_id, item.text, doc_id=item.doc_id) for item in shown))
    cites = replied({"text": HIGH["text"], "evidence": ["2"]})
    asked = query("How high is the dam?", "2", "7")
    by_document = replace(GENERATION, prompt=load_prompt("answer-units"))
    with pytest.raises(UnusableReplyError, match="'2' is the id of a document"):
        generate(asked, shown, passages, by_document, ScriptedLlm(cites, cites).complete)
    done = generate(asked, shown, passages, GENERATION, ScriptedLlm(cites).complete)
    assert done.answer.references == ("7",)


def test_the_model_may_decline() -> None:
    done = generated(ScriptedLlm('{"answerable": false, "sentences": []}'))
    assert done.answer.abstained
    assert done.answer.references == ()
    assert messages(done) == ["the model says that the evidence does not answer"]


def test_tokens_that_the_server_did_not_count_are_none() -> None:
    done = generated(ScriptedLlm(ChatReply(replied(HIGH), "m")))
    assert done.calls[0].prompt_tokens is None


@pytest.mark.parametrize(
    ("limits", "kept", "note"),
    [
        ({"max_sentences": 1}, 1, "the last 1 sentences are beyond 1 sentences and 400 words"),
        ({"max_words": 10}, 1, "the last 1 sentences are beyond 5 sentences and 10 words"),
        ({"max_words": 11}, 2, None),
    ],
)
def test_limits_are_kept_by_whole_sentences(
    limits: dict[str, int], kept: int, note: str | None
) -> None:
    done = generated(ScriptedLlm(replied(HIGH, DONE)), **limits)
    assert len([s for s in done.answer.sentences if s.citations]) == kept
    assert messages(done) == ([note] if note else [])


def test_a_first_sentence_beyond_the_limit_is_an_error() -> None:
    with pytest.raises(UnusableReplyError, match=r"more than answer\.max_words=5 words"):
        generated(ScriptedLlm(replied(HIGH, DONE)), max_words=5)


def test_unsupported_sentences_are_marked_or_left_out() -> None:
    invented = {"text": "Tourists adore boat trips.", "evidence": ["e1"]}
    flagged = generated(ScriptedLlm(replied(HIGH, invented)))
    assert [s.supported for s in flagged.answer.sentences] == [True, False]
    dropped = generated(
        ScriptedLlm(replied(HIGH, invented)), support=SupportCheck("drop", 0.5, contained)
    )
    assert [s.text for s in dropped.answer.sentences] == [HIGH["text"]]
    assert "sentence 2 left out: supported 0.00" in messages(dropped)[0]


@pytest.mark.parametrize(("min_score", "asked"), [(None, True), (0.7, True), (0.71, False)])
def test_weak_evidence_asks_nobody(min_score: float | None, asked: bool) -> None:
    llm = ScriptedLlm(replied(HIGH))
    done = generated(llm, min_score=min_score)
    assert bool(llm.requests) == asked
    assert done.answer.abstained != asked
    if not asked:
        assert messages(done) == [
            "the best evidence scores 0.7, less than 0.71: no model was asked"
        ]


def test_no_evidence_asks_nobody() -> None:
    llm = ScriptedLlm()
    done = generate(ASKED, [], {}, GENERATION, llm.complete)
    assert done.answer.abstained
    assert [note.message for note in done.notes] == ["no evidence, so no model was asked"]
    assert llm.requests == []


def test_evidence_of_another_document_is_a_bug() -> None:
    leaked = [evidence("e1", "Leaked.", doc_id="z")]
    llm = ScriptedLlm(replied(HIGH))
    with pytest.raises(CandidateLeakError):
        generate(ASKED, leaked, by_id(passage("z#1", doc_id="z")), GENERATION, llm.complete)


def test_an_error_of_the_model_is_passed_on() -> None:
    with pytest.raises(ModelError, match="out of order"):
        generated(ScriptedLlm(ModelError("out of order")))


def test_a_prompt_by_documents_shows_each_under_its_header() -> None:
    unit = Unit("u1", (UnitPart("u1", "b", 0, 0, 9, 3, version="2.1"),))
    again = evidence("e3", "It leaks.", doc_id="b")
    generation = replace(GENERATION, prompt=load_prompt("answer-units"))
    request = generation_request(ASKED, [*SHOWN, again], PASSAGES, generation, units=[unit])
    lines = request.messages[-1].content.split("\n")
    assert [json.loads(line) for line in lines[1 : lines.index("</evidence>")]] == [
        {"document": "b", "title": "Dams", "date": "1950-01-01", "version": "2.1"},
        {"id": "e1", "text": "The dam is 61 metres high."},
        {"id": "e3", "text": "It leaks."},
        {"document": "a"},
        {"id": "e2", "text": "It was finished in 1931."},
    ]
