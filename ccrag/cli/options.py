"""Options that several commands share, and what they mean together."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.errors import ONE_QUESTION, InputError

if TYPE_CHECKING:
    from ccrag.cli.calls import OpenedJudge
    from ccrag.config import Settings
    from ccrag.config.defaults import Purpose
    from ccrag.evaluation.registry import Measure
    from ccrag.types import Candidates

IndexNameOption = Annotated[str, typer.Option("--index", "-i", help="Name of the index.")]
PipelineNameOption = Annotated[
    str | None,
    typer.Option(
        "--pipeline", "-p", help="A named pipeline, or a TOML file. See `ccrag pipelines`."
    ),
]
OverridesOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override one setting; repeatable."),
]
DocsOption = Annotated[
    str | None, typer.Option("--docs", metavar="ID,ID", help="Candidate document ids.")
]
DocsFileOption = Annotated[
    Path | None,
    typer.Option("--docs-file", metavar="F", help="Candidate ids: one a line, or a JSON list."),
]
WholeIndexOption = Annotated[
    bool, typer.Option("--all", help="Every document of the index is a candidate.")
]

VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", help="A line for every failure and fault, not one for each cause."),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace what lies there from an earlier command.")
]

CollectionOption = Annotated[
    str | None,
    typer.Option("--collection", metavar="NAME", help="Every document of this collection."),
]

GoldAnswersOption = Annotated[Path | None, typer.Option(help="JSONL query_id, gold_answer.")]
QrelsOption = Annotated[
    Path | None,
    typer.Option(
        help="Relevance judgements: TREC, TSV, a folder of them, or tasks that list them."
    ),
]
QuotesOption = Annotated[Path | None, typer.Option(help="JSONL query_id, doc_id, quote.")]
AnswerableOption = Annotated[Path | None, typer.Option(help="JSONL query_id, answerable.")]
MeasuresOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME", help="Measures, ir-measures' names too. Default: all known here."
    ),
]
BaselineOption = Annotated[
    str | None, typer.Option(help="The run the others are compared with. Default: the first.")
]
StemmerOption = Annotated[
    bool, typer.Option("--stemmer/--no-stemmer", help="Let ROUGE compare stems.")
]
DrawsOption = Annotated[
    int | None, typer.Option(min=100, help="Draws of tests and intervals. Default: 10,000.")
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Seed of the draws. Default: a fixed one.")
]
NliOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="Entailment model, folder or hub name, for nli-recall and -precision."
    ),
]
BertScoreOption = Annotated[Path | None, typer.Option(help="Folder of a model for BERTScore.")]
BertScoreLayersOption = Annotated[int, typer.Option(min=1, help="The layer BERTScore reads it at.")]
JudgedOption = Annotated[
    bool, typer.Option("--judge", help="Let a language model grade answers (see --set).")
]
NuggetsOption = Annotated[
    Path | None,
    typer.Option(help="JSONL of the facts a good answer holds; --judge makes those missing."),
]


def read_candidates(
    docs: str | None, docs_file: Path | None, whole_index: bool, collection: str | None
) -> "Candidates":
    """
    The candidates that exactly one of the four options names.

    Raises:
        InputError: none or several of them were given, or they name no id.
    """
    from ccrag.corpus.queries import read_doc_ids
    from ccrag.types import Candidates

    given = (docs is not None, docs_file is not None, whole_index, collection is not None)
    if sum(given) != 1:
        raise InputError(
            "say which documents may answer: one of --docs, --docs-file, --collection, --all"
        )
    if collection is not None:
        return Candidates.of_collection(collection)
    if whole_index:
        return Candidates.whole_index()
    if docs_file is not None:
        return Candidates.of(read_doc_ids(docs_file), query_id=ONE_QUESTION)
    ids = [doc_id.strip() for doc_id in (docs or "").split(",")]
    return Candidates.of([doc_id for doc_id in ids if doc_id], query_id=ONE_QUESTION)


def pipeline_settings(
    pipeline: str | Path | None,
    overrides: Sequence[str] | None,
    *,
    index: str | None = None,
    purpose: "Purpose" = "answer",
) -> "Settings":
    """
    The settings of a named pipeline, or of the default one, which is told on stderr.

    Args:
        index: what is asked; the default is one that it serves, if there is one.

    Raises:
        ConfigError: no such pipeline or setting.
        EngineError: the engine is out of reach.
    """
    from ccrag.cli.errors import notify
    from ccrag.config.load import load_settings

    if pipeline is not None:
        return load_settings(pipeline, overrides or [])
    if index is not None:
        from ccrag.pipeline.factory import default_settings

        return default_settings(purpose, overrides or [], index=index, notify=notify)
    from ccrag.config.defaults import unnamed_pipeline

    chosen = unnamed_pipeline(purpose)
    if chosen.is_told:
        notify(str(chosen))
    return load_settings(chosen.name, overrides or [])


def given_overrides(section: str, given: Mapping[str, int | str | Path | None]) -> list[str]:
    """Options of their own as settings of `section`; those that were not given are left out."""
    return [
        f"{section}.{name}={json.dumps(value if isinstance(value, int) else str(value))}"
        for name, value in given.items()
        if value is not None
    ]


def split_names(names: str | None) -> list[str]:
    """The names between commas; none of nothing."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def chosen_measures(
    names: str | None,
    *,
    stemmer: bool,
    nli: str | None,
    bertscore: Path | None,
    bertscore_layers: int,
    judge: "OpenedJudge | None" = None,
    preset: str | None = None,
) -> "tuple[Measure, ...]":
    """
    The measures named, or else those of a preset or all known here; the models given are loaded.

    Raises:
        InputError: a name means nothing, or is named and cannot be computed here.
        ModelError: a model cannot be had, or is of another kind.
    """
    from ccrag.evaluation.bertscore import load_bert_scorer
    from ccrag.evaluation.catalogue import default_measures, select_measures
    from ccrag.models.nli import load_nli
    from ccrag.pipeline.support_weights import word_grade

    known = default_measures(
        stemmer=stemmer,
        nli=None if nli is None else load_nli(nli),
        bert=None if bertscore is None else load_bert_scorer(bertscore, layers=bertscore_layers),
        judge=None if judge is None else judge.judge,
        nuggets=None if judge is None else judge.nuggets,
        support=word_grade,
    )
    asked = split_names(names)
    wanted = asked or split_names(preset)
    return select_measures(wanted, known, required=asked) if wanted else known
