"""The report's tables and plots over all queries, as the template shows them. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ccrag.evaluation.outcome import Outcome
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.scores import Summary
from ccrag.evaluation.significance import Comparison
from ccrag.experiment.plots import DotPlot, Point, dot_plot

MEASURES_ABREAST = 6
"""Columns of figures that fit a page."""
LARGE = 10
"""From here on one decimal is enough."""
NOTHING = "–"


def number(value: float, *, sign: bool = False) -> str:
    """Return a figure as tables show it; a typographic minus."""
    digits = 1 if abs(value) >= LARGE else 3
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Cell:
    """A run's figure on a measure."""

    mean: str
    interval: str = ""
    kind: str = ""
    """`better`, `worse` or `differs` than the baseline, significantly; else nothing."""
    arrow: str = ""
    best: bool = False
    queries: str = ""
    """The number of queries with a figure, where not all have one."""


@dataclass(frozen=True, slots=True)
class MeasureBlock:
    """Some measures of all runs."""

    measures: tuple[Measure, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    """Run and its cells."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One comparison with the baseline, as a table row."""

    measure: str
    run: str
    difference: str
    interval: str
    p: str
    p_holm: str
    effect: str
    counts: str
    """Queries higher, lower and equal."""
    kind: str
    arrow: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know about some runs."""

    subject: str
    text: str
    runs: str
    """Whom it is about; nothing where it is about all."""


def matrix(outcome: Outcome) -> list[MeasureBlock]:
    """
    Return the figures of all runs, some measures abreast; those without any figure are left out.
    """
    measures = [
        measure for name, measure in outcome.measures.items() if _has_figures(outcome, name)
    ]
    compared = _compared(outcome)
    return [
        _block(outcome, measures[at : at + MEASURES_ABREAST], compared)
        for at in range(0, len(measures), MEASURES_ABREAST)
    ]


def _compared(outcome: Outcome) -> dict[tuple[str, str], Comparison]:
    """Return comparisons with the baseline, by measure and run."""
    return {
        (measure, comparison.other): comparison
        for measure, comparisons in outcome.comparisons.items()
        for comparison in comparisons
    }


def _block(
    outcome: Outcome,
    measures: Sequence[Measure],
    compared: Mapping[tuple[str, str], Comparison],
) -> MeasureBlock:
    best = {measure.name: _best(outcome, measure) for measure in measures}
    rows = tuple(
        (
            run,
            tuple(
                _cell(
                    outcome.summaries[run].get(measure.name),
                    kind_of(measure, compared.get((measure.name, run))),
                    best=run in best[measure.name],
                    queries=len(scores.query_ids),
                )
                for measure in measures
            ),
        )
        for run, scores in outcome.scores.items()
    )
    return MeasureBlock(tuple(measures), rows)


def _best(outcome: Outcome, measure: Measure) -> set[str]:
    """Return the runs with the best mean; none where no way is better or all are alike."""
    if measure.higher_is_better is None:
        return set()
    means = {
        run: summary.interval.mean
        for run, summaries in outcome.summaries.items()
        if (summary := summaries.get(measure.name)) and summary.interval
    }
    if len(set(means.values())) < 2:
        return set()
    wanted = max(means.values()) if measure.higher_is_better else min(means.values())
    return {run for run, mean in means.items() if mean == wanted}


def _cell(summary: Summary | None, kind: tuple[str, str], *, best: bool, queries: int) -> Cell:
    if summary is None or summary.interval is None:
        return Cell(NOTHING)
    found = summary.interval
    return Cell(
        mean=number(found.mean),
        interval=f"{number(found.low)} … {number(found.high)}",
        kind=kind[0],
        arrow=kind[1],
        best=best,
        queries="" if found.n == queries else f"{found.n} of {queries}",
    )


def kind_of(measure: Measure, comparison: Comparison | None) -> tuple[str, str]:
    """
    Tell whether a run is `better`, `worse` or neither, only `differs`; and which way, as an arrow.
    """
    if comparison is None or not comparison.significant():
        return "", ""
    rises = comparison.difference > 0
    arrow = "▲" if rises else "▼"
    if measure.higher_is_better is None:
        return "differs", arrow
    return ("better" if rises == measure.higher_is_better else "worse"), arrow


def difference_rows(outcome: Outcome) -> list[ComparedRow]:
    """Return every comparison with the baseline, measures in the order of the matrix."""
    return [
        _difference(outcome.measures[measure], comparison)
        for measure, comparisons in outcome.comparisons.items()
        for comparison in comparisons
    ]


def _difference(measure: Measure, comparison: Comparison) -> ComparedRow:
    kind, arrow = kind_of(measure, comparison)
    return ComparedRow(
        measure=measure.name,
        run=comparison.other,
        difference=number(comparison.difference, sign=True),
        interval=f"{number(comparison.low)} … {number(comparison.high)}",
        p=f"{comparison.p:.4f}",
        p_holm=f"{comparison.p_holm:.4f}",
        effect=NOTHING if comparison.effect is None else number(comparison.effect, sign=True),
        counts=f"{comparison.higher} / {comparison.lower} / {comparison.equal}",
        kind=kind,
        arrow=arrow,
    )


def _has_figures(outcome: Outcome, measure: str) -> bool:
    return any(
        (summary := summaries.get(measure)) is not None and summary.interval is not None
        for summaries in outcome.summaries.values()
    )


def alike(outcome: Outcome) -> list[str]:
    """Return the measures on which no run differs from the baseline on any query."""
    return [
        measure
        for measure, comparisons in outcome.comparisons.items()
        if all(comparison.equal == comparison.n for comparison in comparisons)
    ]


def plots(outcome: Outcome) -> list[tuple[Measure, DotPlot]]:
    """Return a plot for every measure that some run has a figure on, and on which runs differ."""
    compared = _compared(outcome)
    same = alike(outcome)
    return [
        (
            measure,
            dot_plot([_point(outcome, measure, run, compared) for run in outcome.scores]),
        )
        for name, measure in outcome.measures.items()
        if _has_figures(outcome, name) and name not in same
    ]


def _point(
    outcome: Outcome,
    measure: Measure,
    run: str,
    compared: Mapping[tuple[str, str], Comparison],
) -> Point:
    kind, _ = kind_of(measure, compared.get((measure.name, run)))
    kind = "baseline" if run == outcome.baseline else kind
    summary = outcome.summaries[run].get(measure.name)
    found = None if summary is None else summary.interval
    if found is None:
        return Point(run, None, kind=kind)
    return Point(run, found.mean, found.low, found.high, kind)


def left_out(outcome: Outcome) -> list[Remark]:
    """
    Return measures that could not be computed, and queries without a figure, with the reasons.
    """
    found = [
        (name, reason, run)
        for run, scores in outcome.scores.items()
        for name, reason in scores.left_out.items()
    ]
    found += [
        (name, f"no figure for {count} queries: {reason}", run)
        for run, summaries in outcome.summaries.items()
        for name, summary in summaries.items()
        for reason, count in summary.skipped.items()
    ]
    return _remarks(found, len(outcome.scores))


def notes(outcome: Outcome) -> list[Remark]:
    """Return what measuring wants known about the runs."""
    found = [("", note, run) for run, scores in outcome.scores.items() for note in scores.notes]
    return _remarks(found, len(outcome.scores))


def _remarks(found: Iterable[tuple[str, str, str]], runs: int) -> list[Remark]:
    """Return remarks with those they are about joined."""
    whose: dict[tuple[str, str], list[str]] = defaultdict(list)
    for subject, text, run in found:
        whose[subject, text].append(run)
    return [
        Remark(subject, text, "" if len(about) == runs else ", ".join(about))
        for (subject, text), about in whose.items()
    ]
