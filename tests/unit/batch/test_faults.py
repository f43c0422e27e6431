"""
Every way a batch can go wrong: what is kept, what is said, and that the next commands finish.

Each test ends with a complete run whose requests were answered once each.
"""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccrag.batch.collect import CollectReport
from ccrag.config import Settings
from ccrag.errors import ConfigError, InputError, ModelError
from tests.provider import CUT, DROPPED, HANG, Ending, Lines, Provider, refused, serving
from tests.unit.batches import (
    answers,
    collected,
    prepared,
    queries,
    quote,
    reply,
    settings_for,
    submitted,
)

COUNT = 5


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(quote) as provider:
        yield provider


@pytest.fixture
def settings(provider: Provider) -> Settings:
    return settings_for(provider)


@pytest.fixture
def work(tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "work"
    prepared(folder, settings, COUNT)
    return folder


def missing(report: CollectReport) -> dict[str, str]:
    return {failure.query_id: str(failure.error) for failure in report.missing}


def assert_complete(work: Path, report: CollectReport, provider: Provider) -> None:
    """Every query has its own answer, and no reply was paid for twice."""
    assert not report.missing
    assert answers(work.parent / "run") == {
        asked.query_id: [f"The dam d{n} was finished in 19d{n}."]
        for n, asked in enumerate(queries(report.queries), start=1)
    }
    done = [
        line
        for batch in provider.batches.objects.values()
        if batch["output_file_id"]
        for line in set(provider.files.contents[batch["output_file_id"]].splitlines())
    ]
    assert max(Counter(done).values()) == 1


def finish(work: Path, settings: Settings) -> CollectReport:
    submitted(work, settings)
    return collected(work, settings)


def test_a_batch_that_completes_answers_every_query(
    work: Path, settings: Settings, provider: Provider
) -> None:
    report = finish(work, settings)
    assert report.ended[0].kept == COUNT
    assert report.written.answered == COUNT
    assert_complete(work, report, provider)


def test_what_is_under_way_is_said_and_waited_for(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.batches.endings.append(Ending(polls=1))
    early = finish(work, settings)
    assert missing(early)["q1"] == "batch_1 is under way"
    assert early.to_submit == 0
    assert not (work.parent / "run").exists()
    assert submitted(work, settings).sent == ()
    assert_complete(work, collected(work, settings), provider)


@pytest.mark.parametrize("status", ["expired", "cancelled", "failed"])
def test_what_was_done_before_a_batch_ended_is_kept(
    work: Path, settings: Settings, provider: Provider, status: Any
) -> None:
    provider.batches.endings.append(Ending(status, done=3))
    report = finish(work, settings)
    assert list(answers(work.parent / "run")) == ["q1", "q2", "q3"]
    told = f"batch_{status}: the batch {status}"
    assert missing(report) == {f"q{n}": f"no reply from batch_1 ({status}): {told}" for n in (4, 5)}
    assert report.to_submit == 2
    assert_complete(work, finish(work, settings), provider)
    assert len(provider.batches.requested()) == COUNT + 2


def test_a_batch_that_failed_as_a_whole_is_made_again(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.batches.endings.append(Ending("failed", done=0, told=False))
    report = finish(work, settings)
    assert missing(report)["q2"] == (
        "no reply from batch_1 (failed): token_limit_exceeded: too many tokens"
    )
    assert report.ended[0].problems == ("token_limit_exceeded: too many tokens",)
    assert_complete(work, finish(work, settings), provider)


def test_completed_with_errors_alone_has_no_output_file(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.batches.endings.append(Ending(refuse=tuple(range(COUNT))))
    report = finish(work, settings)
    assert report.ended[0].kept == 0
    assert (
        missing(report)["q5"] == "no reply from batch_1 (completed): status 400: refused, as told"
    )
    assert_complete(work, finish(work, settings), provider)


def shuffled(lines: Lines) -> Lines:
    return random.Random(7).sample(lines, len(lines))


def doubled(lines: Lines) -> Lines:
    return [*lines, lines[0], lines[1].replace(b"finished in", b"never finished in")]


def with_unknown(lines: Lines) -> Lines:
    unknown = lines[0].replace(b'"custom_id": "', b'"custom_id": "not-')
    return [unknown, b'{"custom_id": 7}', b"[]", *lines]


def cut_off(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1][:40]]


def short(lines: Lines) -> Lines:
    return lines[1:]


def not_completions(lines: Lines) -> Lines:
    broken = lines[0].split(b'"choices"')[0] + b'"choices": []}}, "error": null}'
    return [broken, *lines[1:]]


@pytest.mark.parametrize(
    ("edit", "said", "lost"),
    [
        (shuffled, [], {}),
        (doubled, ["is repeated", "is repeated and differs; the first counts"], {}),
        (
            with_unknown,
            ["was not asked", "custom_id 7 was not asked", "line 3 is no whole JSON object: []"],
            {},
        ),
        (cut_off, ["line 5 is no whole JSON object: {"], {"q5": "no line for it"}),
        (short, [], {"q1": "no line for it"}),
        (not_completions, [], {"q1": "a reply without choices"}),
    ],
)
def test_odd_output_files_lose_nothing_but_what_they_lack(
    work: Path,
    settings: Settings,
    provider: Provider,
    edit: Any,
    said: list[str],
    lost: dict[str, str],
) -> None:
    provider.batches.endings.append(Ending(edit=edit))
    report = finish(work, settings)
    problems = report.ended[0].problems
    assert len(problems) == len(said)
    for words, problem in zip(said, problems, strict=True):
        assert words in problem
    assert missing(report).keys() == lost.keys()
    for query_id, reason in lost.items():
        assert f"no reply from batch_1 (completed): {reason}" in missing(report)[query_id]
    assert len(answers(work.parent / "run")) == COUNT - len(lost)
    report = finish(work, settings)
    assert not report.missing
    assert len(provider.batches.requested()) == COUNT + len(lost)


@pytest.mark.parametrize("fault", [refused(429), refused(500), DROPPED, CUT, HANG])
@pytest.mark.parametrize(
    "route",
    [
        "GET /batches",
        "GET /files",
        "POST /files",
        "POST /batches",
        "GET /batches/*",
        "GET /files/*/content",
    ],
)
def test_a_call_that_goes_wrong_once_makes_no_second_batch(
    work: Path, provider: Provider, fault: Any, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.llm.batch_client.FIRST_PAUSE_S", 0.01)
    settings = settings_for(provider)
    hasty = settings.provider.model_copy(update={"timeout_s": 0.4})
    settings = settings.model_copy(update={"provider": hasty})
    provider.fail(route, fault)
    try:
        report = finish(work, settings)
    except ModelError:
        report = finish(work, settings)
    if report.missing:  # a download that was cut: what it lacks is asked again
        assert fault is CUT
        assert route == "GET /files/*/content"
        assert finish(work, settings).missing == ()
        return
    assert_complete(work, report, provider)
    assert len(provider.batches.objects) == 1


def test_a_provider_that_stays_down_is_one_line_and_the_same_command_goes_on(
    work: Path, settings: Settings, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.llm.batch_client.FIRST_PAUSE_S", 0.01)
    provider.fail("POST /batches", *[refused(503)] * 2)
    with pytest.raises(ModelError, match="status 503, tried 2 times"):
        submitted(work, settings)
    assert_complete(work, finish(work, settings), provider)


def test_a_refusal_is_not_tried_again(work: Path, settings: Settings, provider: Provider) -> None:
    provider.fail("POST /batches", refused(400))
    with pytest.raises(ModelError, match="status 400: told to answer 400"):
        submitted(work, settings)
    assert provider.calls.count("POST /batches") == 1
    assert_complete(work, finish(work, settings), provider)
    assert len(provider.files.objects) == 2  # the upload was found again; and the output


def test_a_batch_the_provider_lost_can_be_given_up(
    work: Path, settings: Settings, provider: Provider
) -> None:
    submitted(work, settings)
    lost = provider.batches.objects.pop("batch_1")
    with pytest.raises(ModelError, match="no batch_1 .should batch_1 be gone for good, --forget"):
        collected(work, settings)
    with pytest.raises(InputError, match="batch_9 is not under way; of this folder, batch_1 are"):
        collected(work, settings, forget=("batch_9",))
    report = collected(work, settings, forget=("batch_1",))
    assert missing(report)["q1"] == "no reply from batch_1 (forgotten): given up"
    provider.batches.objects["batch_0"] = lost | {"id": "batch_0"}
    report = finish(work, settings)
    assert not report.missing


def test_one_request_can_fail_for_ever_and_the_others_stand(
    work: Path, settings: Settings, provider: Provider
) -> None:
    provider.batches.endings += [Ending(refuse=(2,)), Ending(refuse=(0,)), Ending(refuse=(0,))]
    for round_ in (1, 2, 3):
        report = finish(work, settings)
        assert missing(report) == {
            "q3": f"no reply from batch_{round_} (completed): status 400: refused, as told"
        }
    assert len(answers(work.parent / "run")) == COUNT - 1


def test_a_sentence_without_evidence_is_asked_again_in_another_round(
    work: Path, settings: Settings, provider: Provider
) -> None:
    def careless(body: dict[str, Any]) -> str:
        again = len(body["messages"]) > 2
        second = "dam 2 " in body["messages"][1]["content"]
        return reply("It was finished.", "e9") if second and not again else quote(body)

    provider.reply = careless
    report = finish(work, settings)
    assert missing(report) == {"q2": "its reply cannot be used as it is; a second request waits"}
    assert report.to_submit == 1
    assert_complete(work, finish(work, settings), provider)
    [again] = provider.batches.requests_of("batch_2")
    assert "'e9' was not shown" in again["body"]["messages"][-1]["content"]


def test_batches_are_looked_for_only_where_they_were_sent(
    work: Path, settings: Settings, provider: Provider
) -> None:
    submitted(work, settings)
    with serving(quote) as other, pytest.raises(ConfigError, match="batch_1 was sent to 127.0.0.1"):
        collected(work, settings_for(other))
    assert_complete(work, collected(work, settings), provider)


def test_what_could_not_be_prepared_is_missing_with_the_reason(
    tmp_path: Path, settings: Settings, provider: Provider
) -> None:
    folder = tmp_path / "work"
    report = prepared(folder, settings, 2, failing=["q2"])
    assert (report.prepared, len(report.failures)) == (1, 1)
    assert missing(finish(folder, settings)) == {"q2": "query q2: told to fail"}
    again = prepared(folder, settings, 2)
    assert (again.prepared, again.resumed, again.requests) == (2, 1, 1)
    assert_complete(folder, finish(folder, settings), provider)
