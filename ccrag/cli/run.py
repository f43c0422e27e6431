"""`ccrag run`: a pipeline over a query file, as a submission folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.calls import calls_line
from ccrag.cli.errors import notify, show_failures, show_problems, user_errors
from ccrag.cli.options import OverridesOption, PipelineNameOption, VerboseOption, pipeline_settings
from ccrag.cli.progress import progress_bar
from ccrag.errors import InputError
from ccrag.formats import Format

if TYPE_CHECKING:
    from ccrag.config import ProviderSettings, Settings
    from ccrag.evaluation.validate import Problem
    from ccrag.runs.output_formats import OutputFormat
    from ccrag.runs.run import Answers, RunReport
    from ccrag.types import Query


def run(
    queries: Annotated[Path, typer.Argument(help="Query file: ids, texts, candidate documents.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run's files.")],
    index: Annotated[
        str | None, typer.Option("--index", "-i", help="Name of the index; mtrag-b needs none.")
    ] = None,
    pipeline: PipelineNameOption = None,
    format_: Annotated[
        Format, typer.Option("--format", help="What the file of answers holds.")
    ] = Format.LONGEVAL,
    overrides: OverridesOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an unfinished run, failed queries too.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where a run lies, finished or not.")
    ] = False,
    whole_index: Annotated[
        bool, typer.Option("--all", help="Queries without candidates may use the whole index.")
    ] = False,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="NAME", help="Queries without candidates use this."),
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """
    Answer a query file: responses.jsonl, run.trec, ir-metadata.yml and provenance.json.

    MTRAGEval's tasks (--format mtrag-a, -b, -c) give predictions.jsonl instead of responses.jsonl;
    for mtrag-b the tasks bring their contexts and nothing is searched.

    Example: ccrag run queries.jsonl --index demo --pipeline rrf-no-rerank --out runs/rrf

    Example: ccrag run tasks.jsonl --index mtrag --pipeline mtrag --format mtrag-c --out runs/c
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.runs.run import run_queries

    with user_errors():
        asks_index = index if format_ is not Format.MTRAG_B else None
        settings = pipeline_settings(pipeline, overrides, index=asks_index)
        any_index = whole_index or format_ is Format.MTRAG_B
        asked = read_queries(queries, whole_index=any_index, collection=collection)
        opened, output_format = _open(settings, index, queries, format_)
        with progress_bar("answering", len(asked)) as on_progress:
            report = run_queries(
                opened,
                asked,
                out,
                settings,
                resume=resume,
                overwrite=overwrite,
                output_format=output_format,
                on_progress=on_progress,
            )
        problems = _problems(report, queries, asked, format_)
    _report(report, problems, settings.provider, verbose=verbose)


def _open(
    settings: "Settings", index: str | None, tasks: Path, format_: Format
) -> "tuple[Answers, OutputFormat]":
    """Return what answers the queries, and the format of the file of answers."""
    from ccrag.corpus.contexts import read_contexts
    from ccrag.pipeline.factory import open_context_pipeline, open_pipeline
    from ccrag.runs.output_formats import make_output_format

    if format_ is Format.MTRAG_B:
        given = read_contexts(tasks)
        output_format = make_output_format(
            format_, settings, {q: held.records for q, held in given.items()}
        )
        return open_context_pipeline(
            settings, {q: held.passages for q, held in given.items()}
        ), output_format
    output_format = make_output_format(format_, settings)
    if index is None:
        raise InputError("say which index is asked: --index NAME")
    return open_pipeline(settings, index, notify=notify), output_format


def _problems(
    report: "RunReport", path: Path, asked: "list[Query]", format_: Format
) -> "list[Problem]":
    """Return the validator's problems with the files, failed queries aside."""
    from ccrag.evaluation.validate import validate
    from ccrag.runs.output_formats import MTRAG

    if not report.answered or report.finished_earlier:
        return []
    if format_ in MTRAG:
        return validate(report.out, format=format_, queries=path)
    failed = {failure.query_id for failure in report.failures}
    expected = [query for query in asked if query.query_id not in failed]
    return validate(report.out, format=format_, queries=expected)


def _report(
    report: "RunReport", problems: "list[Problem]", provider: "ProviderSettings", *, verbose: bool
) -> None:
    if report.finished_earlier:
        typer.echo(f"{report.out}: finished earlier, {report.queries} queries; nothing was asked")
        return
    show_failures(report.failures, verbose=verbose)
    show_problems(problems, verbose=verbose)
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
        typer.echo(
            "the same command with --resume tries the failed ones again, once the cause is mended",
            err=True,
        )
    if report.failures or problems:
        raise typer.Exit(1)
