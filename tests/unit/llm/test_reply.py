"""Chat completions as servers send them, what is none, and what cannot be used."""

from typing import Any

import pytest

from ccrag.errors import ModelError
from ccrag.llm.reply import ChatReply, Usage, body_error, parse_reply


def completion(content: object = "hello", **more: object) -> dict[str, Any]:
    return {
        "model": "m-2024",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content}, **more},
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


def test_a_completion_is_read() -> None:
    assert parse_reply(completion(finish_reason="stop")) == ChatReply(
        "hello", "m-2024", Usage(12, 3), "stop"
    )


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    assert parse_reply(completion(parts)).text == "one two"


def test_a_refusal_is_kept_and_is_no_text() -> None:
    body = completion(None)
    body["choices"][0]["message"]["refusal"] = "I cannot."
    reply = parse_reply(body)
    assert (reply.text, reply.refusal) == ("", "I cannot.")


def test_a_server_that_counts_no_tokens() -> None:
    body = completion()
    del body["usage"]
    assert parse_reply(body).usage is None


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {},
        {"choices": ["x"]},
        {"choices": [{"text": "old completions"}]},
        completion(7),
        completion([{"type": "image_url"}]),
    ],
)
def test_what_is_no_completion_is_an_error_that_shows_it(body: object) -> None:
    with pytest.raises(ModelError, match="not a chat completion"):
        parse_reply(body)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, 429),
        ({"error": {"code": "429", "message": "slow down"}}, 429),
        ({"error": {"code": "rate_limit_exceeded", "message": "slow down"}}, 429),
        ({"error": {"type": "Too Many Requests"}}, 429),
        ({"error": {"status": "RESOURCE_EXHAUSTED"}}, 429),
        ({"error": {"code": 502, "message": "upstream"}, "choices": []}, 502),
        ({"error": {"type": "overloaded_error", "message": "busy"}}, 503),
        ({"error": "Request timed out"}, 503),
        ({"object": "error", "code": 400, "message": "too long"}, 400),
        ({"error": {"code": "invalid_api_key"}}, 401),
        ({"choices": [{"error": {"code": 502, "message": "x"}, "finish_reason": "error"}]}, 502),
        ({"choices": None}, 503),
        ({"choices": []}, 503),
        ({"choices": [{"message": None}]}, 503),
        ({"error": {"message": "no"}}, None),
        ({"error": {"code": 7}}, None),
        ({"object": "list"}, None),
        ({**completion(), "error": None}, "none"),
    ],
)
def test_an_error_in_a_body_has_the_status_it_stands_for(body: object, status: object) -> None:
    found = body_error(body)
    assert (found.status if found else "none") == status
    if found:
        with pytest.raises(ModelError):
            parse_reply(body)


def test_thoughts_beside_the_text_are_told_and_are_no_text() -> None:
    body = completion("")
    assert not parse_reply(body).reasoned
    body["choices"][0]["message"]["reasoning_content"] = "hm"
    assert parse_reply(body).fault == "the reply is empty but for its reasoning"
    parts = [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "so"}]
    assert parse_reply(completion(parts)).text == "so"
    refused = parse_reply(completion([{"type": "refusal", "refusal": "No."}]))
    assert (refused.text, refused.refusal) == ("", "No.")
    counted = completion("")
    counted["usage"]["completion_tokens_details"] = {"reasoning_tokens": 900}
    counted["choices"][0]["finish_reason"] = "length"
    assert (parse_reply(counted).fault or "").startswith("all tokens went into reasoning: raise")


def test_a_tool_is_called_instead() -> None:
    body = completion(None, finish_reason="tool_calls")
    body["choices"][0]["message"]["tool_calls"] = [{"id": "1"}]
    assert parse_reply(body).fault == "tool calls instead of a text"
