"""Times of an experiment's runs do not depend on their order: all are warm before the first."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ccrag.config.load import load_settings
from ccrag.experiment import runner
from ccrag.runs.status import RunState


def test_every_pipeline_is_warm_before_the_first_run_is_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[tuple[str, str]] = []

    class Warmed:
        def __init__(self, name: str, settings: Any) -> None:
            self.name, self.settings = name, settings

        def run(self, queries: Sequence[str], *, answering: bool) -> Iterator[None]:
            assert answering
            assert len(queries) == runner.WARM_UP_QUERIES
            events.append(("warm", self.name))
            yield None

    class Models:
        def pipeline(self, settings: Any, _index: object) -> Warmed:
            return Warmed(settings.name, settings)

    def finish(run: Any, pipeline: Warmed, *_: object) -> Any:
        events.append(("run", pipeline.name))
        return run

    monkeypatch.setattr(runner, "Models", Models)
    monkeypatch.setattr(runner, "_finish", finish)
    names = ["single-query-bm25", "lexical", "concat-baseline"]
    states = [RunState.NEW, RunState.NEW, RunState.FINISHED]
    runs: list[Any] = [
        SimpleNamespace(
            planned=SimpleNamespace(name=name, settings=load_settings(name, [])),
            index=None,
            state=state,
        )
        for name, state in zip(names, states, strict=True)
    ]
    monkeypatch.setattr(runner, "FinishedRun", lambda run: run)
    queries: list[Any] = ["q"] * (runner.WARM_UP_QUERIES + 5)
    done = list(runner.finish_runs(runs, queries))
    assert done == runs
    assert events == [("warm", n) for n in names[:2]] + [("run", n) for n in names[:2]]
