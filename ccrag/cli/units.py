"""`ccrag units`: linked documents grouped into units, and how that looks."""

from pathlib import Path
from typing import Annotated

import typer

from ccrag.cli.errors import user_errors
from ccrag.cli.index import BadRecordAction
from ccrag.cli.options import OverridesOption, PipelineNameOption, pipeline_settings


def units(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of documents.")],
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the units there, as a grouping file (.jsonl) to edit and use."),
    ] = None,
    on_error: Annotated[
        BadRecordAction, typer.Option(help="Stop at the first bad record, or skip and count them.")
    ] = BadRecordAction.STOP,
) -> None:
    """
    Group linked documents into units and report on them. Needs no index: `ccrag index` stores them.

    Example: ccrag units documents.jsonl --set units.max_tokens=2000 --out units.jsonl
    """
    from ccrag.indexing.unit_report import group_files

    with user_errors():
        settings = pipeline_settings(pipeline, overrides)
        with group_files(paths, settings, on_error=on_error.value) as grouped:
            report = grouped.report(out)
        for line in grouped.loaded.lines():
            typer.echo(line, err=True)
        if out is not None:
            typer.echo(f"wrote {report.units} units to {out}", err=True)
        rows = list(report.rows())
        width = max(len(name) for name, _ in rows)
        for name, figure in rows:
            typer.echo(f"{name:<{width}}  {figure}")
