"""`ccrag pipelines`: list the named pipelines, or print one in full."""

from typing import Annotated

import typer

from ccrag.cli.errors import user_errors
from ccrag.cli.options import OverridesOption
from ccrag.errors import ConfigError


def pipelines(
    name: Annotated[str | None, typer.Argument(help="A pipeline to print in full.")] = None,
    overrides: OverridesOption = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Print only what differs from the defaults.")
    ] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print the page of all settings, as Markdown.")
    ] = False,
) -> None:
    """
    List the named pipelines, or print one as TOML: every setting, with its meaning as a comment.

    Example: ccrag pipelines rrf-no-rerank > mine.toml
    """
    from ccrag.config.load import load_settings, pipeline_names
    from ccrag.config.reference import pipeline_toml, settings_page

    with user_errors():
        if settings:
            if name is not None or overrides or changed:
                raise ConfigError("--settings prints defaults alone; leave out all else")
            typer.echo(settings_page(), nl=False)
        elif name is not None:
            chosen = load_settings(name, overrides or [])
            typer.echo(pipeline_toml(chosen, changed=changed), nl=False)
        elif changed:
            raise ConfigError("--changed needs a pipeline: ccrag pipelines NAME --changed")
        else:
            for known in pipeline_names():
                typer.echo(f"{known:22} {load_settings(known).summary}")
