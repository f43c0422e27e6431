"""How a command ends when the user can act on it: one line on stderr, exit code 1."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ccrag.errors import CcragError, InvariantError


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
