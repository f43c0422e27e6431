"""`ccrag validate`: check a submission before the organisers do."""

from pathlib import Path
from typing import Annotated

import typer

from ccrag.cli.errors import show_problems, user_errors
from ccrag.cli.options import VerboseOption
from ccrag.formats import Format


def validate_command(
    path: Annotated[Path, typer.Argument(help="The answers' file, or the run's folder.")],
    format_: Annotated[Format, typer.Option("--format", help="The shared task.")],
    queries: Annotated[
        Path, typer.Option(help="What was asked: queries, topics (TREC RAG) or tasks (MTRAGEval).")
    ],
    depth: Annotated[
        int | None, typer.Option(min=1, help="Lines run.trec may have per query.")
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """
    List everything that is wrong with a submission; exit 1 when there is anything.

    One line a kind of fault, with a count and three places; --verbose lists every place.

    Example: ccrag validate out --format longeval --queries queries.jsonl
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.evaluation.validate import validate

    with user_errors():
        asked = read_queries(queries, whole_index=False) if format_ is Format.LONGEVAL else queries
        problems = validate(path, format=format_, queries=asked, depth=depth)
    show_problems(problems, verbose=verbose)
    if problems:
        typer.echo(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}", err=True)
        raise typer.Exit(1)
    typer.echo(f"{path}: valid {format_.value}")
