"""Listwise reranking as a stage: settings heard, queries at once, failures flagged."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.errors import ConfigError, ModelError
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatRequest, request_body
from ccrag.pipeline.reranking import ScoreRerankStage, make_rerank_stage
from ccrag.pipeline.state import QueryState
from ccrag.runs.files import stage_prompts_of
from tests.fakes import ScriptedLlm
from tests.support import query
from tests.unit.stages import by_id, ids, passage, ranking

TEXTS = {name: f"Passage {name} on dams. " + "More of it. " * 20 for name in "abcd"}


def settings(**rerank: Any) -> PipelineSettings:
    return PipelineSettings.model_validate(
        {"name": "mine", "rerank": {"method": "listwise", **rerank}}
    )


def state(query_id: str = "q1") -> QueryState:
    one = QueryState(
        query("And how high?", *TEXTS, query_id=query_id), question="How high is the dam?"
    )
    one.passages = by_id(*(passage(name, text) for name, text in TEXTS.items()))
    one.ranking = ranking(*TEXTS, query_id=query_id)
    return one


def reranked(reply: str | ModelError, **rerank: Any) -> tuple[QueryState, ScriptedLlm]:
    one, llm = state(), ScriptedLlm(reply, reply, reply)
    make_rerank_stage(settings(**rerank), None, llm, max_edges=0).rerank([one])
    return one, llm


BACKWARDS = json.dumps({"order": ["p4", "p3", "p2", "p1"]})


def test_the_order_is_the_models_and_the_trace_has_it() -> None:
    one, _ = reranked(BACKWARDS)
    assert ids(one.current()) == ["d", "c", "b", "a"]
    assert [ranked.stage for ranked in one.later] == ["rerank"]
    assert [call.prompt for call in one.calls] == ["listwise@1"]
    assert (one.notes, one.error) == ([], None)


def test_what_lies_below_the_shortlist_keeps_its_place() -> None:
    one, llm = reranked('{"order": ["p2", "p1"]}', shortlist=2)
    assert ids(one.current()) == ["b", "a", "c", "d"]
    assert len(llm.requests) == 1


def test_windows_and_a_prompt_of_ones_own(tmp_path: Path) -> None:
    prompt = tmp_path / "mine.md"
    prompt.write_text("version: 7\n--- user\n{{ passages | join }} {{ question }}\n", "utf-8")
    one, llm = reranked(BACKWARDS, window_tokens=256, prompt=str(prompt))
    assert len(llm.requests) == 2
    assert {call.prompt for call in one.calls} == {"mine@7"}
    assert stage_prompts_of(settings(prompt=str(prompt)))["rerank"].label == "mine@7"
    assert stage_prompts_of(PipelineSettings()) == {}
    with pytest.raises(ConfigError, match="no prompt 'nope'"):
        reranked(BACKWARDS, prompt="nope")


@pytest.mark.parametrize("reply", ["Passage a, I'd say.", ModelError("host: gone")])
def test_a_failure_keeps_the_order_and_is_flagged_or_is_an_error(reply: str | ModelError) -> None:
    one, _ = reranked(reply)
    assert ids(one.current()) == ["a", "b", "c", "d"]
    assert (one.later, one.error) == ([], None)
    [note] = one.notes
    assert note.stage == "rerank"
    assert note.message.startswith("listwise: ")
    assert note.message.endswith("; the order stays as it was")
    one, _ = reranked(reply, failure="error")
    assert isinstance(one.error, ModelError)
    assert str(one.error).startswith("query 'q1': listwise rerank: ")


def test_queries_of_a_batch_are_asked_at_once() -> None:
    together = threading.Barrier(4, timeout=10)

    class Meeting:
        """Replies when all four are being asked; fails one."""

        def complete(self, request: ChatRequest) -> ChatReply:
            if together.wait() == 2:
                raise ModelError("gone")
            return ChatReply(BACKWARDS, "m")

    states = [state(f"q{n}") for n in range(4)]
    make_rerank_stage(settings(failure="error"), None, Meeting(), max_edges=0).rerank(states)
    assert sorted(one.error is None for one in states) == [False, True, True, True]
    make_rerank_stage(settings(), None, Meeting(), max_edges=0).rerank([])


def test_the_parameters_are_those_of_the_model() -> None:
    chosen = settings().model_copy(update={"llm": settings().llm.model_copy(update={"seed": 3})})
    llm = ScriptedLlm(BACKWARDS)
    make_rerank_stage(chosen, None, llm, max_edges=0).rerank([state()])
    assert request_body(llm.requests[0])["seed"] == 3


def test_who_needs_a_model() -> None:
    assert requirements(settings()).llm
    assert not requirements(PipelineSettings()).llm
    nli = {"support_model": "nli"}
    extractive = {"rerank": {"method": "listwise"}, "answer": nli}
    assert requirements(PipelineSettings.model_validate(extractive)).support_model is None
    with pytest.raises(ModelError, match=r"pipeline mine: rerank\.method=listwise needs a model"):
        make_rerank_stage(settings(), None, None, max_edges=0)
    assert isinstance(
        make_rerank_stage(PipelineSettings(), None, None, max_edges=0), ScoreRerankStage
    )
