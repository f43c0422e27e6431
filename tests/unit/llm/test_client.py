"""The model client against a server on loopback that misbehaves as told."""

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from ccrag.concurrency import in_order
from ccrag.config import LlmSettings, ProviderSettings
from ccrag.errors import ConfigError, ModelError
from ccrag.llm.cache import ReplyCache
from ccrag.llm.client import OPENAI_URL, Llm, client_errors, load_llm, parameters_of
from ccrag.llm.json_extraction import find_json
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatMessage, ChatParameters, ChatRequest, request_body
from tests.provider import CUT, DROPPED, HANG, Provider, refused, serving

ROUTE = "POST /chat/completions"
KEY = "sk-very-secret-0123456789"
REQUEST = ChatRequest(
    (ChatMessage("user", "say it"),), ChatParameters("m", temperature=0.0, seed=7, max_tokens=9)
)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(lambda body: f"said {body['messages'][-1]['content']}") as provider:
        yield provider


def model(provider: Provider, **changes: Any) -> Llm:
    values: dict[str, Any] = {"base_url": provider.url, "timeout_s": 5.0, "retries": 2, **changes}
    return load_llm(ProviderSettings(**values))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Retries wait for nothing; the pauses they asked for."""
    pauses: list[float] = []
    monkeypatch.setattr("openai._base_client.time.sleep", pauses.append)
    return pauses


def test_the_body_sent_is_the_requests(provider: Provider) -> None:
    reply = model(provider).complete(REQUEST)
    assert provider.chats == [request_body(REQUEST)]
    assert (reply.text, reply.model, reply.finish_reason) == ("said say it", "m", "stop")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (2, 3)


def test_settings_become_the_parameters_of_a_request() -> None:
    settings = LlmSettings(
        model="x",
        temperature=0.5,
        top_p=0.8,
        seed=3,
        max_tokens=11,
        max_tokens_field="max_completion_tokens",
        structured="off",
        extra={"k": 1},
    )
    assert parameters_of(settings) == ChatParameters(
        "x", 0.5, 0.8, 3, 11, "max_completion_tokens", "off", {"k": 1}
    )


@pytest.mark.parametrize("fault", [refused(429), refused(500), refused(503), DROPPED])
def test_passing_faults_are_tried_again_with_growing_pauses(
    provider: Provider, no_pauses: list[float], fault: Any
) -> None:
    provider.fail(ROUTE, fault, fault)
    assert model(provider).complete(REQUEST).text == "said say it"
    assert provider.calls == [ROUTE] * 3
    assert len(no_pauses) == 2
    assert 0 < no_pauses[0] < no_pauses[1]


def test_the_server_may_say_when(provider: Provider, no_pauses: list[float]) -> None:
    provider.fail(ROUTE, refused(429, retry_after_s=3.0))
    model(provider).complete(REQUEST)
    assert no_pauses == [pytest.approx(3.0, rel=0.3)]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (refused(429), r"127\.0\.0\.1: status 429, tried 3 times: .*told to answer 429"),
        (refused(500), r"127\.0\.0\.1: status 500, tried 3 times"),
        (DROPPED, r"127\.0\.0\.1: cannot be reached, tried 3 times; is provider\.base_url right"),
    ],
)
def test_a_fault_that_does_not_pass_ends_after_the_counted_tries(
    provider: Provider, fault: Any, message: str
) -> None:
    provider.fail(ROUTE, *[fault] * 9)
    with pytest.raises(ModelError, match=message):
        model(provider).complete(REQUEST)
    assert len(provider.calls) == 3


def test_a_time_out_is_tried_again_and_named(provider: Provider) -> None:
    provider.fail(ROUTE, HANG)
    assert model(provider, timeout_s=0.3).complete(REQUEST).text == "said say it"
    provider.fail(ROUTE, HANG, HANG)
    with pytest.raises(ModelError, match=r"no reply within 0\.3 s, tried 2 times"):
        model(provider, timeout_s=0.3, retries=1).complete(REQUEST)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_other_refusals_are_not_tried_again(provider: Provider, status: int) -> None:
    provider.fail(ROUTE, refused(status))
    with pytest.raises(ModelError, match=f"status {status}: .*told to answer {status}"):
        model(provider).complete(REQUEST)
    assert len(provider.calls) == 1


def test_a_reply_that_is_no_json_or_no_completion(provider: Provider) -> None:
    provider.fail(ROUTE, *[CUT] * 3)
    with pytest.raises(ModelError, match="status 503, tried 3 times: .*is not JSON, or not whole"):
        model(provider).complete(REQUEST)
    provider.reply = lambda _: {"object": "list"}
    with pytest.raises(ModelError, match="not a chat completion"):
        model(provider).complete(REQUEST)


def test_no_more_calls_at_once_than_allowed(provider: Provider) -> None:
    running, most, lock = 0, 0, threading.Lock()

    class Counting:
        """Stands before the client, where calls are under way."""

        def __init__(self, client: Any) -> None:
            self.api_key = client.api_key
            self._client = client

        def post(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.02)
            try:
                return self._client.post(*args, **kwargs)
            finally:
                with lock:
                    running -= 1

    served: Any = model(provider, concurrency=3)
    served._client = Counting(served._client)
    assert len(list(in_order(served.complete, [REQUEST] * 12, workers=12))) == 12
    assert most == 3


def test_the_key_goes_to_the_server_and_nowhere_else(
    provider: Provider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"api_key": KEY, "retries": 0, "cache": True, "cache_folder": tmp_path}
    with caplog.at_level(logging.DEBUG):
        model(provider, **settings).complete(REQUEST)
        provider.reply = lambda body: {"error": f"the key {KEY} is bad"}
        provider.fail(ROUTE, refused(401))
        with pytest.raises(ModelError) as refusal:
            model(provider, **settings, base_url=provider.url + "/").complete(REQUEST)
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*.json")).decode()
    shown = [str(refusal.value), repr(settings | {"api_key": ""}), kept, caplog.text]
    assert kept
    assert all(KEY not in text for text in shown)
    assert KEY not in repr(ProviderSettings(api_key=KEY, base_url="http://x"))


def test_a_server_that_repeats_the_key_is_not_repeated(provider: Provider) -> None:

    settings = ProviderSettings(base_url=provider.url, api_key=KEY)

    request = httpx.Request("POST", provider.url)
    told = openai.AuthenticationError(
        f"Incorrect API key\nprovided: {KEY}",
        response=httpx.Response(401, request=request),
        body=None,
    )
    with (
        pytest.raises(ModelError, match=r"status 401: Incorrect API key provided: \*\*\*$"),
        client_errors(settings, secret=KEY),
    ):
        raise told


def test_openais_own_key_goes_to_openai_alone(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model(provider).complete(REQUEST)
    assert provider.headers[0]["authorization"] == "Bearer none"
    official: Any = load_llm(ProviderSettings())
    assert (official._client.api_key, str(official._client.base_url)) == (KEY, OPENAI_URL + "/")


def test_openai_without_a_key_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="needs a key: set CCRAG_PROVIDER__API_KEY"):
        load_llm(ProviderSettings())


def test_a_kept_reply_is_exact_free_and_marked(provider: Provider, tmp_path: Path) -> None:
    settings = {"cache": True, "cache_folder": tmp_path}
    first = model(provider, **settings).complete(REQUEST)
    provider.reply = lambda _: "something else"
    again = model(provider, **settings).complete(REQUEST)
    assert (again.text, again.usage, again.model) == (first.text, first.usage, first.model)
    assert (first.cached, again.cached) == (False, True)
    assert len(provider.chats) == 1


def test_another_request_server_or_no_cache_asks(provider: Provider, tmp_path: Path) -> None:
    settings = {"cache": True, "cache_folder": tmp_path}
    model(provider, **settings).complete(REQUEST)
    other = ChatRequest((ChatMessage("user", "say more"),), REQUEST.parameters)
    model(provider, **settings).complete(other)
    model(provider, **settings, base_url=provider.url + "/").complete(REQUEST)
    model(provider).complete(REQUEST)
    assert len(provider.chats) == 4


def test_a_failed_call_keeps_nothing(provider: Provider, tmp_path: Path) -> None:
    provider.fail(ROUTE, refused(400))
    llm = model(provider, cache=True, cache_folder=tmp_path)
    with pytest.raises(ModelError):
        llm.complete(REQUEST)
    assert llm.complete(REQUEST).cached is False


def test_a_damaged_kept_reply_says_what_to_do(provider: Provider, tmp_path: Path) -> None:
    llm = model(provider, cache=True, cache_folder=tmp_path)
    llm.complete(REQUEST)
    [path] = tmp_path.rglob("*.json")
    path.write_text('{"reply": {', encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read: .*delete it"):
        llm.complete(REQUEST)


def test_a_cache_that_cannot_be_written(provider: Provider, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match=r"set provider\.cache_folder"):
        model(provider, cache=True, cache_folder=blocked / "below").complete(REQUEST)


BUSY: dict[str, Any] = {"error": {"code": 429, "message": f"slow down, {KEY}"}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (BUSY, r"status 429, tried 3 times: sent as 200: slow down, \*\*\*$"),
        ({"choices": None}, "status 503, tried 3 times: sent as 200: a reply without choices"),
        ({"choices": [{"message": None}]}, "status 503, .*a reply without a message"),
    ],
)
def test_an_error_in_a_body_of_status_200_is_tried_again(
    provider: Provider, no_pauses: list[float], body: dict[str, Any], message: str
) -> None:
    replies: list[str | dict[str, Any]] = [body, body, "said it"]
    provider.reply = lambda _: replies.pop(0)
    assert model(provider, api_key=KEY).complete(REQUEST).text == "said it"
    assert len(no_pauses) == 2
    provider.reply = lambda _: body
    with pytest.raises(ModelError, match=message):
        model(provider, api_key=KEY).complete(REQUEST)
    assert len(provider.calls) == 6


def test_an_error_in_a_body_that_does_not_pass_is_told_at_once(provider: Provider) -> None:
    provider.reply = lambda _: {"error": {"code": "invalid_api_key", "message": f"{KEY} is bad"}}
    with pytest.raises(ModelError, match=r"status 401: sent as 200: \*\*\* is bad$"):
        model(provider, api_key=KEY).complete(REQUEST)
    long = "x" * 100 + KEY  # cut in the middle of the key, where it is shown
    provider.reply = lambda _: {"object": long}
    with pytest.raises(ModelError, match="not a chat completion") as refusal:
        model(provider, api_key=KEY).complete(REQUEST)
    assert KEY[:8] not in str(refusal.value)
    assert len(provider.calls) == 2


BAD = {
    "empty": "",
    "cut": '{"a": 1',
    "prose": "no",
    "thinking": '<think>{"a": 1}',
    "good": '{"a": 1}',
}
ASKED = ChatRequest(
    REQUEST.messages, REQUEST.parameters, readable=lambda text: find_json(text) is not None
)


@pytest.mark.parametrize("kind", BAD)
def test_only_a_reply_that_can_be_used_is_kept(
    provider: Provider, tmp_path: Path, kind: str
) -> None:
    provider.reply = lambda _: BAD[kind]
    llm = model(provider, cache=True, cache_folder=tmp_path)
    assert [llm.complete(ASKED).cached for _ in range(2)] == [False, kind == "good"]


def test_a_reply_kept_before_that_cannot_be_used_is_asked_again(
    provider: Provider, tmp_path: Path
) -> None:
    cache = ReplyCache(tmp_path, server=provider.url)
    cache.keep(ASKED, ChatReply('{"a": 1}', "m", None, "length"))
    provider.reply = lambda _: '{"a": 2}'
    llm = model(provider, cache=True, cache_folder=tmp_path)
    assert [llm.complete(ASKED).text for _ in range(2)] == ['{"a": 2}'] * 2
    assert len(provider.chats) == 1
