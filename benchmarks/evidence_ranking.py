"""
Measure the learnt ranking of evidence sentences, and what each group of its features adds.

    python -m benchmarks.evidence_ranking LEARN HELD_OUT --index NAME [--plot FILE.svg]

LEARN and HELD_OUT are folders that `examples/python-reference/build.py` makes, of questions over
the documents that the index NAME holds for the pipeline `best`. Prints the share of gold quotes in
the best sentences: by RRF of BM25 and cosine, and as learnt (LEARN by cross-validation).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.unit_plot import plot
from ccrag.answering.sentence_features import Column
from ccrag.config.load import load_settings
from ccrag.corpus.queries import read_queries
from ccrag.evaluation.run_files import read_quotes
from ccrag.evaluation.significance import compare
from ccrag.pipeline.factory import open_to_train_evidence
from ccrag.training.sentence_ranker import (
    FOLDS,
    REPEATS,
    JudgedQuestion,
    fit,
    judge_questions,
    scores_of,
)
from ccrag.types import Candidates, QueryId

BUDGETS = (5, 10, 20, 40)
SHOWN = 10
GROUPS = {
    "words": ("bm25", "bm25_rank", "bm25_in_context"),
    "cosine": ("cosine", "cosine_rank"),
    "tokens": ("tokens", "tokens_rank", "tokens_top"),
    "neighbours": ("bm25_neighbours", "cosine_neighbours", "tokens_neighbours"),
    "passage": ("passage_rank",),
    "parts": ("bm25_part_top", "tokens_part", "tokens_part_top"),
    "form": ("code", "ends", "length", "short", "first"),
}

Recalls = dict[QueryId, float]


def main() -> None:
    """Print all tables, and write the plot."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("learn", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("--index", required=True)
    parser.add_argument("--plot", type=Path)
    chosen = parser.parse_args()
    learn, held = judged(chosen.learn, chosen.index), judged(chosen.held_out, chosen.index)
    lines = budgets(learn, held)
    if chosen.plot is not None:
        chosen.plot.write_text(plot(lines, BUDGETS, axis="sentences shown"), encoding="utf-8")
    same_length(learn, held)
    ablation(learn, held)


def judged(folder: Path, index: str) -> list[JudgedQuestion]:
    """Return the questions of `folder` with the sentences that `best` reads for them."""
    settings = load_settings("best", ["evidence.scorer=fused", "answer.document_ratio=0"])
    pipeline, selector = open_to_train_evidence(settings, index)
    queries = read_queries(folder / "queries.jsonl", whole_index=False)
    quotes = read_quotes(folder / "quotes.jsonl")
    doc_ids = sorted({quote.doc_id for wanted in quotes.values() for quote in wanted})
    held = pipeline.index.documents(Candidates.whole_index(), doc_ids)
    texts = {doc_id: document.text for doc_id, document in held.items()}
    return judge_questions(pipeline, selector, list(queries), quotes, texts)


def budgets(
    learn: Sequence[JudgedQuestion], held: Sequence[JudgedQuestion]
) -> Mapping[str, Mapping[str, list[float]]]:
    """Print recall by the number of sentences; return the lines of the plot."""
    table = Table("sentences", "LEARN: RRF", "learnt", "HELD OUT: RRF", "learnt", "p", box=None)
    lines: dict[str, dict[str, list[float]]] = {
        name: {"RRF of BM25 and cosine": [], "learnt": []} for name in ("learnt from", "held out")
    }
    for at_most in BUDGETS:
        cells = []
        for name, found in (
            ("learnt from", (recalls(learn, rrf, at_most), cross_validated(learn, at_most))),
            ("held out", (recalls(held, rrf, at_most), transferred(learn, held, at_most))),
        ):
            for line, values in zip(lines[name].values(), found, strict=True):
                line.append(mean(values))
                cells.append(f"{mean(values):.3f}")
        compared = compare(*found)
        table.add_row(str(at_most), *cells, "" if compared is None else f"{compared.p:.4f}")
    Console().print(table)
    return lines


