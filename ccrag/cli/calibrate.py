"""`ccrag calibrate`: when a pipeline should abstain, learnt from judged queries."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import check_room, notify, user_errors
from ccrag.cli.options import (
    CollectionOption,
    IndexNameOption,
    OverridesOption,
    OverwriteOption,
    PipelineNameOption,
    WholeIndexOption,
    pipeline_settings,
)
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from rich.table import Table

    from ccrag.evaluation.abstention_metrics import Decisions
    from ccrag.training.calibration import HeldOutDecisions
    from ccrag.training.logistic import Fitted


def calibrate(
    queries: Annotated[Path, typer.Argument(help="Query file, or MTRAGEval's tasks.")],
    index: IndexNameOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the calibration (.json).")],
    answerable: Annotated[
        Path | None,
        typer.Option(
            help="JSONL query_id, answerable. Default: the tasks' own field answerability."
        ),
    ] = None,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    cross_encoder: Annotated[
        bool,
        typer.Option("--cross-encoder", help="The model of `reranker` gives a feature, too."),
    ] = False,
    nli: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="An entailment model that gives a feature, too."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is held back when.")] = 0,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """
    Learn from judged queries when to abstain, and say what that is worth on queries held back.

    Example: ccrag calibrate tasks.jsonl --index mtrag --pipeline mtrag --out mtrag.json
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.errors import InputError
    from ccrag.evaluation import mtrag
    from ccrag.evaluation.run_files import read_answerable
    from ccrag.pipeline.calibrations import SUFFIX, write_calibration
    from ccrag.pipeline.factory import open_to_calibrate
    from ccrag.training.calibration import calibrate as learn
    from ccrag.training.calibration import calibration_from, measure

    with user_errors():
        if out.suffix != SUFFIX:
            raise InputError(f"the name of a calibration ends in {SUFFIX}", path=out)
        check_room(out, overwrite=overwrite)
        settings = pipeline_settings(pipeline, overrides, index=index)
        asked = read_queries(queries, whole_index=whole_index, collection=collection)
        texts = {query.query_id: query.text for query in asked}
        known = mtrag.with_ids_of(texts, read_answerable(answerable or queries))
        opened, extractor = open_to_calibrate(
            settings, index, cross_encoder=cross_encoder, nli=nli, notify=notify
        )
        with progress_bar("looking", len(asked)) as on_progress:
            features = measure(opened, extractor, asked, on_progress=on_progress)
        fitted, held_out = learn(features, asked, known, seed=seed)
        write_calibration(calibration_from(fitted, held_out, settings, nli=nli), out)
    _report(fitted, held_out)
    notify(f"use it with --set answer.answerability={out}")


def _report(fitted: "Fitted", held_out: "HeldOutDecisions") -> None:
    from ccrag.cli.render import console

    held = held_out.sample
    typer.echo(
        f"{len(held.query_ids)} judged queries, {int(held.unanswerable.sum())} of them "
        f"unanswerable; each decided by what was learnt without its dialogue"
    )
    console().print(_held_out_table(held_out))
    compared = held_out.against_never(0.5)
    if compared is not None:
        typer.echo(
            f"accuracy, abstaining from .5, against never: {compared.difference:+.3f} "
            f"({compared.low:+.3f} to {compared.high:+.3f}), p = {compared.p:.4f}; "
            f"pairs ranked right: {held_out.ranked_right():.3f}"
        )
    if compared is None or compared.difference <= 0 or not compared.significant():
        notify("on what was held back this is not reliably better than never abstaining")
    typer.echo("; ".join(_counts(held_out.at(0.5))))
    if held_out.unjudged.size:
        share = float((held_out.unjudged >= 0.5).mean())
        typer.echo(f"{held_out.unjudged.size} queries of neither kind: abstained from {share:.3f}")
    console().print(_weights_table(fitted))


def _held_out_table(held_out: "HeldOutDecisions") -> "Table":
    from ccrag.training.calibration import THRESHOLDS

    table = _table("abstain", *("precision", "recall", "F1", "accuracy"))
    rows = [("never", held_out.never()), ("always", held_out.always())]
    rows += [(f"from {threshold:g}", held_out.at(threshold)) for threshold in THRESHOLDS]
    for name, found in (*rows, *_by_collection(held_out)):
        table.add_row(name, *_cells(found))
    return table


def _by_collection(held_out: "HeldOutDecisions") -> "Iterator[tuple[str, Decisions]]":
    """Each collection, decided from .5 on by what the other collections taught."""
    from ccrag.cli.render import clean
    from ccrag.evaluation.abstention_metrics import NEVER, decisions

    for name, (part, said) in held_out.by_collection.items():
        yield f"{clean(name)}: never", decisions(part, said, threshold=NEVER)
        yield f"{clean(name)}: by others", decisions(part, said, threshold=0.5)


def _cells(found: "Decisions") -> Iterator[str]:
    from ccrag.evaluation.abstention_metrics import MEASURES

    for name in MEASURES:
        figure = found.figures.get(name)
        yield "–" if figure is None else f"{figure.value:.3f} ({figure.low:.2f}–{figure.high:.2f})"


def _counts(found: "Decisions") -> tuple[str, str]:
    """The confusion matrix in words; means over the repeats."""
    return (
        f"unanswerable: {found.abstained_unanswerable:.1f} abstained from, "
        f"{found.answered_unanswerable:.1f} answered",
        f"answerable: {found.abstained_answerable:.1f} abstained from, "
        f"{found.answered_answerable:.1f} answered",
    )


def _weights_table(fitted: "Fitted") -> "Table":
    table = _table("feature", "mean", "log-odds per standard deviation")
    for name, weight in sorted(fitted.weights.items(), key=lambda it: -abs(it[1].coefficient)):
        table.add_row(name, f"{weight.mean:.3f}", f"{weight.coefficient:+.2f}")
    return table


def _table(first: str, *others: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, padding=(0, 1))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
