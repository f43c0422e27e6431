"""Scores and comparisons as JSON and as table rows, complete. Values in, values out; no files."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from ccrag.evaluation.outcome import Outcome
from ccrag.evaluation.scores import RunScores, Summary
from ccrag.evaluation.significance import LEVEL, Comparison
from ccrag.types import JSON

TableRow = list[str | float | None]


def outcome_json(outcome: Outcome) -> JSON:
    """Return every run's figures and every comparison, with what they were drawn from."""
    return {
        "baseline": outcome.baseline,
        "draws": outcome.draws,
        "seed": outcome.seed,
        "level": LEVEL,
        "runs": [
            scores_json(scores, outcome.summaries[name]) for name, scores in outcome.scores.items()
        ],
        "comparisons": [
            comparison_json(measure, comparison)
            for measure, comparisons in outcome.comparisons.items()
            for comparison in comparisons
        ],
    }


def scores_json(scores: RunScores, summary: Mapping[str, Summary]) -> JSON:
    """
    Return one run: each measure's mean, interval, n and figures, and all that was left out and why.
    """
    return {
        "run": scores.run,
        "measures": {
            name: summary_json(item)
            | {
                "per_query": dict(scores.per_query[name]),
                "without_figure": dict(scores.skipped[name]),
            }
            for name, item in summary.items()
        },
        "left_out": dict(scores.left_out),
        "notes": list(scores.notes),
    }


def summary_json(summary: Summary) -> JSON:
    """Return mean, interval and n; null where no query has a figure."""
    found = summary.interval
    return {
        "summary": summary.measure.summary,
        "higher_is_better": summary.measure.higher_is_better,
        "n": 0 if found is None else found.n,
        "mean": None if found is None else found.mean,
        "interval": None if found is None else [found.low, found.high],
    }


def comparison_json(measure: str, comparison: Comparison) -> JSON:
    """Return one comparison, with its measure."""
    return {"measure": measure, **asdict(comparison)}


def per_query_csv(runs: Iterable[RunScores]) -> str:
    """Return `per_query_rows` as CSV, lines ended by a line feed."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(per_query_rows(runs))
    return text.getvalue()


def per_query_rows(runs: Iterable[RunScores]) -> Iterator[TableRow]:
    """
    Yield a head, then a row per run and query, a column per measure that some run has.

    None where there is no figure; `scores_json` says why.
    """
    scored = list(runs)
    names = list(dict.fromkeys(name for scores in scored for name in scores.measures))
    yield ["run", "query_id", *names]
    for scores in scored:
        for query_id in scores.query_ids:
            figures = (scores.per_query.get(name, {}).get(query_id) for name in names)
            yield [scores.run, query_id, *figures]
