"""Chat completions as servers send them, and what is none."""

from typing import Any

import pytest

from ccrag.chat.reply import ChatReply, Usage, parse_reply
from ccrag.errors import ModelError


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
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"text": "old completions"}]},
        {"error": {"message": "no"}},
        completion(7),
        completion([{"type": "image_url"}]),
    ],
)
def test_what_is_no_completion_is_an_error_that_shows_it(body: object) -> None:
    with pytest.raises(ModelError, match="not a chat completion"):
        parse_reply(body)
