"""
Ways to fill a context at equal budgets.

    python -m benchmarks.units OUT_DIR [--quick | --questions FILE]

The Python reference with its links, and every question of the example that has gold quotes, in two
groups: those that need two or three topics, and those that need one. A figure is the share of
questions of which the context holds *all* gold quotes; contexts are what the pipelines read, under
`budget.max_tokens`, headers aside, everything ranked by the same BM25 and dense lists.

Writes `table.md`, `plot.svg` and `figures.json` into OUT_DIR. ▲▼: differs from the best passages at
the same budget, p < .05 by paired randomisation with Holm's correction over the column's ways.
Without `--quick`, the settings of `linked` are chosen by cross-validation over the questions that
need several topics, and what a choice finds on the folds left out is told.

With `--questions` the questions are those of FILE, in the form of the example's questions.jsonl,
and nothing is chosen: the settings are the shipped ones. `questions-held-out.jsonl` of the example
was made for it.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from benchmarks.unit_choice import choose
from benchmarks.unit_plot import plot
from benchmarks.unit_quotes import Gold, QuotesFound
from ccrag.config.load import load_settings
from ccrag.engine.client import open_client
from ccrag.engine.indexes import drop_index
from ccrag.evaluation.significance import FiguresPerQuery, matrix
from ccrag.indexing.build import index_documents
from ccrag.pipeline.factory import open_pipeline
from ccrag.types import JSON, Candidates, DocId, Query, QueryId, Result

NAME = "bench-reference"
BUDGETS = (1_000, 2_000, 4_000, 8_000)
GROUPS = ("several topics", "one topic")
ALL = ("rerank.shortlist=500", "retrieval.depth=500")
WAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "best passages": ("hybrid", (*ALL, "select.passages=500")),
    "passages + neighbours": ("hybrid", (*ALL, "select.passages=500", "select.neighbours=1")),
    "whole documents": ("longrag", (*ALL, "units.grouping=document", "units.count=500")),
    "units of the index": ("longrag", (*ALL, "units.within=index", "units.count=500")),
    "units of the candidates": ("longrag", (*ALL, "units.count=500")),
    "linked": ("linked", ()),
    "linked, but for the links": ("linked", ("linked.bonus=0", "linked.mention=0")),
    "linked, by words alone": ("linked", ("linked.scorer=lexical", "linked.mention=0")),
}
"""Pipeline and settings of each way; the first is what the others are compared with."""

Groups = Mapping[str, Sequence[QueryId]]
"""The ids of the questions in each group."""

Figures = dict[str, dict[int, dict[QueryId, float]]]
"""By way, budget and question: 1 if all quotes are in the context."""


def build_example(folder: Path, questions: Path | None = None) -> None:
    """The example's files, made by its own script, with its own questions or those of a file."""
    script = Path(__file__).parents[1] / "examples" / "python-reference" / "build.py"
    given = [] if questions is None else [str(questions)]
    command = [sys.executable, str(script), str(folder), *given]
    subprocess.run(command, check=True, capture_output=True)


def read_example(folder: Path) -> tuple[list[Query], Gold, dict[DocId, str]]:
    """Questions with gold quotes, the quotes, and the documents' texts."""
    gold: dict[QueryId, list[tuple[DocId, str]]] = {}
    for record in _lines(folder / "quotes.jsonl"):
        gold.setdefault(record["query_id"], []).append((record["doc_id"], record["quote"]))
    queries = [
        Query(r["query_id"], r["query"], Candidates.of(r["doc_ids"], query_id=r["query_id"]))
        for r in _lines(folder / "queries.jsonl")
        if r["query_id"] in gold
    ]
    return queries, gold, {r["id"]: r["text"] for r in _lines(folder / "documents.jsonl")}


def _lines(path: Path) -> Iterator[JSON]:
    return map(orjson.loads, path.read_bytes().splitlines())


def measure(queries: Sequence[Query], found: QuotesFound) -> Figures:
    """What every way finds at every budget."""
    figures: Figures = {}
    for state, (pipeline, overrides) in WAYS.items():
        for budget in BUDGETS:
            settings = load_settings(pipeline, [*overrides, f"budget.max_tokens={budget}"])
            asked = open_pipeline(settings, NAME).run(queries, answering=False)
            results = [outcome for outcome in asked if isinstance(outcome, Result)]
            figures.setdefault(state, {})[budget] = {
                result.query.query_id: found.all_in(
                    result.query.query_id, [result.passages[at] for at in result.read]
                )
                for result in results
            }
            sys.stderr.write(f"{state}, {budget}: {len(results)} questions\n")
    return figures


