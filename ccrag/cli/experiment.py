"""`ccrag experiment`: several pipelines over one query file, measured, compared and shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.calls import calls_line, wanted_judge
from ccrag.cli.errors import notify, show_failures, show_problems, user_errors
from ccrag.cli.options import (
    AnswerableOption,
    BaselineOption,
    BertScoreLayersOption,
    BertScoreOption,
    DrawsOption,
    GoldAnswersOption,
    IndexNameOption,
    JudgedOption,
    MeasuresOption,
    NliOption,
    NuggetsOption,
    OverridesOption,
    OverwriteOption,
    QrelsOption,
    QuotesOption,
    SeedOption,
    StemmerOption,
    VerboseOption,
    chosen_measures,
    split_names,
)
from ccrag.cli.progress import progress_bar

if TYPE_CHECKING:
    from ccrag.experiment.outcome import Experiment

QueryFileArgument = Annotated[
    Path, typer.Argument(help="Query file: ids, texts, candidate documents.")
]
PipelinesOption = Annotated[
    str, typer.Option("--pipelines", metavar="P,P", help="Named pipelines or TOML files.")
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for runs, results and report.")
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid", metavar="SECTION.KEY=A,B", help="A run for each value; repeat for combinations."
    ),
]
PrimaryOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The measure that sorts queries. Default: nDCG@10 if known."),
]
SectionsOption = Annotated[int, typer.Option(min=0, help="Queries that the report shows in full.")]
AllowWholeIndexOption = Annotated[
    bool, typer.Option("--all", help="Queries without candidates may use the whole index.")
]


def experiment_command(
    queries: QueryFileArgument,
    index: IndexNameOption,
    pipelines: PipelinesOption,
    out: OutOption,
    overrides: OverridesOption = None,
    grid: GridOption = None,
    gold: GoldAnswersOption = None,
    qrels: QrelsOption = None,
    quotes: QuotesOption = None,
    answerable: AnswerableOption = None,
    measures: MeasuresOption = None,
    primary: PrimaryOption = None,
    stemmer: StemmerOption = True,
    nli: NliOption = None,
    bertscore: BertScoreOption = None,
    bertscore_layers: BertScoreLayersOption = 9,
    judge: JudgedOption = False,
    nuggets: NuggetsOption = None,
    baseline: BaselineOption = None,
    draws: DrawsOption = None,
    seed: SeedOption = None,
    sections: SectionsOption = 60,
    whole_index: AllowWholeIndexOption = False,
    overwrite: OverwriteOption = False,
    verbose: VerboseOption = False,
) -> None:
    """
    Run pipelines over a query file, measure and compare them; writes report.html and results.

    Finished runs in the folder are reused, unfinished ones gone on with; a run of other settings,
    index or queries that lies under the same name is replaced with --overwrite only.

    Example: ccrag experiment queries.jsonl --index demo --pipelines single-query-bm25,default
    --grid fusion.rrf_k=10,60 --qrels qrels.txt --out experiment
    """
    from ccrag.corpus.queries import read_queries
    from ccrag.evaluation import significance
    from ccrag.evaluation.run_files import read_gold
    from ccrag.experiment.experiment import run_experiment
    from ccrag.experiment.plan import plan_runs

    with user_errors():
        opened = wanted_judge(judge, overrides or [], nuggets)
        chosen = chosen_measures(
            measures,
            stemmer=stemmer,
            nli=nli,
            bertscore=bertscore,
            bertscore_layers=bertscore_layers,
            judge=opened,
        )
        asked = read_queries(queries, whole_index=whole_index)
        experiment = run_experiment(
            plan_runs(split_names(pipelines), overrides=overrides or [], grid=grid or []),
            asked,
            index,
            out,
            gold=read_gold(
                {query.query_id: query.text for query in asked},
                answers=gold,
                qrels=qrels,
                quotes=quotes,
                answerable=answerable,
            ),
            measures=chosen,
            required=split_names(measures),
            baseline=baseline,
            primary=primary,
            draws=significance.DRAWS if draws is None else draws,
            seed=significance.SEED if seed is None else seed,
            sections=sections,
            overwrite=overwrite,
            notify=notify,
            progress=progress_bar,
        )
    if opened is not None:
        typer.echo(f"judge: {calls_line(opened.totals, opened.provider)}", err=True)
    _report(experiment, out, verbose=verbose)


def _report(experiment: "Experiment", out: Path, *, verbose: bool) -> None:
    from ccrag.cli import eval_tables

    eval_tables.show(experiment.outcome)
    failed = False
    for run in experiment.runs:
        failed = failed or bool(run.failures or run.problems)
        show_failures(run.failures, what=run.name, verbose=verbose)
        show_problems(run.problems, verbose=verbose)
        if run.failures:
            typer.echo(
                f"{run.name}: {len(run.failures)} of {len(experiment.queries)} queries failed; "
                "the same command tries them again",
                err=True,
            )
    typer.echo(f"{out / 'report.html'}")
    if failed:
        raise typer.Exit(1)
