"""`ccrag index`: documents into an index."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import IndexNameOption, OverridesOption, pipeline_settings
from ccrag.cli.progress import progress_bar
from ccrag.errors import InputError

if TYPE_CHECKING:
    from ccrag.corpus.load import LoadReport
    from ccrag.indexing.build import AddReport, IndexReport
    from ccrag.indexing.passages import EncodingCounts


MAX_SHOWN = 5
"""Ids of documents that are named."""


class BadRecordAction(StrEnum):
    """The action on a bad record."""

    STOP = "stop"
    SKIP = "skip"


def index(
    index: IndexNameOption,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]PATH...",
            help="Files or folders of documents; with NAME=, those of a named collection.",
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            "--pipeline",
            "-p",
            metavar="P,P",
            help="Named pipelines or TOML files: what they need is built.",
        ),
    ] = None,
    overrides: OverridesOption = None,
    on_error: Annotated[
        BadRecordAction, typer.Option(help="Stop at the first bad record, or skip and count them.")
    ] = BadRecordAction.STOP,
    citations: Annotated[
        Path | None,
        typer.Option(help="CSV citing_doc_id,cited_doc_id; else the documents' own links count."),
    ] = None,
    add: Annotated[
        bool,
        typer.Option("--add", help="Add to what the index holds, update what changed."),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace other documents that the index holds.")
    ] = False,
    delete: Annotated[
        str | None,
        typer.Option(
            metavar="ID,ID",
            help="Delete these documents instead: texts, passages, units, cached vectors, replies.",
        ),
    ] = None,
) -> None:
    """
    Load, cut and write documents. Resumes after a kill; does nothing when nothing changed.

    Example: ccrag index documents.jsonl --index demo

    Example: ccrag index fiqa=corpus/fiqa.jsonl govt=corpus/govt.jsonl --index mtrag

    Example: ccrag index more.jsonl --index demo --add

    Example: ccrag index --index demo --delete doc7,doc9
    """
    if (delete is None) == (not paths):
        raise typer.BadParameter("name documents to index, or ids to --delete")
    if add + replace + (delete is not None) > 1:
        raise typer.BadParameter("--add, --replace and --delete exclude one another")
    if delete is not None:
        _delete(index, delete, overrides or [])
        return
    from ccrag.indexing.build import add_corpus, index_corpus, open_files
    from ccrag.indexing.spec import index_spec

    with user_errors(), _way_past(on_error):
        sources = [_source(path) for path in paths or ()]
        names = pipeline.split(",") if pipeline else [None]
        loaded = [pipeline_settings(name, overrides) for name in names]
        files = open_files(
            [path for path, _ in sources],
            collections={path: name for path, name in sources if name is not None},
            on_error=on_error.value,
            citations=citations,
            reading=loaded[0].reading,
        )
        if add:
            with progress_bar("adding") as on_progress:
                added = add_corpus(files, index, loaded, on_progress=on_progress, notify=notify)
            _print_added(added, index)
            return
        wanted = {index_spec(settings): settings for settings in loaded}
        for at, (spec, settings) in enumerate((r.name, s) for r, s in wanted.items()):
            with progress_bar(f"indexing {spec}") as on_progress:
                report = index_corpus(
                    files, index, settings, replace=replace, on_progress=on_progress, notify=notify
                )
            _print(report, index, spec, with_load=at == 0)


@contextmanager
def _way_past(on_error: BadRecordAction) -> Iterator[None]:
    """Say with a bad record that stops the load how to load the others."""
    from ccrag.corpus.faults import RecordError

    try:
        yield
    except RecordError as error:
        if on_error is BadRecordAction.SKIP:
            raise
        raise InputError(f"{error}; or --on-error skip: it is counted, the others go on") from error


def _delete(index: str, ids: str, overrides: list[str]) -> None:
    """Delete documents everywhere, and say from where."""
    from ccrag.config.load import load_settings
    from ccrag.indexing.delete import delete_documents

    with user_errors():
        doc_ids = [doc_id.strip() for doc_id in ids.split(",") if doc_id.strip()]
        report = delete_documents(index, doc_ids, load_settings(None, overrides), notify=notify)
        for alias, count in report.items.items():
            typer.echo(f"{alias}: {count} taken out")
        for alias in report.dropped:
            typer.echo(
                f"{alias}: dropped, its grouping file may name what is deleted; build it anew"
            )
        if report.absent:
            typer.echo(f"not in {index}, deleted before or never there: {_first(report.absent)}")
        typer.echo(
            f"{index}: {report.documents} documents deleted, with {report.vectors} cached vectors "
            f"and {report.replies} cached replies"
        )


def _first(ids: Sequence[str]) -> str:
    """Return the first of `ids`, and how many more there are."""
    more = f" and {len(ids) - MAX_SHOWN} more" if len(ids) > MAX_SHOWN else ""
    return ", ".join(ids[:MAX_SHOWN]) + more


def _source(argument: str) -> tuple[Path, str | None]:
    """The path and the collection that an argument names; a path may hold `=` itself."""
    name, equals, path = argument.partition("=")
    if not equals or Path(argument).exists():
        return Path(argument), None
    if not name or not path:
        raise InputError(f"{argument!r}: expected NAME=PATH")
    return Path(path), name


def _print_added(report: "AddReport", name: str) -> None:
    """stdout: what the index holds now; stderr: what of the input needs attention."""
    _print_input(report.loaded, report.encoded)
    done = report.updated
    if done.changed_ids:
        told = _first(done.changed_ids)
        typer.echo(f"held before with another text or other fields: {told}", err=True)
    for alias, grown in done.items.items():
        typer.echo(f"{alias}: {grown:+d} items")
    others = f", {done.touched} others with other citation edges" if done.touched else ""
    typer.echo(
        f"{name} ready: {done.documents} documents, {done.added} added, {done.changed} changed, "
        f"{done.unchanged} unchanged{others}, {report.seconds:.1f} s"
    )


def _print_input(loaded: "LoadReport | None", encoded: "EncodingCounts") -> None:
    for line in loaded.lines() if loaded else ():
        typer.echo(line, err=True)
    if encoded.texts:
        typer.echo(
            f"{encoded.texts} texts encoded, {encoded.cached} of them known before, "
            f"{encoded.truncated} longer than the model reads",
            err=True,
        )


def _print(report: "IndexReport", name: str, spec: str, *, with_load: bool) -> None:
    """stdout: what the index holds now; stderr: what of the input needs attention."""
    _print_input(report.loaded if with_load else None, report.encoded)
    built = report.built
    resumed = f", {built.resumed} of them from an interrupted load" if built.resumed else ""
    state = "unchanged" if built.unchanged else "ready"
    typer.echo(
        f"{name} {state} ({spec}): {built.documents} documents, {built.passages} passages"
        f"{resumed}, {report.seconds:.1f} s"
    )