def table(figures: Figures, groups: Groups) -> Iterator[str]:
    """Markdown: a row a way, a column a budget, all groups in a cell."""
    heads = [f"{budget:,} tokens" for budget in BUDGETS]
    yield f"| context | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(BUDGETS)}"
    marks = {
        (group, budget): _marks({w: f[budget] for w, f in figures.items()}, ids)
        for group, ids in groups.items()
        for budget in BUDGETS
    }
    for state, by_budget in figures.items():
        cells = []
        for budget in BUDGETS:
            shares = (
                f"{share(by_budget[budget], ids):.3f}{marks[group, budget][state]}".lstrip("0")
                for group, ids in groups.items()
            )
            cells.append(" / ".join(shares))
        yield f"| {state} | {' | '.join(cells)} |"


def differences(figures: Figures, ids: Sequence[QueryId], state: str) -> Iterator[str]:
    """How far a way is from the best passages at each budget, with interval and p."""
    for budget in BUDGETS:
        runs: dict[str, FiguresPerQuery] = {
            name: {q: by[budget][q] for q in ids} for name, by in figures.items()
        }
        for found in matrix(runs, baseline=next(iter(runs))):
            if found.other == state:
                yield (
                    f"{state}, {budget:,} tokens: {found.difference:+.3f} "
                    f"[{found.low:+.3f}, {found.high:+.3f}], better on {found.higher}, worse on "
                    f"{found.lower} of {found.n}, p {found.p:.3f}, after Holm {found.p_holm:.3f}"
                )


def share(found: Mapping[QueryId, float], ids: Sequence[QueryId]) -> float:
    """Of the questions `ids`."""
    return sum(found[query_id] for query_id in ids) / len(ids)


def _marks(states: Mapping[str, Mapping[QueryId, float]], ids: Sequence[QueryId]) -> dict[str, str]:
    runs: dict[str, FiguresPerQuery] = {
        w: {q: found[q] for q in ids} for w, found in states.items()
    }
    marks = dict.fromkeys(runs, "")
    for comparison in matrix(runs, baseline=next(iter(runs))):
        if comparison.significant():
            marks[comparison.other] = " ▲" if comparison.difference > 0 else " ▼"
    return marks


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for; `words` instead of it, if given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="choose no settings")
    extent.add_argument("--questions", type=Path, metavar="FILE", help="ask these; choose nothing")
    given = parser.parse_args(words)
    if given.questions is not None and not given.questions.is_file():
        parser.error(f"--questions {given.questions}: no such file")
    return given


def grouped(queries: Sequence[Query], gold: Gold) -> Groups:
    """The questions by how many topics they need; a group that nobody is in is left out."""
    groups: dict[str, list[QueryId]] = {group: [] for group in GROUPS}
    for query in queries:
        topics = {doc_id for doc_id, _ in gold[query.query_id]}
        groups[GROUPS[0] if len(topics) > 1 else GROUPS[1]].append(query.query_id)
    return {group: ids for group, ids in groups.items() if ids}


def main() -> None:
    """Measure, choose, write."""
    given = arguments()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        build_example(folder, given.questions)
        queries, gold, texts = read_example(folder)
        for overrides in ([], ["units.grouping=document"]):
            index_documents(
                [folder / "documents.jsonl"], NAME, load_settings("linked", overrides), replace=True
            )
    found = QuotesFound(gold, texts)
    groups = grouped(queries, gold)
    figures = measure(queries, found)
    lines = report(figures, groups)
    write(given.out, lines, figures, groups)
    if not given.quick and given.questions is None:
        many = [query for query in queries if query.query_id in groups[GROUPS[0]]]
        lines += ["", *choose(many, found, NAME)]
        write(given.out, lines, figures, groups)
    sys.stdout.write("\n".join(lines) + "\n")
    drop_index(open_client(load_settings("linked")), NAME)


def report(figures: Figures, groups: Groups) -> list[str]:
    """How many questions there are, and the table."""
    counts = ", ".join(f"{len(ids)} that need {group}" for group, ids in groups.items())
    cell = "; both shares in a cell" if len(groups) > 1 else ""
    head = [f"Questions: {counts}{cell}.", "", *table(figures, groups), ""]
    return [*head, *differences(figures, next(iter(groups.values())), "linked")]


def write(out: Path, lines: Sequence[str], figures: Figures, groups: Groups) -> None:
    """Table, plot and the figures behind them."""
    panels = {
        f"{len(ids)} questions that need {group}": {
            state: [share(by_budget[budget], ids) for budget in BUDGETS]
            for state, by_budget in figures.items()
        }
        for group, ids in groups.items()
    }
    plain = {state: {str(b): found for b, found in by.items()} for state, by in figures.items()}
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "figures.json").write_bytes(orjson.dumps(plain))
    (out / "plot.svg").write_text(plot(panels, BUDGETS), encoding="utf-8")


if __name__ == "__main__":
    main()
