"""
Killed at any moment, the same command again loses nothing and doubles nothing.

Once by enumeration: every write and every call to the provider is a moment, and each of them is the
last one of a command once. Once for real: `kill -9` while the provider's answer is awaited.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from ccrag.batch.collect import collect
from ccrag.batch.folder import open_work
from ccrag.batch.prepare import prepare
from ccrag.batch.submit import submit
from ccrag.config import Settings
from ccrag.llm.batch_client import PART, ProviderBatch
from ccrag.runs.journal import Journal
from tests.provider import HANG_AFTER, Ending, Provider, serving
from tests.unit.batches import answers, pipeline, prepared, queries, quote, settings_for

COUNT = 3
SETTINGS = settings_for(None, max_requests=2)
PATIENCE_S = 120.0


class KilledError(BaseException):
    """Nothing catches it, as nothing catches a kill."""


class Moments:
    """Counts what a command does; at number `last` it ends."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.passed = 0

    def tick(self) -> None:
        if self.passed == self.last:
            raise KilledError
        self.passed += 1

    def around(self, does: Callable[..., Any]) -> Callable[..., Any]:
        """`does`, with a moment before and one after it."""

        def watched(*args: Any, **options: Any) -> Any:
            self.tick()
            done = does(*args, **options)
            self.tick()
            return done

        return watched

    def half_written(self, journal: Journal, entry: dict[str, Any]) -> None:
        """A moment when half an entry is on disk."""
        line = orjson.dumps(entry)
        try:
            self.tick()
        except KilledError:
            journal._file.write(line[: len(line) // 2])
            journal._file.flush()
            raise

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count every file put in place or taken away, and every entry of a journal."""
        append = Journal.append

        def appended(journal: Journal, entry: dict[str, Any]) -> None:
            self.half_written(journal, entry)
            append(journal, entry)
            self.tick()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Journal, "append", appended)
            patch.setattr(Path, "replace", self.around(Path.replace))
            patch.setattr(Path, "unlink", self.around(Path.unlink))
            patch.setattr(os, "fsync", lambda _: None)  # slow, and no matter without power cuts
            yield


class InMemory:
    """A provider without HTTP, every call a moment."""

    server = "memory"

    def __init__(self, provider: Provider, moments: Moments) -> None:
        self._provider = provider
        for name in ("upload", "create", "find", "look", "download"):
            setattr(self, name, moments.around(getattr(self, name)))

    def upload(self, path: Path) -> str:
        files = self._provider.files
        for file in files.objects.values():
            if file["filename"] == path.name:
                return str(file["id"])
        return str(files.keep(path.name, path.read_bytes(), purpose="batch")["id"])

    def create(self, file_id: str, part_id: str) -> ProviderBatch:
        self._provider.batches.create({"input_file_id": file_id, "metadata": {PART: part_id}})
        found = self.find(part_id)
        assert found is not None
        return found

    def find(self, part_id: str) -> ProviderBatch | None:
        for batch in self._provider.batches.objects.values():
            if batch["metadata"][PART] == part_id:
                return _batch(batch)
        return None

    def look(self, batch_id: str) -> ProviderBatch:
        return _batch(self._provider.batches.look(batch_id))

    def download(self, file_id: str, path: Path) -> None:
        path.write_bytes(self._provider.files.contents[file_id])


def _batch(made: dict[str, Any]) -> ProviderBatch:
    return ProviderBatch(
        made["id"],
        made["status"],
        made["metadata"][PART],
        output_file=made["output_file_id"],
        error_file=made["error_file_id"],
    )


class Rounds:
    """The commands of a batch over one folder and one provider."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.out = folder / "run"
        self.provider = Provider(quote)
        self.provider.batches.endings += [Ending("expired", done=1), Ending(refuse=(0,))]

    def prepare(self, moments: Moments) -> None:
        with moments.watching():
            prepare(pipeline(), queries(COUNT), self.work, SETTINGS)

    def submit(self, moments: Moments) -> None:
        with moments.watching(), open_work(self.work) as work:
            submit(work, InMemory(self.provider, moments), SETTINGS.batch)

    def collect(self, moments: Moments) -> int:
        with moments.watching(), open_work(self.work) as work:
            provider = InMemory(self.provider, moments)
            return len(collect(work, provider, self.out, SETTINGS).missing)

    def finish(self) -> None:
        while self.collect(Moments()):
            self.submit(Moments())


STEPS: dict[str, tuple[str, ...]] = {
    "prepare": (),
    "submit": ("prepare",),
    "collect": ("prepare", "submit"),
    "submit again": ("prepare", "submit", "collect"),
}


def run(rounds: Rounds, step: str, moments: Moments) -> None:
    getattr(rounds, step.split()[0])(moments)


@pytest.mark.parametrize("step", STEPS)
def test_every_moment_can_be_the_last(tmp_path: Path, step: str) -> None:
    counted = Moments()
    rounds = Rounds(tmp_path / "counted")
    for before in STEPS[step]:
        run(rounds, before, Moments())
    run(rounds, step, counted)
    assert counted.passed > 9
    for last in range(counted.passed):
        rounds = Rounds(tmp_path / str(last))
        for before in STEPS[step]:
            run(rounds, before, Moments())
        with pytest.raises(KilledError):
            run(rounds, step, Moments(last))
        run(rounds, step, Moments())
        rounds.finish()
        assert len(answers(rounds.out)) == COUNT
        assert len(rounds.provider.batches.requested()) == COUNT + 2, f"killed at moment {last}"
        assert (rounds.out / "responses.jsonl").read_bytes() == (
            (tmp_path / "0" / "run" / "responses.jsonl").read_bytes()
        )


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(quote) as provider:
        yield provider


def start(settings: Settings, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "CCRAG_PROVIDER__BASE_URL": settings.provider.base_url}
    return subprocess.Popen(
        [sys.executable, "-m", "ccrag", "batch", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_during(provider: Provider, route: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while route not in provider.calls:
        assert time.monotonic() < deadline, "never asked"
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.communicate()


@pytest.mark.parametrize(
    ("command", "route"),
    [
        ("submit", "POST /files"),
        ("submit", "POST /batches"),
        ("collect", "GET /batches/*"),
        ("collect", "GET /files/*/content"),
    ],
)
def test_a_killed_command_goes_on(
    tmp_path: Path, provider: Provider, command: str, route: str
) -> None:
    settings = settings_for(provider)
    work, out = tmp_path / "work", tmp_path / "run"
    prepared(work, settings, COUNT)
    commands: dict[str, tuple[object, ...]] = {
        "submit": ("submit", work),
        "collect": ("collect", work, "--out", out),
    }
    provider.fail(route, HANG_AFTER)
    for name, arguments in commands.items():
        if name == command:
            kill_during(provider, route, start(settings, *arguments))
        said, problems = start(settings, *arguments).communicate(timeout=PATIENCE_S)
    assert f"{COUNT} of {COUNT} queries answered" in said, problems
    assert len(provider.batches.objects) == 1
    assert len([f for f in provider.files.objects.values() if f["purpose"] == "batch"]) == 1
