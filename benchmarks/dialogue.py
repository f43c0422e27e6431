"""
What each variant of a dialogue, and each way to merge their lists, finds:
`python -m benchmarks.dialogue FOLDER`, a folder with `tasks.jsonl` (MTRAGEval's tasks with the ids
of their relevant passages) and `corpus/COLLECTION.jsonl`.

Every list is the engine's, retrieved once to its full depth; merges are the pipeline's functions.
Prints Markdown. ▲▼: differs from the question alone in the same column, p < .05 by paired
randomisation with Holm's correction over the table. Then the lists and the constant of the fusion
are chosen by cross-validation over conversations: what a choice scores on conversations that it did
not see, and what is chosen on all of them.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.choosing import FOLDS, REPEATS, cross_validate
from benchmarks.dialogue_lists import BM25, DECAYS, DENSE, Lists, retrieve
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.mtrag import read_relevant
from ccrag.evaluation.retrieval import retrieval_measure
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.significance import FiguresPerQuery, matrix
from ccrag.formats.trec_run import QrelsByQuery
from ccrag.retrieval.fusion import highest, rrf
from ccrag.types import QueryId, Ranking

MEASURES = ("nDCG@5", "R@10")
PUBLISHED_DEPTH = 10
SHIPPED_K = 5
Merge = Callable[[Sequence[Ranking]], Ranking]
Row = tuple[str, str, Mapping[str, FiguresPerQuery]]
"""Section, name, and a figure per query for each measure."""


class Scorer:
    """The measures of one ranking per query."""

    def __init__(self, qrels: QrelsByQuery) -> None:
        self._gold = Gold(dict.fromkeys(qrels, ""), qrels=qrels)
        self._measures = {name: retrieval_measure(name) for name in MEASURES}

    def __call__(self, rankings: Mapping[QueryId, Ranking]) -> dict[str, FiguresPerQuery]:
        ranked = {
            query_id: tuple((hit.doc_id, hit.score) for hit in ranking)
            for query_id, ranking in rankings.items()
        }
        run = RunData("", rankings=ranked)
        return {
            name: {
                q: f for q, f in measure.figures(run, self._gold).items() if isinstance(f, float)
            }
            for name, measure in self._measures.items()
        }


def merged(lists: Lists, names: Sequence[str], merge: Merge) -> dict[QueryId, Ranking]:
    """One ranking per query from the lists called `names`."""
    return {query_id: merge([held[name] for name in names]) for query_id, held in lists.items()}


def by_rrf(k: int, *weights: float) -> Merge:
    return lambda rankings: rrf(rankings, k=k, weights=weights or None)


def published(rankings: Sequence[Ranking]) -> Ranking:
    """Ten of each list, merged by the highest score."""
    return highest([ranking.top(PUBLISHED_DEPTH) for ranking in rankings])


def rows(lists: Lists, score: Scorer) -> Iterator[Row]:
    """Every variant by source, then every merge."""
    for variant in BM25:
        yield "BM25", variant, score(merged(lists, [f"bm25:{variant}"], by_rrf(SHIPPED_K)))
    for variant in DENSE:
        yield "dense", variant, score(merged(lists, [f"dense:{variant}"], by_rrf(SHIPPED_K)))
    for variant in DENSE:
        both = [f"bm25:{variant}", f"dense:{variant}"]
        yield "hybrid", variant, score(merged(lists, both, by_rrf(SHIPPED_K)))
    for source in ("bm25", "dense"):
        two = [f"{source}:original", f"{source}:rewrite"]
        name = f"{source}: question and rewrite"
        yield "merges", f"{name}, highest of 10", score(merged(lists, two, published))
        yield "merges", f"{name}, RRF", score(merged(lists, two, by_rrf(SHIPPED_K)))
    for name, names in (
        ("question and rewrite", ["original", "rewrite"]),
        ("last two and decayed", ["last-two", "decayed"]),
        ("decayed and rewrite", ["decayed", "rewrite"]),
    ):
        four = [f"{source}:{variant}" for source, variant in product(("bm25", "dense"), names)]
        for k in (SHIPPED_K, 60):
            yield "merges", f"both: {name}, RRF k={k}", score(merged(lists, four, by_rrf(k)))
    weights = (1.0, 1.0, 0.5, 0.5), (0.5, 0.5, 1.0, 1.0)
    for weight in weights:
        name = f"both: decayed and rewrite, weighted {weight[0]:g}/{weight[2]:g}"
        yield "merges", name, score(merged(lists, four, by_rrf(SHIPPED_K, *weight)))


def table(found: Sequence[Row]) -> Iterator[str]:
    """The rows as Markdown, with marks of significance against the question alone by BM25."""
    marks = {measure: _marks(found, measure) for measure in MEASURES}
    yield f"| lists | {' | '.join(MEASURES)} |"
    yield f"|---|{'---|' * len(MEASURES)}"
    for at, (section, name, figures) in enumerate(found):
        cells = (f"{_mean(figures[m]):.3f}{marks[m][at]}".lstrip("0") for m in MEASURES)
        yield f"| {section}: {name} | {' | '.join(cells)} |"


def _marks(found: Sequence[Row], measure: str) -> list[str]:
    runs = {str(at): figures[measure] for at, (_, _, figures) in enumerate(found)}
    marks = dict.fromkeys(runs, "")
    for comparison in matrix(runs, baseline="0"):
        if comparison.significant():
            marks[comparison.other] = " ▲" if comparison.difference > 0 else " ▼"
    return list(marks.values())


def _mean(figures: FiguresPerQuery) -> float:
    return float(np.mean([figure for figure in figures.values() if figure is not None]))


def choose(by_decay: Mapping[str, Lists], score: Scorer) -> Iterator[str]:
    """Cross-validate the choice of decay, lists and RRF's k, all at once."""
    names, figures = zip(*_choices(by_decay, score), strict=True)
    values = np.array(figures)  # choices × queries × measures
    unseen, picked = cross_validate(names, values)
    yield f"{len(names)} choices, {FOLDS} folds, {REPEATS} repeats; on conversations not seen:"
    yield ", ".join(f"{m} {v:.3f}" for m, v in zip(MEASURES, unseen, strict=True))
    yield "chosen most often: " + "; ".join(f"{n} ({c})" for n, c in picked.most_common(3))


def _choices(
    by_decay: Mapping[str, Lists], score: Scorer
) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    variants: Iterable[tuple[str, ...]] = (("decayed",), ("rewrite",), ("decayed", "rewrite"))
    for (decay, lists), bm25, dense, k in product(
        by_decay.items(), variants, list(variants), (3, 5, 10, 20, 60)
    ):
        names = [*(f"bm25:{w}" for w in bm25), *(f"dense:{w}" for w in dense)]
        found = score(merged(lists, names, by_rrf(k)))
        per_query = [tuple(found[m][q] or 0.0 for m in MEASURES) for q in found[MEASURES[0]]]
        yield f"{' '.join(names)}, decay {decay}, k={k}", per_query


def main() -> None:
    """Print the table and what cross-validation chooses."""
    folder = Path(sys.argv[1])
    score = Scorer(read_relevant(folder / "tasks.jsonl"))
    by_decay = retrieve(folder)
    shipped = by_decay[DECAYS[0]]
    lines = [*table(list(rows(shipped, score))), "", *choose(by_decay, score)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
