"""`ccrag eval`: what runs are worth, and whether they differ."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.calls import calls_line, wanted_judge
from ccrag.cli.errors import check_room, user_errors
from ccrag.cli.options import (
    AnswerableOption,
    BaselineOption,
    BertScoreLayersOption,
    BertScoreOption,
    DrawsOption,
    GoldAnswersOption,
    JudgedOption,
    MeasuresOption,
    NliOption,
    NuggetsOption,
    OverwriteOption,
    QrelsOption,
    QuotesOption,
    SeedOption,
    StemmerOption,
    chosen_measures,
    split_names,
)
from ccrag.cli.output import print_json
from ccrag.formats import Format

if TYPE_CHECKING:
    from ccrag.evaluation.gold import Gold
    from ccrag.types import Query


RunsArgument = Annotated[
    list[Path], typer.Argument(help="Run folders; files of responses or TREC runs work too.")
]
QueriesOption = Annotated[Path, typer.Option(help="Query file; its queries are those that count.")]
DocumentsOption = Annotated[
    list[Path] | None, typer.Option(help="Documents, to find the quotes in; repeatable.")
]
JudgeSettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="A setting of the judge: llm.*, provider.*."
    ),
]
TaskFormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="mtrag-a, -b, -c: its measures, by collection; gold not given comes from its tasks.",
    ),
]
ByCollectionOption = Annotated[
    bool, typer.Option("--by-collection", help="Means of each collection, and over them, too.")
]
AllPairsOption = Annotated[
    bool, typer.Option("--all-pairs", help="Compare every run with every other.")
]
PerQueryCsvOption = Annotated[
    Path | None, typer.Option(help="Write a CSV: a row per run and query.")
]
JsonFiguresOption = Annotated[
    bool, typer.Option("--json", help="Print JSON: everything, figures per query too.")
]


def eval_command(
    runs: RunsArgument,
    queries: QueriesOption,
    gold: GoldAnswersOption = None,
    qrels: QrelsOption = None,
    quotes: QuotesOption = None,
    answerable: AnswerableOption = None,
    documents: DocumentsOption = None,
    measures: MeasuresOption = None,
    baseline: BaselineOption = None,
    all_pairs: AllPairsOption = False,
    stemmer: StemmerOption = True,
    nli: NliOption = None,
    bertscore: BertScoreOption = None,
    bertscore_layers: BertScoreLayersOption = 9,
    judge: JudgedOption = False,
    nuggets: NuggetsOption = None,
    overrides: JudgeSettingsOption = None,
    draws: DrawsOption = None,
    seed: SeedOption = None,
    format_: TaskFormatOption = None,
    by_collection: ByCollectionOption = False,
    per_query: PerQueryCsvOption = None,
    overwrite: OverwriteOption = False,
    as_json: JsonFiguresOption = False,
) -> None:
    """
    Measure runs, with confidence intervals; compare several, with tests of significance.

    Example: ccrag eval runs/bm25 runs/rrf --queries queries.jsonl --qrels qrels.txt

    Example: ccrag eval runs/a --queries tasks.jsonl --qrels qrels/ --format mtrag-a
    """
    from ccrag.cli import eval_groups, eval_tables
    from ccrag.cli.eval_presets import preset_of
    from ccrag.corpus.queries import read_queries
    from ccrag.errors import InputError
    from ccrag.evaluation import significance
    from ccrag.evaluation.groups import groups_part
    from ccrag.evaluation.outcome import assess
    from ccrag.evaluation.run_files import read_gold, read_runs
    from ccrag.evaluation.tables import outcome_json, per_query_csv

    with user_errors():
        if overrides and not judge:
            raise InputError("--set is for a judge; add --judge")
        check_room(per_query, overwrite=overwrite)
        opened = wanted_judge(judge, overrides or [], nuggets)
        preset, asked = preset_of(format_), read_queries(queries, whole_index=True)
        chosen = chosen_measures(
            measures,
            preset=preset.measures,
            stemmer=stemmer and preset.stemmer,
            nli=nli,
            bertscore=bertscore,
            bertscore_layers=bertscore_layers,
            judge=opened,
        )
        files = read_gold(
            {query.query_id: query.text for query in asked},
            answers=gold or preset.known(queries, "targets"),
            qrels=qrels or preset.known(queries, "relevant"),
            quotes=quotes,
            answerable=answerable or preset.known(queries, "answerability"),
        )
        outcome = assess(
            read_runs(runs),
            _with_texts(files, documents or []),
            chosen,
            required=split_names(measures),
            baseline=baseline,
            all_pairs=all_pairs,
            draws=significance.DRAWS if draws is None else draws,
            seed=significance.SEED if seed is None else seed,
        )
        groups = _collections(asked) if by_collection or format_ is not None else {}
        if per_query is not None:
            _write(per_query, per_query_csv(outcome.scores.values()))
    if opened is not None:
        typer.echo(f"judge: {calls_line(opened.totals, opened.provider)}", err=True)
    if as_json:
        shown = outcome_json(outcome) | groups_part(outcome, groups)
        print_json(shown)
    else:
        eval_tables.show(outcome)
        eval_groups.show(outcome, groups)


def _collections(queries: "Sequence[Query]") -> dict[str, str]:
    """
    The collection of each query.

    Raises:
        InputError: no query names one.
    """
    from ccrag.errors import InputError

    found = {q.query_id: q.candidates.collection for q in queries if q.candidates.collection}
    if not found:
        raise InputError("no query names a collection, so there are no means by collection")
    return found


def _with_texts(gold: "Gold", documents: Sequence[Path]) -> "Gold":
    """`gold` with the texts of the documents that quotes stand in; no others are kept."""
    from ccrag.corpus.load import LoadReport, find_files, read_documents

    if not documents:
        return gold
    quoted = {quote.doc_id for quotes in (gold.quotes or {}).values() for quote in quotes}
    files = find_files(documents, LoadReport())
    texts = {
        document.doc_id: document.text
        for document in read_documents(files)
        if document.doc_id in quoted
    }
    return replace(gold, texts=texts)


def _write(path: Path, text: str) -> None:
    from ccrag.errors import InputError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from error
