"""`ccrag pipelines`: list the named pipelines, or print one in full."""

from typing import Annotated

import typer

from ccrag.cli.errors import user_errors
from ccrag.cli.options import OverridesOption
from ccrag.errors import ConfigError


def pipelines(
    name: Annotated[str | None, typer.Argument(help="A pipeline to print in full.")] = None,
    overrides: OverridesOption = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print every setting: default and meaning.")
    ] = False,
) -> None:
    """
    List the named pipelines, or print one in full, as TOML.

    Example: ccrag pipelines rrf-no-rerank > mine.toml
    """
    from ccrag.config.load import load_settings, pipeline_names
    from ccrag.config.toml import pipeline_toml

    with user_errors():
        if settings and (name is not None or overrides):
            raise ConfigError("--settings prints defaults alone; leave out the pipeline and --set")
        if settings:
            _print_settings()
            return
        if name is not None:
            typer.echo(pipeline_toml(load_settings(name, overrides or [])), nl=False)
            return
        for known in pipeline_names():
            typer.echo(f"{known:22} {load_settings(known).summary}")


def _print_settings() -> None:
    import orjson

    from ccrag.config.reference import described_settings

    for setting in described_settings():
        default = "unset" if setting.default is None else orjson.dumps(setting.default).decode()
        typer.echo(f"{setting.name} = {default}")
        if setting.meaning:
            typer.echo(f"    {setting.meaning}")
