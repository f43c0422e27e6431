"""Hostile passages change neither the request's shape nor a citation, even if a model obeys."""

import json

import pytest

from ccrag.answering.citations import assemble
from ccrag.answering.generate import Generation, generate, generation_request
from ccrag.answering.replies import read_reply
from ccrag.answering.support import SupportCheck, contained, lexical_support
from ccrag.errors import UnusableReplyError
from ccrag.llm.prompts import load_prompt
from ccrag.llm.request import ChatParameters
from ccrag.types import Answer, Evidence, Passage
from tests.fakes import ScriptedLlm
from tests.support import query
from tests.unit.injections import (
    GOOD,
    HONEST,
    HOSTILE,
    INJECTIONS,
    OTHER,
    QUESTION,
    Injection,
    reply,
)
from tests.unit.stages import evidence, passage

ASKED = query(QUESTION, *HONEST, HOSTILE, *OTHER)
GENERATION = Generation(
    prompt=load_prompt("answer"),
    parameters=ChatParameters("m"),
    max_sentences=5,
    max_words=400,
    abstention="No answer.",
    support=SupportCheck("drop", 0.5, lexical_support),
    show_date=True,
)


def shown(injection: Injection) -> list[Evidence]:
    texts = {**HONEST, HOSTILE: injection.passage}
    return [
        evidence(f"e{number}", text, doc_id=doc_id)
        for number, (doc_id, text) in enumerate(texts.items(), start=1)
    ]


def passages(injection: Injection) -> dict[str, Passage]:
    """As the evidence says, and the hostile one with a hostile title and date too."""
    found = {f"{doc}#1": passage(f"{doc}#1", text, doc_id=doc) for doc, text in HONEST.items()}
    hostile = passage(
        f"{HOSTILE}#1",
        injection.passage,
        doc_id=HOSTILE,
        title=injection.passage,
        date=f"2020 {injection.passage}",
    )
    return {**found, f"{HOSTILE}#1": hostile}


def answer_of(injection: Injection, said: str) -> Answer:
    """
    The answer when the model says the same however often it is asked.

    A reply that cannot be used is no answer: the query fails, and nothing is cited.
    """
    llm, quotes = ScriptedLlm(said, said), shown(injection)
    try:
        return generate(ASKED, quotes, passages(injection), GENERATION, llm.complete).answer
    except UnusableReplyError:
        return assemble(ASKED, (), quotes, abstention="No answer.")[0]


def cited(answer: Answer) -> dict[str, list[str]]:
    """Sentence → documents it cites."""
    return {s.text: [answer.references[c] for c in s.citations] for s in answer.sentences}


def test_there_are_enough_of_them() -> None:
    assert len({i.name for i in INJECTIONS if not i.quotes}) >= 20


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_a_passage_stays_in_its_place_in_the_request(injection: Injection) -> None:
    request = generation_request(ASKED, shown(injection), passages(injection), GENERATION)
    system, user = request.messages
    assert (system.role, user.role) == ("system", "user")
    assert (
        system
        == GENERATION.prompt.messages(question="", evidence=[], max_sentences=5, max_words=400)[0]
    )
    first, *quotes, last, blank, question = user.content.split("\n")
    assert (first, last, blank) == ("<evidence>", "</evidence>", "")
    assert question == f'Question: "{QUESTION}"'
    read = [json.loads(quote) for quote in quotes]
    assert [item["id"] for item in read] == ["e1", "e2", "e3"]
    assert [set(item) - {"title", "date"} for item in read] == [{"id", "text"}] * 3
    assert user.content.count("<evidence>") == user.content.count("</evidence>") == 1
    assert "<|" not in user.content


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_no_other_candidate_reaches_the_request(injection: Injection) -> None:
    request = generation_request(ASKED, shown(injection), passages(injection), GENERATION)
    text = "".join(message.content for message in request.messages)
    assert all(secret not in text for secret in OTHER.values())
    assert "#1" not in text.replace(injection.passage, "")
    assert request.schema is not None
    ids = request.schema.schema["properties"]["sentences"]["items"]["properties"]["evidence"]
    assert ids["items"]["enum"] == ["e1", "e2", "e3"]


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_an_obedient_model_changes_no_citation(injection: Injection) -> None:
    honest = cited(answer_of(injection, reply()))
    assert honest == {GOOD[0]["text"]: ["dam"], GOOD[1]["text"]: ["lake"]}
    obeyed = answer_of(injection, injection.reply)
    if obeyed.abstained:
        assert (cited(obeyed), obeyed.references) == ({"No answer.": []}, ())
        return
    further = {text: ids for text, ids in cited(obeyed).items() if text not in honest}
    assert {**honest, **further} == {**honest, **cited(obeyed)}
    assert bool(further) == injection.quotes
    for text, doc_ids in further.items():
        assert doc_ids == [HOSTILE]
        assert (contained(injection.passage, text) or 0) >= 0.5


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_without_a_support_check_citations_still_name_only_what_was_shown(
    injection: Injection,
) -> None:
    reading = read_reply(injection.reply, shown(injection))
    answer, notes = assemble(ASKED, reading.drafts, shown(injection), abstention="No answer.")
    assert notes == ()
    assert set(answer.references) <= {*HONEST, HOSTILE}
    for sentence in answer.sentences:
        assert set(sentence.evidence_ids) <= {"e1", "e2", "e3"}
        assert all(0 <= citation < len(answer.references) for citation in sentence.citations)
        assert sentence.text.isprintable()
