"""Progress on stderr while something takes long; silent when stderr is not a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class ProgressCallback(Protocol):
    """Takes the number done so far, and of how many if that was not known before."""

    def __call__(self, done: int, total: int | None = None) -> None: ...


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[ProgressCallback]:
    """A bar named `what` with its rate and the time that remains, once a total is known."""
    if not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """The number done in a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.1f}/s")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)

        def on_progress(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total or progress.tasks[0].total)

        yield on_progress


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A sign of life named `what`, where there is no telling how long it takes."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
