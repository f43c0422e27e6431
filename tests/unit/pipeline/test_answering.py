"""The writers: which one settings name, and that a model hears every setting that is for it."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatRequest, request_body
from ccrag.pipeline.answering import (
    ExtractiveAnswerGenerator,
    LlmAnswerGenerator,
    make_answer_generator,
)
from ccrag.pipeline.state import QueryState
from tests.fakes import ScriptedLlm
from tests.support import query
from tests.unit.stages import by_id, evidence, passage

SENTENCES = ["The dam is 61 metres high.", "It was finished in 1931 by hand.", "Tourists adore it."]
SHOWN = tuple(
    evidence(f"e{n}", text, doc_id=f"d{n}", score=0.6 - n / 10)
    for n, text in enumerate(SENTENCES[:2], start=1)
)
PASSAGES = by_id(
    *(
        passage(f"d{n}#1", item.text, doc_id=f"d{n}", title="Dams", date="1950-01-01")
        for n, item in enumerate(SHOWN, start=1)
    )
)
REPLY = json.dumps(
    {
        "answerable": True,
        "sentences": [{"text": text, "evidence": ["e1", "e2"]} for text in SENTENCES],
    }
)


def state(query_id: str = "q1") -> QueryState:
    asked = query("How high is the dam?", "d1", "d2", query_id=query_id)
    return QueryState(asked, passages=PASSAGES, evidence=SHOWN)


def settings(changes: dict[str, Any]) -> PipelineSettings:
    values: dict[str, dict[str, Any]] = {"answer": {"generator": "llm"}}
    for path, value in changes.items():
        section, key = path.split(".")
        values.setdefault(section, {})[key] = value
    return PipelineSettings.model_validate(values)


def written(changes: dict[str, Any]) -> tuple[QueryState, ScriptedLlm]:
    llm, one = ScriptedLlm(REPLY), state()
    make_answer_generator(settings(changes), llm).write([one])
    return one, llm


View = Callable[[QueryState, ScriptedLlm], Any]


def body(_: QueryState, llm: ScriptedLlm) -> Any:
    return request_body(llm.requests[0])


def answer(one: QueryState, _: ScriptedLlm) -> Any:
    assert one.answer is not None
    return one.answer.sentences


@pytest.mark.parametrize(
    ("changes", "view"),
    [
        ({"answer.max_sentences": 1}, answer),
        ({"answer.max_sentences": 1}, body),
        ({"answer.max_words": 6}, answer),
        ({"answer.max_words": 6}, body),
        ({"answer.show_title": False}, body),
        ({"answer.clarify": True}, body),
        ({"answer.show_date": True}, body),
        ({"answer.unsupported": "keep"}, answer),
        ({"answer.unsupported": "drop"}, answer),
        ({"answer.support_threshold": 0.0}, answer),
        ({"llm.model": "other"}, body),
        ({"llm.temperature": 0.3}, body),
        ({"llm.top_p": 0.9}, body),
        ({"llm.seed": "unset"}, body),
        ({"llm.temperature": "unset"}, body),
        ({"llm.max_tokens": 99}, body),
        ({"llm.max_tokens_field": "max_completion_tokens"}, body),
        ({"llm.structured": "off"}, body),
        ({"llm.extra": {"reasoning_effort": "low"}}, body),
    ],
)
def test_a_model_hears_every_setting(changes: dict[str, Any], view: View) -> None:
    assert view(*written(changes)) != view(*written({}))


def test_weak_evidence_and_the_abstention_are_settings() -> None:
    changes = {"answer.min_evidence_score": 0.51, "answer.abstention": "No idea."}
    one, llm = written(changes)
    assert llm.requests == []
    assert one.answer is not None
    assert [sentence.text for sentence in one.answer.sentences] == ["No idea."]


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text("version: 9\n--- user\n{{ evidence | length }} {{ question }}\n", "utf-8")
    one, llm = written({"answer.prompt": str(path)})
    assert [m.content for m in llm.requests[0].messages] == ['2 "How high is the dam?"']
    assert [call.prompt for call in one.calls] == ["mine@9"]
    with pytest.raises(ConfigError, match="no prompt 'nope'"):
        written({"answer.prompt": "nope"})


def test_the_writer_is_the_one_that_is_named() -> None:
    assert isinstance(make_answer_generator(PipelineSettings(), None), ExtractiveAnswerGenerator)
    assert isinstance(make_answer_generator(settings({}), ScriptedLlm()), LlmAnswerGenerator)
    with pytest.raises(ModelError, match=r"pipeline default: answer\.generator=llm needs a"):
        make_answer_generator(settings({}), None)


def test_another_measure_of_support() -> None:
    one = state()
    writer = make_answer_generator(
        settings({"answer.unsupported": "drop"}), ScriptedLlm(REPLY), support=lambda *_: 0.0
    )
    writer.write([one])
    assert one.answer is not None
    assert one.answer.abstained


def test_queries_of_a_batch_are_asked_at_once_and_one_that_fails_stops_no_other() -> None:
    states = [state(f"q{n}") for n in range(4)]
    together = threading.Barrier(4, timeout=10)

    class Meeting:
        """Replies when all four are being asked; fails the third."""

        def complete(self, request: ChatRequest) -> ChatReply:
            if together.wait() == 2:
                raise ModelError("gone")
            return ChatReply(REPLY, "m")

    make_answer_generator(settings({}), Meeting()).write(states)
    assert sorted(str(one.error) for one in states) == ["None", "None", "None", "gone"]
    assert all((one.answer is None) == (one.error is not None) for one in states)


def test_nobody_to_write_for() -> None:
    make_answer_generator(settings({}), ScriptedLlm()).write([])
