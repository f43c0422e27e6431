"""`ccrag batch`: answers of a language model by provider batch, in four steps."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.calls import calls_line
from ccrag.cli.errors import notify, show_failures, show_problems, user_errors
from ccrag.cli.options import (
    IndexNameOption,
    OverridesOption,
    OverwriteOption,
    PipelineNameOption,
    VerboseOption,
    pipeline_settings,
)
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from ccrag.batch.collect import CollectReport
    from ccrag.batch.prepare import PrepareReport
    from ccrag.batch.status import StatusReport
    from ccrag.batch.submit import SubmitReport
    from ccrag.evaluation.validate import Problem

app = typer.Typer(no_args_is_help=True, help="Answers of a language model by provider batch.")

SHOWN = 10
FolderArgument = Annotated[
    Path, typer.Argument(help="The folder that `ccrag batch prepare` wrote.")
]


@app.command()
def prepare(
    queries: Annotated[Path, typer.Argument(help="Query file: ids, texts, candidate documents.")],
    index: IndexNameOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the batch.")],
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where another batch lies.")
    ] = False,
    whole_index: Annotated[
        bool, typer.Option("--all", help="Queries without candidates may use the whole index.")
    ] = False,
    verbose: VerboseOption = False,
) -> None:
    """
    Retrieve evidence for a query file and write the requests for a language model.

    Asks no model. After a kill the same command goes on where it was.

    Example: ccrag batch prepare queries.jsonl --index demo --set answer.generator=llm --out work
    """
    from ccrag.batch import prepare as step
    from ccrag.corpus.queries import read_queries
    from ccrag.pipeline.answering import NoAnswerGenerator
    from ccrag.pipeline.factory import open_pipeline

    with user_errors():
        settings = pipeline_settings(pipeline, overrides, index=index)
        asked = read_queries(queries, whole_index=whole_index)
        opened = open_pipeline(settings, index, notify=notify, generator=NoAnswerGenerator())
        with progress_bar("preparing", len(asked)) as on_progress:
            report = step.prepare(
                opened, asked, out, settings, overwrite=overwrite, on_progress=on_progress
            )
    _show_prepared(report, out, verbose=verbose)


@app.command()
def submit(folder: FolderArgument, overrides: OverridesOption = None) -> None:
    """
    Send what waits to the provider, in as many batches as its limits need.

    Given again, after a kill too, it sends nothing twice.

    Example: ccrag batch submit work
    """
    from ccrag.batch import submit as step
    from ccrag.batch.folder import open_work
    from ccrag.batch.manifest import check_settings
    from ccrag.config.load import load_settings
    from ccrag.llm.batch_client import open_provider

    with user_errors(), open_work(folder) as work:
        settings = load_settings(work.manifest.settings, overrides or [])
        check_settings(work.manifest, settings)
        with open_provider(settings.provider) as provider:
            report = step.submit(work, provider, settings.batch)
    _show_submitted(report, folder)


@app.command()
def status(folder: FolderArgument, overrides: OverridesOption = None) -> None:
    """
    Show how the batches stand at the provider; changes nothing.

    Example: ccrag batch status work
    """
    from ccrag.batch import status as step
    from ccrag.batch.folder import open_work
    from ccrag.config.load import load_settings
    from ccrag.llm.batch_client import open_provider

    with user_errors(), open_work(folder) as work:
        settings = load_settings(work.manifest.settings, overrides or [])
        with open_provider(settings.provider) as provider:
            report = step.status(work, provider)
    _show_status(report)


@app.command()
def collect(
    folder: FolderArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run's files.")],
    overrides: OverridesOption = None,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            "--forget",
            metavar="BATCH",
            help="Wait for this batch no longer; ask its requests anew.",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    verbose: VerboseOption = False,
) -> None:
    """
    Fetch the replies of ended batches and write the same files as `ccrag run`.

    Keeps what succeeded, says what is missing and why, and prepares that alone for `submit`. Ends
    with code 1 until every query is answered.

    Example: ccrag batch collect work --out runs/llm
    """
    from ccrag.batch import collect as step
    from ccrag.batch.folder import open_work
    from ccrag.batch.manifest import check_settings
    from ccrag.config.load import load_settings
    from ccrag.evaluation.validate import validate
    from ccrag.formats import Format
    from ccrag.llm.batch_client import open_provider
    from ccrag.pipeline.factory import open_support

    with user_errors(), open_work(folder) as work:
        settings = load_settings(work.manifest.settings, overrides or [])
        check_settings(work.manifest, settings)
        with open_provider(settings.provider) as provider:
            report = step.collect(
                work,
                provider,
                out,
                settings,
                support=open_support(settings),
                forget=tuple(forget or ()),
                overwrite=overwrite,
            )
        answered = report.answered
        problems = validate(out, format=Format.LONGEVAL, queries=answered) if answered else []
    _show_collected(report, problems, folder, out, verbose=verbose)
    if report.written.calls.calls:
        typer.echo(f"language model: {calls_line(report.written.calls, settings.provider)}")
    if report.missing or problems:
        raise typer.Exit(1)


def _show_prepared(report: "PrepareReport", out: Path, *, verbose: bool) -> None:
    show_failures(report.failures, verbose=verbose)
    resumed = f", {report.resumed} of them earlier" if report.resumed else ""
    typer.echo(
        f"{out}: {report.prepared} of {report.queries} queries prepared{resumed}, "
        f"{report.requests} requests to submit"
    )
    if report.failures:
        typer.echo("the same command tries the failed ones again", err=True)
        raise typer.Exit(1)


def _show_submitted(report: "SubmitReport", folder: Path) -> None:
    for part in report.sent:
        made = "found" if part.batch_id in report.found else "created"
        typer.echo(f"{part.batch_id} {made}: {len(part.custom_ids)} requests")
    for part in report.before:
        typer.echo(f"{part.batch_id} is under way: {len(part.custom_ids)} requests")
    if not report.sent and not report.before:
        typer.echo(f"nothing to submit; ccrag batch collect {folder} --out RUN writes the run")


def _show_status(report: "StatusReport") -> None:
    for part in report.collected:
        typer.echo(
            f"{part.batch_id} {part.status}: {part.kept} of {len(part.custom_ids)} replies kept"
        )
    for _, batch in report.under_way:
        typer.echo(
            f"{batch.batch_id} {batch.status}: {batch.completed} of {batch.total} done, "
            f"{batch.failed} failed"
        )
    typer.echo(
        f"{report.queries} queries, {report.failed} of them failed to prepare; "
        f"{report.to_submit} requests to submit"
    )


def _show_collected(
    report: "CollectReport",
    problems: "list[Problem]",
    folder: Path,
    out: Path,
    *,
    verbose: bool,
) -> None:
    for part in report.ended:
        replies = f"{part.kept} of {len(part.custom_ids)} replies"
        typer.echo(f"{part.batch_id} {part.status}: {replies}", err=True)
        _show_first([f"{part.batch_id}: {problem}" for problem in part.problems])
    for batch in report.under_way:
        typer.echo(f"{batch.batch_id} {batch.status}: not collected yet", err=True)
    show_failures(report.missing, what="missing", verbose=verbose)
    show_problems(problems, verbose=verbose)
    typer.echo(
        f"{out}: {report.written.answered} of {report.queries} queries answered, "
        f"{report.written.abstained} abstentions"
    )
    if report.to_submit:
        typer.echo(f"ccrag batch submit {folder} sends {report.to_submit} requests", err=True)


def _show_first(lines: list[str]) -> None:
    """The first of many lines on stderr, and how many more there are."""
    for line in lines[:SHOWN]:
        typer.echo(line, err=True)
    if len(lines) > SHOWN:
        typer.echo(f"… and {len(lines) - SHOWN} more", err=True)
