"""Print the measures of one run, or of several side by side with their differences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_uppercase
from typing import Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ccrag.cli.render import clean, console
from ccrag.evaluation.outcome import Outcome
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.scores import RunScores, Summary
from ccrag.evaluation.significance import ALPHA, LEVEL, Comparison

NOTHING = "–"
LARGE = 10
"""From here on one decimal is enough."""
RUNS_ABREAST = 6
"""Columns of figures that fit a hundred characters."""


def show(outcome: Outcome) -> None:
    """Print the outcome on stdout."""
    parts = _one_run(outcome) if len(outcome.scores) == 1 else _several_runs(outcome)
    console().print(Group(*parts))


def _one_run(outcome: Outcome) -> list[RenderableType]:
    (scores,) = outcome.scores.values()
    table = _table("measure", "mean", f"{LEVEL:.0%} interval", "queries")
    table.add_column("without a figure", style="dim")
    for name, summary in outcome.summaries[scores.run].items():
        table.add_row(name, *_mean_cells(summary), _without(summary.skipped))
    head = Text.assemble((clean(scores.run), "bold"), f"  {len(scores.query_ids)} queries")
    return [
        *(head, Text(), table, Text()),
        *_left_out([scores]),
        *_notes([scores]),
        _drawn(outcome),
    ]


def _several_runs(outcome: Outcome) -> list[RenderableType]:
    letters = dict(zip(outcome.scores, _letters(len(outcome.scores)), strict=True))
    runs = list(outcome.scores.values())
    return [
        _legend(outcome, letters),
        Text(),
        *_overview(outcome, letters),
        *_undefined(outcome),
        *_left_out(runs),
        *_notes(runs),
        *_differences(outcome, letters),
        _key(outcome, letters),
        _drawn(outcome),
    ]


def _letters(count: int) -> list[str]:
    """A, B, …, Z, A2, B2, …"""
    return [
        ascii_uppercase[at % 26] + (str(at // 26 + 1) if at >= 26 else "") for at in range(count)
    ]


def _legend(outcome: Outcome, letters: Mapping[str, str]) -> RenderableType:
    legend = Table(show_header=False, box=None, padding=(0, 1))
    for name, letter in letters.items():
        role = "baseline" if name == outcome.baseline else ""
        legend.add_row(Text(letter, style="bold cyan"), Text(clean(name)), Text(role, style="dim"))
    return legend


def _overview(outcome: Outcome, letters: Mapping[str, str]) -> Iterator[RenderableType]:
    """A row a measure, a column a run, marked where it differs from the baseline."""
    runs = list(letters)
    for start in range(0, len(runs), RUNS_ABREAST):
        yield _abreast(outcome, {run: letters[run] for run in runs[start : start + RUNS_ABREAST]})
        yield Text()


def _abreast(outcome: Outcome, letters: Mapping[str, str]) -> Table:
    table = _table("measure", *letters.values(), "queries")
    marks = {
        (measure, comparison.other): _mark(outcome.measures[measure], comparison)
        for measure, comparisons in outcome.comparisons.items()
        for comparison in comparisons
        if outcome.baseline is not None
    }
    for name in outcome.measures:
        summaries = [outcome.summaries[run].get(name) for run in letters]
        cells = [
            Text.assemble(_mean(summary), marks.get((name, run), "  "))
            for run, summary in zip(letters, summaries, strict=True)
        ]
        table.add_row(name, *cells, _counts(summaries))
    return table


def _differences(outcome: Outcome, letters: Mapping[str, str]) -> list[RenderableType]:
    """A row a comparison; pairs that are equal on every query are listed below instead."""
    table = _table("measure", "runs", "difference", f"{LEVEL:.0%} interval", "p Holm", "d", "↑ ↓ =")
    same: dict[str, list[str]] = defaultdict(list)
    for name, comparisons in outcome.comparisons.items():
        differing = [c for c in comparisons if c.equal < c.n]
        for at, comparison in enumerate(differing):
            cells = _difference_cells(comparison, _mark(outcome.measures[name], comparison))
            table.add_row("" if at else name, _pair(comparison, letters), *cells)
        if differing:
            table.add_section()
        equal = [_pair(c, letters) for c in comparisons if c.equal == c.n]
        if equal:
            same[", ".join(equal)].append(name)
    parts: list[RenderableType] = [table, Text()] if table.row_count else []
    return [*parts, *_listed("No difference on any query", same)]


def _pair(comparison: Comparison, letters: Mapping[str, str]) -> str:
    return f"{letters[comparison.other]} − {letters[comparison.baseline]}"


def _difference_cells(comparison: Comparison, mark: Text) -> list[str | Text]:
    return [
        Text.assemble(_number(comparison.difference, sign="+"), mark),
        f"{_number(comparison.low)} … {_number(comparison.high)}",
        f"{comparison.p_holm:.4f}",
        NOTHING if comparison.effect is None else f"{comparison.effect:+.2f}",
        f"{comparison.higher} {comparison.lower} {comparison.equal}",
    ]


def _mark(measure: Measure, comparison: Comparison) -> Text:
    """▲ or ▼ where the difference is significant; green where that is better."""
    if not comparison.significant():
        return Text("  ")
    rises = comparison.difference > 0
    colour = "yellow"
    if measure.higher_is_better is not None:
        colour = "green" if rises == measure.higher_is_better else "red"
    return Text(" ▲" if rises else " ▼", style=colour)


def _key(outcome: Outcome, letters: Mapping[str, str]) -> Text:
    than = "the second run" if outcome.baseline is None else letters[outcome.baseline]
    families = {c.family for comparisons in outcome.comparisons.values() for c in comparisons}
    return Text(
        f"▲ ▼ higher, lower than {than}: p Holm < {ALPHA}, corrected over the "
        f"{_range(families)} comparisons of a measure, not over the measures. "
        "d: mean difference by its standard deviation. ↑ ↓ =: queries where the first is higher, "
        "lower, equal. Differences are over the queries for which both runs have a figure.",
        style="dim",
    )


def _drawn(outcome: Outcome) -> Text:
    tests = "" if len(outcome.scores) == 1 else ", p by flipping signs"
    return Text(
        f"Intervals by bootstrap over queries{tests}: {outcome.draws:,} draws, "
        f"seed {outcome.seed}.",
        style="dim",
    )


def _left_out(runs: Iterable[RunScores]) -> list[RenderableType]:
    reasons: dict[str, list[str]] = defaultdict(list)
    scored = list(runs)
    for scores in scored:
        for name, reason in scores.left_out.items():
            whose = "" if len(scored) == 1 else f"{clean(scores.run)} "
            everywhere = all(other.left_out.get(name) == reason for other in scored)
            label = name if everywhere else f"{whose}{name}"
            if label not in reasons[reason]:
                reasons[reason].append(label)
    return _listed("Left out", reasons)


def _undefined(outcome: Outcome) -> list[RenderableType]:
    """Per measure, in how many queries of a run there is no figure, and why."""
    reasons: dict[str, list[str]] = {}
    for name in outcome.measures:
        found = [run[name].skipped for run in outcome.summaries.values() if name in run]
        every = dict.fromkeys(reason for skipped in found for reason in skipped)
        if every:
            reasons[name] = [
                f"{_range({skipped.get(reason, 0) for skipped in found})} {reason}"
                for reason in every
            ]
    return _listed("Queries without a figure", reasons)


def _notes(runs: Iterable[RunScores]) -> list[RenderableType]:
    whose: dict[str, list[str]] = defaultdict(list)
    for scores in runs:
        for note in scores.notes:
            whose[note].append(clean(scores.run))
    return _listed("Notes", whose)


def _listed(title: str, entries: Mapping[str, Iterable[str]]) -> list[RenderableType]:
    if not entries:
        return []
    table = Table(show_header=False, box=None, padding=(0, 1))
    for entry, names in entries.items():
        table.add_row(Text(entry, style="dim"), Text(", ".join(names), style="dim"))
    return [Text(title, style="bold"), Padding(table, (0, 0, 0, 1)), Text()]


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column(first, no_wrap=True)
    for head in others:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _mean_cells(summary: Summary) -> tuple[str, str, str]:
    found = summary.interval
    if found is None:
        return NOTHING, NOTHING, "0"
    return _number(found.mean), f"{_number(found.low)} … {_number(found.high)}", str(found.n)


def _mean(summary: Summary | None) -> str:
    return (
        NOTHING if summary is None or summary.interval is None else _number(summary.interval.mean)
    )


def _without(skipped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in skipped.items())


def _counts(summaries: Iterable[Summary | None]) -> str:
    return _range({s.interval.n if s.interval else 0 for s in summaries if s is not None})


def _range(numbers: set[int]) -> str:
    if not numbers:
        return "0"
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def _number(value: float, *, sign: Literal["+", "-"] = "-") -> str:
    """Three decimals, one for large numbers; a rounded zero has no sign."""
    digits = 1 if abs(value) >= LARGE else 3
    rounded = round(value, digits)
    return f"{rounded:{sign}.{digits}f}" if rounded else f"{0:.{digits}f}"
