"""`ccrag pipelines`: list the named pipelines, or print one in full."""

from typing import Annotated

import typer

from ccrag.cli.errors import user_errors
from ccrag.cli.options import Overrides


def pipelines(
    name: Annotated[str | None, typer.Argument(help="A pipeline to print in full.")] = None,
    overrides: Overrides = None,
) -> None:
    """
    List the named pipelines, or print every setting of one as TOML.

    Example: ccrag pipelines rrf-no-rerank > mine.toml
    """
    from ccrag.layers import load_settings, pipeline_names
    from ccrag.toml import pipeline_toml

    with user_errors():
        if name is not None:
            typer.echo(pipeline_toml(load_settings(name, overrides or [])), nl=False)
            return
        for known in pipeline_names():
            typer.echo(f"{known:22} {load_settings(known).summary}")
