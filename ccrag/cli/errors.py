"""End a command on an error that the user can mend: one line on stderr, exit code 1."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ccrag.errors import CcragError, InputError, InvariantError
from ccrag.runs.causes import Trouble, cause_lines

if TYPE_CHECKING:
    from ccrag.evaluation.validate import Problem
    from ccrag.pipeline.state import Failure


def notify(message: str) -> None:
    """Say on stderr what takes a while."""
    typer.echo(message, err=True)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn our errors into one line and exit code 1; a bug of ours keeps its traceback."""
    try:
        yield
    except InvariantError:
        raise
    except CcragError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


def show_failures(
    failures: "Iterable[Failure]", *, what: str = "failed", verbose: bool = False
) -> None:
    """Say on stderr which queries got no answer, one line a cause; one a query with `verbose`."""
    troubles = [Trouble(f.query_id, str(f.error), type(f.error).__name__) for f in failures]
    for line in cause_lines(troubles, noun="queries", verbose=verbose):
        typer.echo(f"{what}: {line}", err=True)


def show_problems(problems: "Iterable[Problem]", *, verbose: bool = False) -> None:
    """Say on stderr what is wrong with files, one line a kind; one a place with `verbose`."""
    troubles = [Trouble(problem.place, problem.message) for problem in problems]
    for line in cause_lines(troubles, noun="places", verbose=verbose):
        typer.echo(line, err=True)


def check_room(path: Path | None, *, overwrite: bool) -> None:
    """
    Let no command write over a file that lies there already.

    Raises:
        InputError: it does, and `overwrite` was not given.
    """
    if path is not None and path.exists() and not overwrite:
        raise InputError(
            "exists already; name another file, or --overwrite to replace it", path=path
        )
