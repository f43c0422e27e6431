"""The steps of a batch: what each writes, that it repeats nothing, and that it equals a run."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from filelock import FileLock

from ccrag.batch import answers as batch_answers
from ccrag.batch.folder import open_work
from ccrag.batch.manifest import check_settings, prepared_json, prepared_of, read_manifest
from ccrag.batch.prepare import prepare
from ccrag.batch.status import status
from ccrag.config import Settings
from ccrag.config.load import load_settings
from ccrag.errors import ConfigError, InputError, ModelError
from ccrag.llm.batch_client import open_provider
from ccrag.llm.client import load_llm
from ccrag.llm.prompts import Prompt
from ccrag.llm.request import body_digest
from tests.provider import Ending, Provider, refused, serving
from tests.unit.batches import (
    answers,
    asked_at_once,
    collected,
    pipeline,
    prepared,
    queries,
    quote,
    reply,
    settings_for,
    submitted,
)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(quote) as provider:
        yield provider


@pytest.fixture
def settings(provider: Provider) -> Settings:
    return settings_for(provider)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def requests(work: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (work / "requests.jsonl").read_bytes().splitlines()]


def forgetful(body: dict[str, Any]) -> str:
    """Replies of every kind: good, declining, cut off, without evidence at first or always."""
    asked = body["messages"][1]["content"]
    again = len(body["messages"]) > 2
    if "dam 1 " in asked:
        return '{"answerable": false, "sentences": []}'
    if "dam 2 " in asked:
        return quote(body) if again else reply("It was finished.", "e9")
    if "dam 3 " in asked:
        return reply("It was finished in a year.", True, ["e1"], -1)
    if "dam 4 " in asked:
        return quote(body)[:-3]
    return quote(body)


def test_both_routes_give_the_same_files_for_the_same_replies(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.reply = forgetful
    at_once = work.parent / "at-once"
    asked_at_once(queries(6), at_once, settings, load_llm(settings.provider))
    prepared(work, settings, 6)
    for _ in range(3):
        submitted(work, settings)
        missings = collected(work, settings).missing
    [missing] = missings
    assert str(missing.error).startswith("the model's reply cannot be used: it is not one whole")
    run = work.parent / "run"
    for name in ("responses.jsonl", "run.trec", "ir-metadata.yml"):
        assert (run / name).read_bytes() == (at_once / name).read_bytes()
    assert answers(run)["q1"] == ["The given documents do not answer this question."]
    one, other = (orjson.loads((out / "provenance.json").read_bytes()) for out in (run, at_once))
    for provenance in (one, other):
        for query in provenance["queries"]:
            del query["seconds"]
    assert one == other
    assert len(one["queries"][1]["calls"]) == 2
    batched = provider.batches.requested()
    assert {body_digest(body) for body in provider.chats} == set(batched)
    assert max(map(batched.count, batched)) == 2  # what cannot be used is sent again


def test_each_sentence_is_held_against_its_evidence_once(work: Path, provider: Provider) -> None:
    told = settings_for(provider)
    settings = told.model_copy(
        update={"answer": told.answer.model_copy(update={"unsupported": "drop"})}
    )
    prepared(work, settings, 3)
    submitted(work, settings)
    held: list[str] = []

    def support(_: str, sentence: str) -> float:
        held.append(sentence)
        return 0.0 if "d2" in sentence else 1.0

    assert not collected(work, settings, support=support).missing
    assert len(held) == 3
    assert answers(work.parent / "run")["q2"] == [settings.answer.abstention]


def test_the_same_question_on_the_same_evidence_is_asked_once(
    work: Path, settings: Settings, provider: Provider
) -> None:
    twice = [queries(1)[0], replace(queries(1)[0], query_id="twin")]
    report = prepare(pipeline(), twice, work, settings)
    assert (report.prepared, report.requests) == (2, 1)
    submitted(work, settings)
    assert not collected(work, settings).missing
    assert answers(work.parent / "run")["q1"] == answers(work.parent / "run")["twin"]


def test_without_evidence_nothing_is_asked(
    work: Path, settings: Settings, provider: Provider
) -> None:
    report = prepared(work, settings, 2, weak=["q1", "q2"])
    assert report.requests == 0
    assert submitted(work, settings).sent == ()
    assert not collected(work, settings).missing
    assert answers(work.parent / "run")["q1"] == [
        "The given documents do not answer this question."
    ]
    assert "POST /batches" not in provider.calls


def test_requests_are_what_a_provider_wants(work: Path, settings: Settings) -> None:
    prepared(work, settings, 2)
    request = requests(work)[0]
    assert request.keys() == {"custom_id", "method", "url", "body"}
    assert (request["method"], request["url"]) == ("POST", "/v1/chat/completions")
    assert request["body"]["model"] == "quoter"
    assert len(request["custom_id"]) == 32


def test_the_manifest_tells_no_secret(work: Path, settings: Settings) -> None:
    secret = {"api_key": "sk-secret", "base_url": "https://user:pass@models.test:8443/v1"}
    told = Settings.model_validate({**settings.model_dump(), "provider": secret})
    prepared(work, told, 1)
    content = (work / "manifest.json").read_text(encoding="utf-8")
    assert "sk-secret" not in content
    assert "pass" not in content.replace("passage", "")
    assert read_manifest(work).settings["provider"]["base_url"] == "https://models.test:8443/v1"


def test_a_prepared_query_survives_the_disk_exactly(work: Path, settings: Settings) -> None:
    prepared(work, settings, 1)
    with open_work(work) as opened:
        [(_, query)] = opened.queries()
    assert prepared_of(orjson.loads(orjson.dumps(prepared_json(query)))) == query
    assert query.result.answer.evidence[0].score == 1 / 3
    assert "d1" in query.result.query.candidates


def test_preparing_again_changes_nothing_and_another_batch_is_refused(
    work: Path, settings: Settings
) -> None:
    prepared(work, settings, 3)
    before = (work / "requests.jsonl").read_bytes()
    again = prepared(work, settings, 3)
    assert (again.prepared, again.resumed, again.requests) == (3, 3, 3)
    assert (work / "requests.jsonl").read_bytes() == before
    with pytest.raises(InputError, match="a batch with other settings, queries, prompt or index"):
        prepared(work, settings, 2)
    report = prepare(pipeline(), queries(2), work, settings, overwrite=True)
    assert (report.resumed, report.requests) == (0, 2)


def test_what_is_under_way_is_not_overwritten(work: Path, settings: Settings) -> None:
    prepared(work, settings, 3)
    submitted(work, settings)
    with pytest.raises(InputError, match="batch_1 is under way and would be lost"):
        prepare(pipeline(), queries(2), work, settings, overwrite=True)
    collected(work, settings)
    assert prepare(pipeline(), queries(2), work, settings, overwrite=True).requests == 2


def test_extractive_answers_need_no_batch(work: Path) -> None:
    with pytest.raises(ConfigError, match="--set answer.generator=llm"):
        prepared(work, Settings(), 1)


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        ({"max_requests": 2}, [2, 2, 1]),
        ({"max_bytes": 5_000}, [2, 2, 1]),
        ({}, [5]),
    ],
)
def test_requests_are_split_at_the_providers_limits(
    work: Path, provider: Provider, limits: dict[str, int], sizes: list[int]
) -> None:
    settings = settings_for(provider, **limits)
    prepared(work, settings, 5)
    assert [len(part.custom_ids) for part in submitted(work, settings).sent] == sizes
    for batch in provider.batches.objects.values():
        assert batch["endpoint"] == "/v1/chat/completions"
        assert provider.files.objects[batch["input_file_id"]]["bytes"] <= settings.batch.max_bytes
    assert not collected(work, settings).missing


def test_a_request_larger_than_the_limit_is_named(work: Path, provider: Provider) -> None:
    settings = settings_for(provider, max_bytes=1_000)
    prepared(work, settings, 1)
    with pytest.raises(InputError, match="bytes, more than batch.max_bytes=1000"):
        submitted(work, settings)


def test_submitting_twice_or_from_another_folder_sends_nothing_twice(
    work: Path, settings: Settings, provider: Provider
) -> None:
    other = work.parent / "other"
    for folder in (work, other):
        prepared(folder, settings, 3)
    submitted(work, settings)
    assert submitted(work, settings).sent == ()
    assert submitted(other, settings).found == ("batch_1",)
    assert len(provider.batches.objects) == 1
    assert not collected(work, settings).missing
    assert not collected(other, settings).missing


def test_what_was_planned_together_travels_together_whatever_the_limits_say_later(
    work: Path, provider: Provider
) -> None:
    narrow, wide = settings_for(provider, max_requests=2), settings_for(provider)
    prepared(work, narrow, 5)
    provider.fail("POST /files", refused(400))
    with pytest.raises(ModelError, match="status 400"):
        submitted(work, narrow)
    assert [len(part.custom_ids) for part in submitted(work, wide).sent] == [2, 2, 1]
    assert len(set(provider.batches.requested())) == len(provider.batches.requested()) == 5


def test_status_asks_and_changes_nothing(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.batches.endings.append(Ending("expired", done=1, polls=1))
    prepared(work, settings, 3)

    def look() -> tuple[int, list[str], list[int]]:
        with open_work(work) as opened, open_provider(settings.provider) as asking:
            found = status(opened, asking)
        states = [batch.status for _, batch in found.under_way]
        return found.to_submit, states, [part.kept for part in found.collected]

    assert look() == (3, [], [])
    submitted(work, settings)
    assert look() == (0, ["in_progress"], [])
    assert look() == (0, ["expired"], [])
    collected(work, settings)
    assert look() == (2, [], [1])


def test_one_command_at_a_time_works_in_a_folder(work: Path, settings: Settings) -> None:
    prepared(work, settings, 1)
    with FileLock(work / "lock"), pytest.raises(InputError, match="another command works here"):
        submitted(work, settings)


def test_nothing_prepared_names_the_command(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(InputError, match="run: ccrag batch prepare"):
        submitted(tmp_path / "nowhere", settings)


def test_a_changed_requests_file_is_refused(work: Path, settings: Settings) -> None:
    prepared(work, settings, 2)
    path = work / "requests.jsonl"
    path.write_bytes(path.read_bytes().replace(b"dam 2 ", b"dam 7 "))
    with pytest.raises(InputError, match="requests.jsonl:2: not as it was written"):
        submitted(work, settings)
    path.unlink()
    with pytest.raises(InputError, match="ccrag batch prepare"):
        submitted(work, settings)
    prepared(work, settings, 2)
    assert len(submitted(work, settings).sent) == 1


def test_what_was_settled_cannot_be_changed_later(
    work: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(work, settings, 1)
    manifest = read_manifest(work)
    later = load_settings(manifest.settings, ["provider.timeout_s=9", "batch.max_requests=3"])
    check_settings(manifest, later)
    assert (later.provider.timeout_s, later.batch.max_requests) == (9, 3)
    assert later.provider.base_url == settings.provider.base_url
    monkeypatch.setenv("CCRAG_ANSWER__MAX_WORDS", "20")
    with pytest.raises(ConfigError, match="settings of answer were settled"):
        check_settings(manifest, load_settings(manifest.settings))


def test_the_prompt_is_kept_and_another_way_of_asking_is_not_taken_for_it(
    work: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = tmp_path / "own.md"
    prompt.write_text(
        "version: 3\n--- system\nQuote.\n--- user\n{{ evidence[0] }}\n{{ question }}\n"
    )
    own = settings.model_copy(
        update={"answer": settings.answer.model_copy(update={"prompt": str(prompt)})}
    )
    prepared(work, own, 1)
    prompt.unlink()
    submitted(work, own)
    monkeypatch.setattr(Prompt, "messages", lambda *_, **__: ())
    with pytest.raises(InputError, match="prepared by a version of ccrag that asks another way"):
        collected(work, own)
    monkeypatch.undo()
    assert not collected(work, own).missing


def test_a_request_is_known_by_its_content(work: Path, settings: Settings) -> None:
    prepared(work, settings, 1)
    with open_work(work) as opened:
        [(_, query)] = opened.queries()
        found = batch_answers.answer(query, _generation(settings), opened.reply)
    assert isinstance(found, batch_answers.PendingRequest)
    assert found.request.digest == query.custom_id == requests(work)[0]["custom_id"]


def _generation(settings: Settings) -> Any:
    from ccrag.pipeline.answering import generation_of

    return generation_of(settings)
