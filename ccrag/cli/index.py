"""`ccrag index`: documents into an index."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import IndexName, Overrides, PipelineName
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from ccrag.indexing import IndexReport


class OnError(StrEnum):
    """What a bad record does."""

    STOP = "stop"
    SKIP = "skip"


def index(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of documents.")],
    index: IndexName,
    pipeline: PipelineName = None,
    overrides: Overrides = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at the first bad record, or skip and count them.")
    ] = OnError.STOP,
    citations: Annotated[
        Path | None,
        typer.Option(help="CSV citing_doc_id,cited_doc_id; else the documents' own links count."),
    ] = None,
) -> None:
    """
    Load, cut and write documents. Resumes after a kill; does nothing when nothing changed.

    Example: ccrag index documents.jsonl --index demo
    """
    from ccrag.indexing import index_documents
    from ccrag.layers import load_settings

    with user_errors():
        settings = load_settings(pipeline, overrides or [])
        with progress_bar("indexing") as on_progress:
            report = index_documents(
                paths,
                index,
                settings,
                on_error=on_error.value,
                citations=citations,
                on_progress=on_progress,
                notify=notify,
            )
    _print(report, index)


def _print(report: "IndexReport", name: str) -> None:
    """stdout: what the index holds now; stderr: what of the input needs attention."""
    for line in report.loaded.lines():
        typer.echo(line, err=True)
    built = report.built
    kept = f", {built.kept} of them kept from an interrupted load" if built.kept else ""
    state = "unchanged" if built.unchanged else "ready"
    typer.echo(
        f"{name} {state}: {built.documents} documents, {built.passages} passages{kept}, "
        f"{report.seconds:.1f} s"
    )
