"""The stand-in for a provider is held to the official client, faults included."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.provider import CUT, DROPPED, HANG, Ending, Provider, refused, serving


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(lambda body: f"you said {body['messages'][-1]['content']}") as provider:
        yield provider


def client(provider: Provider, **options: Any) -> openai.OpenAI:
    options = {"max_retries": 0, "timeout": 5.0, **options}
    return openai.OpenAI(api_key="k", base_url=provider.url, **options)


def ask(asking: openai.OpenAI, text: str) -> str | None:
    reply = asking.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    said: str | None = reply.choices[0].message.content
    return said


def lines(*texts: str) -> bytes:
    return b"".join(
        json.dumps(
            {
                "custom_id": f"id-{text}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "m", "messages": [{"role": "user", "content": text}]},
            }
        ).encode()
        + b"\n"
        for text in texts
    )


def run_batch(asking: openai.OpenAI, *texts: str) -> Any:
    file = asking.files.create(file=("in.jsonl", lines(*texts)), purpose="batch")
    batch = asking.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"part": "p1"},
    )
    return asking.batches.retrieve(batch.id)


def answers(asking: openai.OpenAI, file_id: str | None) -> dict[str, Any]:
    assert file_id is not None
    content = asking.files.content(file_id).content
    return {line["custom_id"]: line for line in map(json.loads, content.splitlines())}


def test_a_chat_is_answered_and_kept(provider: Provider) -> None:
    assert ask(client(provider), "grüß dich") == "you said grüß dich"
    assert provider.chats[0]["messages"][0]["content"] == "grüß dich"
    assert provider.headers[0]["authorization"] == "Bearer k"


def test_faults_come_in_order_and_end(provider: Provider) -> None:
    provider.fail("POST /chat/completions", refused(429, retry_after_s=0.01), refused(500))
    assert ask(client(provider, max_retries=2), "a") == "you said a"
    provider.fail("POST /chat/completions", refused(401))
    with pytest.raises(openai.AuthenticationError):
        ask(client(provider), "a")


@pytest.mark.parametrize(
    ("fault", "error"),
    [(HANG, openai.APITimeoutError), (DROPPED, openai.APIConnectionError), (CUT, ValueError)],
)
def test_answers_can_be_lost_or_cut(provider: Provider, fault: Any, error: Any) -> None:
    provider.fail("POST /chat/completions", fault)
    with pytest.raises(error):
        ask(client(provider, timeout=0.3), "a")
    assert len(provider.chats) == int(fault.acted)


def test_a_batch_answers_each_request(provider: Provider) -> None:
    asking = client(provider)
    batch = run_batch(asking, "a", "b\u2028ü")
    assert (batch.status, batch.error_file_id) == ("completed", None)
    said = answers(asking, batch.output_file_id)
    body = said["id-b\u2028ü"]["response"]["body"]
    assert body["choices"][0]["message"]["content"] == "you said b\u2028ü"
    assert [item.metadata for item in asking.batches.list()] == [{"part": "p1"}]


def test_an_expired_batch_keeps_what_was_done(provider: Provider) -> None:
    provider.batches.endings.append(Ending("expired", done=1))
    asking = client(provider)
    batch = run_batch(asking, "a", "b")
    assert batch.status == "expired"
    assert list(answers(asking, batch.output_file_id)) == ["id-a"]
    assert answers(asking, batch.error_file_id)["id-b"]["error"]["code"] == "batch_expired"


def test_a_batch_can_hold_errors_alone(provider: Provider) -> None:
    provider.batches.endings.append(Ending(refuse=(0, 1)))
    asking = client(provider)
    batch = run_batch(asking, "a", "b")
    assert (batch.status, batch.output_file_id) == ("completed", None)
    assert answers(asking, batch.error_file_id)["id-a"]["response"]["status_code"] == 400


def test_lists_come_by_pages(provider: Provider) -> None:
    asking = client(provider)
    for _ in range(21):
        run_batch(asking, "a")
    assert len({item.id for item in asking.batches.list()}) == 21
    assert len({item.id for item in asking.files.list(purpose="batch")}) == 21
