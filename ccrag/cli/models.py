"""`ccrag models`: look at encoders, make static ones, and learn to rank evidence."""

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
    from ccrag.models.cached import CachedEncoder
    from ccrag.training.sentence_ranker import RankingWorth

app = typer.Typer(help="Look at encoders, and make models.", no_args_is_help=True)

ModelArgument = Annotated[str, typer.Argument(help="A folder, or a name on the model hub.")]


@app.command()
def show(
    model: Annotated[
        str, typer.Argument(help="A folder, a name on the model hub, or static:FOLDER.")
    ],
) -> None:
    """
    Load an encoder and print what it is and where it was found.

    Example: ccrag models show sentence-transformers/all-MiniLM-L6-v2
    """
    from ccrag.config import EncoderSettings
    from ccrag.models.encoder import load_encoder

    with user_errors():
        encoder = load_encoder(EncoderSettings(model=model))
        info = _info(encoder)
    typer.echo("\n".join(f"{name:<14} {value}" for name, value in info.items()))


@app.command()
def distill(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")],
    dimension: Annotated[
        int, typer.Option(min=2, help="Length of a vector, at most the model's.")
    ] = 256,
) -> None:
    """
    Make a static encoder of a sentence-transformers model: far faster, and less exact.

    Example: ccrag models distill sentence-transformers/all-MiniLM-L6-v2 --out minilm-static
    """
    from ccrag.models.static import distill_static

    with user_errors():
        notify(f"distilling {model}, a minute or so")
        made = distill_static(model, out, dimension=dimension)
    typer.echo(made.model_id)
    notify(f"{made.dimension} dimensions; use it with --set encoder.model={made.model_id}")


@app.command("train-evidence")
def train_evidence(
    queries: Annotated[Path, typer.Argument(help="Query file.")],
    quotes: Annotated[Path, typer.Argument(help="Gold: JSONL query_id, doc_id, quote.")],
    index: IndexNameOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the weights (.json).")],
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is held back when.")] = 0,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """
    Learn to rank sentences as evidence from questions with gold quotes.

    Says by cross-validation what that is worth beside the pipeline's own scorer.

    Example: ccrag models train-evidence queries.jsonl quotes.jsonl --index demo --out mine.json
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.errors import InputError
    from ccrag.evaluation.run_files import read_quotes
    from ccrag.pipeline.factory import open_to_train_evidence
    from ccrag.pipeline.packaged import SUFFIX
    from ccrag.pipeline.rankings import write_ranking
    from ccrag.training.sentence_ranker import fit, judge_questions, measure
    from ccrag.types import Candidates

    with user_errors():
        if out.suffix != SUFFIX:
            raise InputError(f"the name of a ranking ends in {SUFFIX}", path=out)
        check_room(out, overwrite=overwrite)
        settings = pipeline_settings(pipeline, overrides, index=index)
        asked = read_queries(queries, whole_index=whole_index, collection=collection)
        gold = read_quotes(quotes)
        opened, selector = open_to_train_evidence(settings, index, notify=notify)
        doc_ids = sorted({quote.doc_id for wanted in gold.values() for quote in wanted})
        documents = opened.index.documents(Candidates.whole_index(), doc_ids)
        texts = {doc_id: document.text for doc_id, document in documents.items()}
        with progress_bar("reading", sum(q.query_id in gold for q in asked)) as on_progress:
            judged = judge_questions(opened, selector, asked, gold, texts, on_progress=on_progress)
        worth = measure(judged, sentences=settings.evidence.max_sentences, seed=seed)
        write_ranking(fit(judged, worth.figures()), out)
    _report_worth(worth)
    notify(f"use it with --set evidence.scorer={selector.scorer} --set evidence.ranking={out}")


def _report_worth(worth: "RankingWorth") -> None:
    figures, compared = worth.figures(), worth.compared
    typer.echo(
        f"gold quotes in {worth.sentences} sentences, {figures['questions']} questions held back "
        f"in turn: own scorer {figures['recall_own']:.3f}, learnt {figures['recall_learnt']:.3f}"
    )
    if compared is not None:
        typer.echo(
            f"difference {compared.difference:+.3f} ({compared.low:+.3f} to {compared.high:+.3f}), "
            f"p = {compared.p:.4f}"
        )
    if compared is None or compared.difference <= 0 or not compared.significant():
        notify("on what was held back this is not reliably better than the pipeline's own scorer")


def _info(encoder: "CachedEncoder") -> dict[str, str]:
    info = {
        "model": encoder.model_id,
        "revision": encoder.revision,
        "dimension": str(encoder.dimension),
        **encoder.model.details(),
    }
    if encoder.cache is not None:
        info["cache"] = f"{encoder.cache.path} ({len(encoder.cache):,} texts)"
    return info
