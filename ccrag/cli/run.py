"""`ccrag run`: a pipeline over a query file, as a submission folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.calls import calls_line
from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import IndexName, Overrides, PipelineName
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from ccrag.config import ProviderSettings
    from ccrag.evaluation.validate import Problem
    from ccrag.runs.run import RunReport


def run(
    queries: Annotated[Path, typer.Argument(help="Query file: ids, texts, candidate documents.")],
    index: IndexName,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run's files.")],
    pipeline: PipelineName = None,
    overrides: Overrides = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an unfinished run, failed queries too.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where an unfinished run lies.")
    ] = False,
    whole_index: Annotated[
        bool, typer.Option("--all", help="Queries without candidates may use the whole index.")
    ] = False,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="NAME", help="Queries without candidates use this."),
    ] = None,
) -> None:
    """
    Answer a query file: responses.jsonl, run.trec, ir-metadata.yml and provenance.json.

    Example: ccrag run queries.jsonl --index demo --pipeline rrf-no-rerank --out runs/rrf
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.evaluation.validate import validate
    from ccrag.formats import Format
    from ccrag.layers import load_settings
    from ccrag.opening import open_pipeline
    from ccrag.runs.run import run_queries

    with user_errors():
        settings = load_settings(pipeline, overrides or [])
        asked = read_queries(queries, whole_index=whole_index, collection=collection)
        opened = open_pipeline(settings, index, notify=notify)
        with progress_bar("answering", len(asked)) as on_progress:
            report = run_queries(
                opened,
                asked,
                out,
                settings,
                resume=resume,
                overwrite=overwrite,
                on_progress=on_progress,
            )
        failed = {failure.query_id for failure in report.failures}
        expected = [query for query in asked if query.query_id not in failed]
        problems = validate(out, format=Format.LONGEVAL, queries=expected) if expected else []
    _report(report, problems, settings.provider)


def _report(report: "RunReport", problems: "list[Problem]", provider: "ProviderSettings") -> None:
    for failure in report.failures:
        typer.echo(f"failed: {failure.error}", err=True)
    for problem in problems:
        typer.echo(str(problem), err=True)
    resumed = f", {report.resumed} of them earlier" if report.resumed else ""
    typer.echo(
        f"{report.out}: {report.answered} of {report.queries} queries answered{resumed}, "
        f"{report.abstained} abstentions, {report.seconds_per_query * 1000:.1f} ms each"
    )
    if report.calls.calls:
        typer.echo(f"language model: {calls_line(report.calls, provider)}")
    if report.rerank_failed:
        typer.echo(
            f"{report.rerank_failed} queries keep the order they had: no listwise order could be "
            "had (their notes in provenance.json say why; rerank.failure=error makes it an error)",
            err=True,
        )
    if report.failures:
        typer.echo("the same command with --resume tries the failed ones again", err=True)
    if report.failures or problems:
        raise typer.Exit(1)
