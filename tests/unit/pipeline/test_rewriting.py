"""Rewrites as variants of a pipeline: lists of their own, settings, failures loud or noted."""

import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ConfigError, InputError, ModelError
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatRequest, request_body
from ccrag.pipeline.expansion import first_requests, retrieval_requests, set_variants
from ccrag.pipeline.rewriting import Rewriter
from ccrag.pipeline.state import QueryState
from ccrag.query.rewrite_rules import rewritten
from ccrag.runs.files import stage_prompts_of
from ccrag.types import Candidates, Query, Turn
from tests.fakes import ScriptedLlm

TURNS = (Turn("user", "What is a municipal bond?"), Turn("agent", "A loan to a city."))
REPLY = '{"questions": ["Is a municipal bond safe?", "How safe are municipal bonds?"]}'


def settings(changes: dict[str, Any] | None = None, **rewrite: Any) -> PipelineSettings:
    values = {
        "name": "mine",
        "variants": {"use": ["original", "llm-rewrite"], "question": "llm-rewrite"},
        "feedback": {"enabled": False},
        "rewrite": rewrite,
        **(changes or {}),
    }
    return PipelineSettings.model_validate(values)


def state(query_id: str = "q1", turns: tuple[Turn, ...] = TURNS) -> QueryState:
    return QueryState(Query(query_id, "Is it safe?", Candidates.whole_index(), turns))


def worded(
    reply: str | ModelError = REPLY, *, turns: tuple[Turn, ...] = TURNS, **rewrite: Any
) -> tuple[QueryState, ScriptedLlm]:
    one, llm, chosen = state(turns=turns), ScriptedLlm(reply), settings(**rewrite)
    Rewriter(chosen, llm).rewrite([one])
    if one.error is None:
        set_variants(one, chosen)
    return one, llm


def test_a_rewrite_is_a_wording_with_a_list_and_stands_for_the_question() -> None:
    one, llm = worded()
    assert [(v.name, v.text) for v in one.variants] == [
        ("original", "Is it safe?"),
        ("llm-rewrite", "Is a municipal bond safe?"),
    ]
    assert one.question == "Is a municipal bond safe?"
    assert [ask.stage for ask in retrieval_requests(one, settings())] == [
        "bm25:original",
        "bm25:llm-rewrite",
    ]
    assert [call.prompt for call in one.calls] == ["rewrite@1"]
    assert [n.message for n in one.notes] == ["reply: 2 questions, of which the first 1 count"]
    assert request_body(llm.requests[0])["temperature"] == 0.3


def test_several_rewrites_have_a_list_each_and_the_first_is_the_question() -> None:
    one, _ = worded(count=2)
    assert [v.name for v in one.variants] == ["original", "llm-rewrite", "llm-rewrite-2"]
    assert one.question == "Is a municipal bond safe?"
    fusion = {"fusion": {"weights": {"bm25:llm-rewrite-2": 0.5}}}
    assert settings(fusion, count=2).list_names() == (
        "bm25:original",
        "bm25:llm-rewrite",
        "bm25:llm-rewrite-2",
    )
    with pytest.raises(ValidationError, match="names 'bm25:llm-rewrite-2'; the lists are"):
        settings(fusion)


def test_dense_lists_have_rewrites_too() -> None:
    dense = {
        "vectors": {"mode": "exact"},
        "retrieval": {"lists": ["dense"]},
        "variants": {"dense": ["llm-rewrite"]},
    }
    one, chosen = state(), settings(dense)
    Rewriter(chosen, ScriptedLlm(REPLY)).rewrite([one])
    set_variants(one, chosen)
    assert [v.text for v in one.dense_variants] == ["Is a municipal bond safe?"]
    assert one.question == "Is it safe?"


def test_a_lone_question_is_its_own_rewrite() -> None:
    one, llm = worded(turns=(), count=2)
    assert [v.text for v in one.variants] == ["Is it safe?"] * 3
    assert llm.requests == []


@pytest.mark.parametrize("reply", ["Is a bond safe?", ModelError("host: gone")])
def test_a_failure_is_an_error_or_the_rewrite_by_rule_with_a_note(reply: str | ModelError) -> None:
    one, _ = worded(reply)
    assert isinstance(one.error, ModelError)
    assert str(one.error).startswith("query 'q1': rewrite: ")
    assert str(one.error).endswith("; rewrite.failure=rules goes on with a rewrite by rule")
    one, _ = worded(reply, failure="rules")
    assert one.question == rewritten("Is it safe?", TURNS) == "Is it safe?\nmunicipal bond"
    [note] = one.notes
    assert note.stage == "rewrite"
    assert note.message.endswith("; rewritten by rule")


def test_queries_of_a_batch_are_asked_at_once_and_one_that_fails_stops_no_other() -> None:
    together = threading.Barrier(3, timeout=10)

    class Meeting:
        """Replies when all three are being asked; fails one."""

        def complete(self, request: ChatRequest) -> ChatReply:
            if together.wait() == 1:
                raise ModelError("gone")
            return ChatReply(REPLY, "m")

    states = [state(f"q{n}") for n in range(3)]
    Rewriter(settings(), Meeting()).rewrite(states)
    assert sorted(one.error is None for one in states) == [False, True, True]
    assert all(bool(one.rewrites) == (one.error is None) for one in states)


def test_temperature_and_prompt_are_settings(tmp_path: Path) -> None:
    prompt = tmp_path / "mine.md"
    prompt.write_text("version: 4\n--- user\n{{ history | length }} {{ question }}\n", "utf-8")
    one, llm = worded(temperature="unset", prompt=str(prompt))
    body = request_body(llm.requests[0])
    assert "temperature" not in body
    assert [m["content"] for m in body["messages"]] == ['2 "Is it safe?"']
    assert [call.prompt for call in one.calls] == ["mine@4"]
    assert stage_prompts_of(settings(prompt=str(prompt)))["rewrite"].label == "mine@4"
    with pytest.raises(ConfigError, match="no prompt 'nope'"):
        worded(prompt="nope")


def test_who_needs_a_model() -> None:
    with pytest.raises(ModelError, match="pipeline mine: the variant llm-rewrite needs a model"):
        Rewriter(settings(), None)
    Rewriter(PipelineSettings(), None).rewrite([state()])
    for needs, expected in ((settings(), True), (PipelineSettings(), False)):
        found = requirements(needs)
        assert (found.llm_rewrite, found.llm_before_answer, found.llm) == (expected,) * 3
    unused = {"variants": {"use": ["original"], "dense": ["llm-rewrite"]}}
    assert not requirements(settings(unused)).llm_rewrite


def test_requests_cannot_be_shown_before_a_model_has_rewritten() -> None:
    lone, dialogue = state(turns=()).query, state().query
    assert len(first_requests(settings(), lone, None)) == 2
    with pytest.raises(InputError, match="depend on a rewrite"):
        first_requests(settings(), dialogue, None)
