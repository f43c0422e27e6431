"""`ccrag models train-reranker`: a cross-encoder from the user's own judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from ccrag.models.training import TrainingReport


def train_reranker_command(
    queries: Annotated[Path, typer.Argument(help="Queries, with candidates or without.")],
    documents: Annotated[Path, typer.Argument(help="A file or folder of documents.")],
    qrels: Annotated[Path, typer.Argument(help="Judgements: qid 0 docid relevance.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for the model.")],
    base: Annotated[
        str, typer.Option(help="Cross-encoder or encoder to start from: a folder or a name.")
    ] = "sentence-transformers/all-MiniLM-L6-v2",
    epochs: Annotated[int, typer.Option(min=1, help="How often each query comes up.")] = 4,
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of queries to evaluate on.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Decides the split and the order.")] = 0,
) -> None:
    """
    Train a cross-encoder on judged queries, and say what it is worth on queries it has not seen.

    Example: ccrag models train-reranker queries.jsonl documents.jsonl qrels.txt --out reranker
    """
    from ccrag.config import Bm25Settings, ChunkingSettings
    from ccrag.models.fitting import TrainingPlan
    from ccrag.models.training import train_reranker
    from ccrag.training_data import read_judged

    bm25 = Bm25Settings()
    plan = TrainingPlan(epochs=epochs, held_out=held_out, seed=seed)
    with user_errors():
        judged = read_judged(
            queries,
            [documents],
            qrels,
            max_words=ChunkingSettings().max_words,
            k1=bm25.k1,
            b=bm25.b,
        )
        notify(f"{len(judged)} judged queries; training from {base}, some minutes on a CPU")
        with progress_bar("training") as on_step:
            report = train_reranker(judged, out, base=base, plan=plan, on_step=on_step)
    typer.echo("\n".join(_lines(report)))
    notify(f"use it with --set reranker.model={out}; figures are in {out / 'training.json'}")


def _lines(report: "TrainingReport") -> list[str]:
    """The held-out figures for a person."""
    return [
        f"{report.train_queries} queries trained on, {report.validation_queries} to choose the "
        f"epoch (kept: {report.kept_epoch}), {report.held_out_queries} held out, "
        f"{report.pairs} pairs, {report.seconds:.0f} s",
        f"nDCG@10 held out: BM25 {report.ndcg_bm25:.4f}, before training "
        f"{report.ndcg_before:.4f}, after {report.ndcg_after:.4f} "
        f"(better than BM25 on {report.better} queries, worse on {report.worse})",
    ]
