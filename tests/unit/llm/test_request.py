"""The body a request becomes, and its digest."""

from dataclasses import replace

import pytest

from ccrag.llm.request import (
    ChatMessage,
    ChatParameters,
    ChatRequest,
    ReplySchema,
    Structured,
    request_body,
)

PARAMETERS = ChatParameters("m", temperature=0.0, top_p=0.9, seed=7, max_tokens=50)
REQUEST = ChatRequest((ChatMessage("system", "s"), ChatMessage("user", "u")), PARAMETERS)
SCHEMA = ReplySchema("answer", {"type": "object"})


def test_the_body_is_what_chat_completions_takes() -> None:
    assert request_body(REQUEST) == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 50,
    }


def test_parameters_left_open_are_not_sent() -> None:
    body = request_body(replace(REQUEST, parameters=ChatParameters("m")))
    assert set(body) == {"model", "messages"}


def test_the_limit_of_tokens_goes_by_the_name_the_server_wants() -> None:
    parameters = replace(PARAMETERS, max_tokens_field="max_completion_tokens")
    body = request_body(replace(REQUEST, parameters=parameters))
    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("structured", "format_"),
    [
        (
            "json-schema",
            {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}},
            },
        ),
        ("json-object", {"type": "json_object"}),
        ("off", None),
    ],
)
def test_a_schema_is_sent_as_the_server_takes_it(structured: Structured, format_: object) -> None:
    parameters = replace(PARAMETERS, structured=structured)
    request = replace(REQUEST, parameters=parameters, schema=SCHEMA)
    assert request_body(request).get("response_format") == format_


def test_extra_keys_are_sent_as_they_are() -> None:
    parameters = replace(PARAMETERS, extra={"reasoning_effort": "low"})
    assert request_body(replace(REQUEST, parameters=parameters))["reasoning_effort"] == "low"


def test_the_digest_is_of_what_is_sent() -> None:
    assert REQUEST.digest == replace(REQUEST, prompt="answer@1").digest
    assert len(REQUEST.digest) == 32
    others = [
        replace(REQUEST, messages=REQUEST.messages[:1]),
        replace(REQUEST, schema=SCHEMA),
        replace(REQUEST, parameters=replace(PARAMETERS, seed=8)),
        replace(REQUEST, parameters=replace(PARAMETERS, model="n")),
    ]
    assert len({REQUEST.digest, *(other.digest for other in others)}) == 5