def same_length(learn: Sequence[JudgedQuestion], held: Sequence[JudgedQuestion]) -> None:
    """Print recall in as many characters as RRF's ten sentences have."""
    ranking = fit(learn, {})
    own, learnt = {}, {}
    for one in held:
        room = sum(end - start for _, start, end in spans(one, rrf(one), SHOWN))
        taken = 0
        for count in range(1, len(one.candidates) + 1):
            size = sum(e - s for _, s, e in spans(one, scores_of(ranking, one), count))
            if size > room:
                break
            taken = count
        own[one.query_id] = one.recall(one.best(rrf(one), SHOWN)) or 0.0
        learnt[one.query_id] = one.recall(one.best(scores_of(ranking, one), taken)) or 0.0
    compared = compare(own, learnt)
    p = "" if compared is None else f", p = {compared.p:.4f}"
    print_line(f"held out, in as many characters: {mean(own):.3f} and {mean(learnt):.3f}{p}")


def ablation(learn: Sequence[JudgedQuestion], held: Sequence[JudgedQuestion]) -> None:
    """Print recall in ten sentences without each group of features."""
    table = Table("without", "LEARN", "p", "HELD OUT", "p", box=None)
    whole = cross_validated(learn, SHOWN), transferred(learn, held, SHOWN)
    table.add_row("nothing", f"{mean(whole[0]):.3f}", "", f"{mean(whole[1]):.3f}", "")
    for name, group in GROUPS.items():
        less_learn, less_held = without(learn, group), without(held, group)
        less = cross_validated(less_learn, SHOWN), transferred(less_learn, less_held, SHOWN)
        cells = []
        for all_of_it, part in zip(whole, less, strict=True):
            compared = compare(all_of_it, part)
            cells += [f"{mean(part):.3f}", "" if compared is None else f"{compared.p:.4f}"]
        table.add_row(name, *cells)
    Console().print(table)


def rrf(one: JudgedQuestion) -> Column:
    """Return the reciprocal rank fusion (k = 20) of BM25 and cosine."""
    return one.features["bm25_rank"] + one.features["cosine_rank"]


def recalls(
    judged: Sequence[JudgedQuestion], scores: Callable[[JudgedQuestion], Column], at_most: int
) -> Recalls:
    """Return the recall of each question, by `scores` of its sentences."""

    found = {one.query_id: one.recall(one.best(scores(one), at_most)) for one in judged}
    return {query_id: recall for query_id, recall in found.items() if recall is not None}


def transferred(
    learn: Sequence[JudgedQuestion], held: Sequence[JudgedQuestion], at_most: int
) -> Recalls:
    """Return the recall of `held` by what was learnt from `learn`."""
    ranking = fit(learn, {})
    return recalls(held, lambda one: scores_of(ranking, one), at_most)


def cross_validated(judged: Sequence[JudgedQuestion], at_most: int) -> Recalls:
    """Return the mean recall of each question by what was learnt without it."""
    held: dict[QueryId, list[float]] = {}
    for repeat in range(REPEATS):
        order = np.random.default_rng(repeat).permutation(len(judged))
        for fold in np.array_split(order, FOLDS):
            rest = [judged[at] for at in order if at not in set(fold.tolist())]
            for query_id, recall in transferred(rest, [judged[at] for at in fold], at_most).items():
                held.setdefault(query_id, []).append(recall)
    return {query_id: float(np.mean(values)) for query_id, values in held.items()}


def without(judged: Sequence[JudgedQuestion], group: Sequence[str]) -> list[JudgedQuestion]:
    """Return the questions without some features."""
    return [
        replace(one, features={n: v for n, v in one.features.items() if n not in group})
        for one in judged
    ]


def spans(one: JudgedQuestion, scores: Column, at_most: int) -> list[tuple[str, int, int]]:
    """Return where the best sentences stand."""
    return [(item.doc_id, item.start, item.end) for item in one.best(scores, at_most)]


def mean(values: Recalls) -> float:
    return float(np.mean(list(values.values())))


def print_line(text: str) -> None:
    Console().print(text, highlight=False)


if __name__ == "__main__":
    main()
