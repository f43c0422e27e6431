"""`ccrag eval`: what runs are worth, and whether they differ."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from ccrag.cli.calls import calls_line, wanted_judge
from ccrag.cli.errors import user_errors
from ccrag.cli.options import (
    Answerable,
    Baseline,
    BertScore,
    BertScoreLayers,
    Draws,
    GoldAnswers,
    Judged,
    Measures,
    Nli,
    Nuggets,
    Qrels,
    Quotes,
    Seed,
    Stemmer,
    chosen_measures,
)

if TYPE_CHECKING:
    from ccrag.evaluation.gold import Gold


Runs = Annotated[
    list[Path], typer.Argument(help="Run folders; files of responses or TREC runs work too.")
]
Queries = Annotated[Path, typer.Option(help="Query file; its queries are those that count.")]
Documents = Annotated[
    list[Path] | None, typer.Option(help="Documents, to find the quotes in; repeatable.")
]
JudgeSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="A setting of the judge: llm.*, provider.*."
    ),
]
AllPairs = Annotated[bool, typer.Option("--all-pairs", help="Compare every run with every other.")]
PerQuery = Annotated[Path | None, typer.Option(help="Write a CSV: a row per run and query.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON: everything, figures per query too.")
]


def eval_command(
    runs: Runs,
    queries: Queries,
    gold: GoldAnswers = None,
    qrels: Qrels = None,
    quotes: Quotes = None,
    answerable: Answerable = None,
    documents: Documents = None,
    measures: Measures = None,
    baseline: Baseline = None,
    all_pairs: AllPairs = False,
    stemmer: Stemmer = True,
    nli: Nli = None,
    bertscore: BertScore = None,
    bertscore_layers: BertScoreLayers = 9,
    judge: Judged = False,
    nuggets: Nuggets = None,
    overrides: JudgeSettings = None,
    draws: Draws = None,
    seed: Seed = None,
    per_query: PerQuery = None,
    as_json: AsJson = False,
) -> None:
    """
    Measure runs, with confidence intervals; compare several, with tests of significance.

    Example: ccrag eval runs/bm25 runs/rrf --queries queries.jsonl --qrels qrels.txt
    """
    from ccrag.cli import eval_tables
    from ccrag.errors import InputError
    from ccrag.evaluation import significance
    from ccrag.evaluation.outcome import assess
    from ccrag.evaluation.reading import read_gold, read_runs
    from ccrag.evaluation.tables import outcome_json, per_query_csv

    with user_errors():
        if overrides and not judge:
            raise InputError("--set is for a judge; add --judge")
        opened = wanted_judge(judge, overrides or [], nuggets)
        chosen = chosen_measures(
            measures,
            stemmer=stemmer,
            nli=nli,
            bertscore=bertscore,
            bertscore_layers=bertscore_layers,
            judge=opened,
        )
        files = read_gold(
            _query_texts(queries),
            answers=gold,
            qrels=qrels,
            quotes=quotes,
            answerable=answerable,
        )
        outcome = assess(
            read_runs(runs),
            _with_texts(files, documents or []),
            chosen,
            baseline=baseline,
            all_pairs=all_pairs,
            draws=significance.DRAWS if draws is None else draws,
            seed=significance.SEED if seed is None else seed,
        )
        if per_query is not None:
            _write(per_query, per_query_csv(outcome.scores.values()))
    if opened is not None:
        typer.echo(f"judge: {calls_line(opened.totals, opened.provider)}", err=True)
    if as_json:
        typer.echo(orjson.dumps(outcome_json(outcome), option=orjson.OPT_INDENT_2).decode())
    else:
        eval_tables.show(outcome)


def _query_texts(path: Path) -> dict[str, str]:
    from ccrag.corpus.queries import read_queries

    return {query.query_id: query.text for query in read_queries(path, whole_index=True)}


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
