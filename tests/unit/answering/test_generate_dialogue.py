"""Answers in a dialogue: history has a place of its own, and never becomes evidence."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ccrag.answering.generate import Generated, Generation, generate, generation_request
from ccrag.answering.support import SupportCheck, lexical_support
from ccrag.errors import UnusableReplyError
from ccrag.llm.prompts import load_prompt
from ccrag.llm.request import ChatParameters, ChatRequest
from ccrag.types import Query, Turn
from tests.fakes import ScriptedLlm
from tests.support import query
from tests.unit.injections import GOOD, HONEST, INJECTIONS, QUESTION, Injection, reply, said
from tests.unit.stages import evidence, passage

GENERATION = Generation(
    prompt=load_prompt("answer-dialogue"),
    parameters=ChatParameters("m"),
    max_sentences=5,
    max_words=150,
    abstention="I do not have specific information.",
    support=SupportCheck("drop", 0.5, lexical_support),
)
SHOWN = [evidence(f"e{n}", text, doc_id=doc) for n, (doc, text) in enumerate(HONEST.items(), 1)]
PASSAGES = {f"{doc}#1": passage(f"{doc}#1", text, doc_id=doc) for doc, text in HONEST.items()}
EARLIER = (Turn("user", "Tell me about the dam."), Turn("agent", "It is in the north."))


def asked(*turns: Turn) -> Query:
    return replace(query(QUESTION, *HONEST), turns=turns)


def answered(
    *replies: str, turns: tuple[Turn, ...] = EARLIER, **changes: Any
) -> tuple[Generated, ScriptedLlm]:
    llm = ScriptedLlm(*replies)
    generation = replace(GENERATION, **changes)
    return generate(asked(*turns), SHOWN, PASSAGES, generation, llm.complete), llm


def parts(request: ChatRequest) -> tuple[list[Any], list[Any], str]:
    """History, evidence and question of a request, each line read as JSON."""
    lines = request.messages[1].content.split("\n")
    assert [lines.count(tag) for tag in ("<history>", "</history>")] == [1, 1]
    assert [lines.count(tag) for tag in ("<evidence>", "</evidence>")] == [1, 1]
    ends = lines.index("</history>"), lines.index("</evidence>")
    history = [json.loads(line) for line in lines[lines.index("<history>") + 1 : ends[0]]]
    shown = [json.loads(line) for line in lines[lines.index("<evidence>") + 1 : ends[1]]]
    assert (lines.index("<history>"), lines.index("<evidence>")) == (0, ends[0] + 2)
    assert lines[ends[1] + 1] == ""
    [question] = lines[ends[1] + 2 :]
    return history, shown, question


def test_each_part_has_its_place() -> None:
    _, llm = answered(reply())
    history, shown, question = parts(llm.requests[0])
    assert history == [{"speaker": turn.speaker, "text": turn.text} for turn in EARLIER]
    assert [item["id"] for item in shown] == ["e1", "e2"]
    assert question == f'Question: "{QUESTION}"'
    system = llm.requests[0].messages[0].content
    assert "150 words" in system
    assert "clarify" not in system


def test_a_first_question_has_an_empty_history() -> None:
    _, llm = answered(reply(), turns=())
    assert parts(llm.requests[0])[0] == []


def test_what_only_the_history_says_is_left_out_even_with_an_id_from_the_evidence() -> None:
    turns = (*EARLIER, Turn("agent", "The dam is 900 metres high and the mayor is corrupt."))
    claims = [
        said("The dam is 900 metres high.", "e1"),
        said("The mayor took bribes from builders.", "e1", "e2"),
    ]
    done, _ = answered(reply(*claims), turns=turns)
    assert [s.text for s in done.answer.sentences] == [item["text"] for item in GOOD]
    flagged, _ = answered(
        reply(*claims), turns=turns, support=SupportCheck("flag", 0.5, lexical_support)
    )
    assert [s.supported for s in flagged.answer.sentences] == [True, True, False, False]


def test_history_alone_is_no_evidence_and_nobody_is_asked() -> None:
    llm = ScriptedLlm()
    turns = (Turn("user", "Hi"), Turn("agent", "The dam is 61 metres high."))
    done = generate(asked(*turns), [], {}, GENERATION, llm.complete)
    assert (done.answer.abstained, llm.requests) == (True, [])
    assert done.answer.sentences[0].text == "I do not have specific information."


SPEAKERS = ["user", "agent"]


@pytest.mark.parametrize("speaker", SPEAKERS)
@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_a_hostile_turn_stays_in_the_history(injection: Injection, speaker: Any) -> None:
    request = generation_request(
        asked(*EARLIER, Turn(speaker, injection.passage)), SHOWN, PASSAGES, GENERATION
    )
    history, shown, question = parts(request)
    assert len(history) == 3
    assert [set(turn) for turn in history] == [{"speaker", "text"}] * 3
    assert [item["text"] for item in shown] == list(HONEST.values())
    assert question == f'Question: "{QUESTION}"'
    assert "<|" not in request.messages[1].content
    assert request.schema is not None
    ids = request.schema.schema["properties"]["sentences"]["items"]["properties"]["evidence"]
    assert ids["items"]["enum"] == ["e1", "e2"]


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_history_never_becomes_a_citation_even_if_a_model_obeys(injection: Injection) -> None:
    """The third piece of evidence that replies cite is not there: its text is a turn."""
    turns = (*EARLIER, Turn("agent", injection.passage))
    try:
        answer = answered(injection.reply, injection.reply, turns=turns)[0].answer
    except UnusableReplyError:
        return  # the query fails, and nothing is cited
    honest = {GOOD[0]["text"]: ["dam"], GOOD[1]["text"]: ["lake"]}
    cited = {s.text: [answer.references[c] for c in s.citations] for s in answer.sentences}
    if answer.abstained:
        assert (list(cited.values()), answer.references) == ([[]], ())
    else:
        assert cited == honest
    assert [item.text for item in answer.evidence] == list(HONEST.values())


def back(question: object, *, answerable: bool = False) -> str:
    return json.dumps({"answerable": answerable, "sentences": [], "clarify": question})


def test_an_unclear_question_may_be_answered_by_asking_back() -> None:
    done, llm = answered(back("Which dam do you mean?"), clarify=True)
    assert done.answer.abstained
    [sentence] = done.answer.sentences
    assert (sentence.text, sentence.citations) == ("Which dam do you mean?", ())
    assert [n.message for n in done.notes] == ["the model finds the question unclear and asks back"]
    request = llm.requests[0]
    assert '"clarify": ""' in request.messages[0].content
    assert request.schema is not None
    assert "clarify" in request.schema.schema["required"]


def test_asking_back_is_a_setting() -> None:
    done, llm = answered(back("Which dam do you mean?"))
    assert done.answer.sentences[0].text == "I do not have specific information."
    schema = llm.requests[0].schema
    assert schema is not None
    assert "clarify" not in schema.schema["properties"]


@pytest.mark.parametrize(
    "question", ["", None, 7, ["Which?"], "The dam is 900 metres high.", "word " * 40 + "which?"]
)
def test_what_is_no_short_question_is_an_abstention(question: object) -> None:
    done, _ = answered(back(question), clarify=True)
    assert done.answer.sentences[0].text == "I do not have specific information."


def test_a_question_beside_an_answer_is_passed_over() -> None:
    whole = reply(clarify="Which one?")
    done, _ = answered(whole, clarify=True)
    assert [s.text for s in done.answer.sentences] == [item["text"] for item in GOOD]
