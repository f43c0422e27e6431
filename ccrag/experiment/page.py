"""The whole report as plain values: what the template shows, in the order it shows it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.evaluation.outcome import Outcome
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.significance import ALPHA, LEVEL
from ccrag.experiment import overview
from ccrag.experiment.differences import Difference, differences, most_different
from ccrag.experiment.loss_analysis import MEANING, LossStage
from ccrag.experiment.outcome import Experiment
from ccrag.experiment.overview import MeasureBlock, Remark, number
from ccrag.experiment.plots import DotPlot, Share, Strip, shares, strip
from ccrag.experiment.results import differing_settings
from ccrag.experiment.sections import QuerySection, StageTimes, section, stage_times
from ccrag.types import QueryId, is_passage_id
from ccrag.version import __version__

TOP = 5
"""Queries listed that a run wins or loses most."""


@dataclass(frozen=True, slots=True)
class ReportRun:
    """A run as the report's head lists it."""

    name: str
    summary: str
    folder: str
    baseline: bool
    passages: str
    """The index spec of its index."""
    failures: tuple[tuple[QueryId, str], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in which runs differ."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """Where what is relevant ended in a run."""

    run: str
    counts: tuple[int, ...]
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class QueryEntry:
    """A query in a list of wins or losses."""

    text: str
    value: str
    anchor: str
    """Of its section; nothing where it has none."""


@dataclass(frozen=True, slots=True)
class RunDifferences:
    """The queries that a run wins and loses against the baseline."""

    run: str
    strip: Strip
    entries: tuple[QueryEntry, ...]
    """All queries, greatest gain first; the strip's bars index them."""
    higher: tuple[QueryEntry, ...]
    lower: tuple[QueryEntry, ...]
    equal: int


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The report."""

    version: str
    index: str
    info: tuple[tuple[str, str], ...]
    runs: tuple[ReportRun, ...]
    settings: tuple[Setting, ...]
    blocks: tuple[MeasureBlock, ...]
    comparisons: tuple[overview.ComparedRow, ...]
    family: str
    left_out: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    plots: tuple[tuple[Measure, DotPlot], ...]
    alike: tuple[str, ...]
    """Measures on which no run differs: not plotted."""
    relevant: str
    """The level of the judgements: `documents`, `passages`, or both."""
    ends: tuple[LossStage, ...]
    """Those that occur."""
    meaning: Mapping[LossStage, str]
    losses: tuple[Losses, ...]
    times: StageTimes
    primary: Measure | None
    differences: tuple[RunDifferences, ...]
    sections: tuple[QuerySection, ...]
    queries: int
    baseline: str | None
    level: str
    """Of the intervals."""
    drawn: str
    alpha: str


def page_of(experiment: Experiment, *, primary: str | None, sections: int) -> ReportPage:
    """
    Return the report on `experiment`.

    Args:
        primary: the measure that sorts queries; None: they keep their order.
        sections: how many queries are shown in full, those first that differ most.
    """
    outcome = experiment.outcome
    shown = most_different(outcome, primary)[:sections]
    numbers = {query.query_id: at for at, query in enumerate(experiment.queries, start=1)}
    anchors = {query_id: f"q{numbers[query_id]}" for query_id in shown}
    by_id = {query.query_id: query for query in experiment.queries}
    ends = _ends(experiment)
    return ReportPage(
        version=__version__,
        index=experiment.index,
        info=_info(experiment),
        runs=_run_heads(experiment),
        settings=_settings(experiment),
        blocks=tuple(overview.matrix(outcome)),
        comparisons=tuple(overview.difference_rows(outcome)),
        family=_family(outcome),
        left_out=tuple(overview.left_out(outcome)),
        notes=tuple(overview.notes(outcome)),
        plots=tuple(overview.plots(outcome)),
        alike=tuple(overview.alike(outcome)),
        relevant=_kinds(experiment),
        ends=ends,
        meaning=MEANING,
        losses=tuple(_losses(experiment, run, ends) for run in outcome.scores),
        times=stage_times({run: experiment.seconds(run) for run in outcome.scores}),
        primary=None if primary is None else outcome.measures[primary],
        differences=tuple(_differences(experiment, primary, anchors)),
        sections=tuple(
            section(experiment, by_id[query_id], anchor=anchors[query_id], primary=primary)
            for query_id in shown
        ),
        queries=len(experiment.queries),
        baseline=outcome.baseline,
        level=f"{LEVEL:.0%}",
        drawn=f"{outcome.draws:,} draws, seed {outcome.seed}",
        alpha=f"{ALPHA:g}",
    )


def _info(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    gold = experiment.gold
    known = {
        "gold answers": gold.answers,
        "relevance judgements": gold.qrels,
        "gold quotes": gold.quotes,
        "answerability": gold.answerable,
    }
    index = experiment.runs[0].opened.index.info
    parts = [
        f"{name} of {sum(query_id in part for query_id in gold.queries)} queries"
        for name, part in known.items()
        if part is not None
    ]
    return (
        ("queries", f"{len(experiment.queries):,}"),
        ("index", f"{index.name}: {index.documents:,} documents"),
        ("known", ", ".join(parts) or "nothing: no gold data was given"),
    )


def _run_heads(experiment: Experiment) -> tuple[ReportRun, ...]:
    heads: list[ReportRun] = []
    for run in experiment.runs:
        info = run.opened.index.info
        heads.append(
            ReportRun(
                name=run.name,
                summary=run.settings.summary,
                folder=f"runs/{run.opened.planned.folder}",
                baseline=run.name == experiment.outcome.baseline,
                passages=f"{info.passages:,} ({info.spec.name})",
                failures=tuple((f.query_id, str(f.error)) for f in run.failures),
            )
        )
    return tuple(heads)


def _settings(experiment: Experiment) -> tuple[Setting, ...]:
    return tuple(
        Setting(name, tuple(_readable(value) for value in values.values()))
        for name, values in differing_settings(experiment).items()
    )


def _readable(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _family(outcome: Outcome) -> str:
    sizes = sorted({c.family for found in outcome.comparisons.values() for c in found})
    return " to ".join(str(size) for size in dict.fromkeys((*sizes[:1], *sizes[-1:])))


def _kinds(experiment: Experiment) -> str:
    passages = {
        is_passage_id(result.relevant_id)
        for queries in experiment.results.values()
        for query in queries.values()
        for result in query.relevant
    }
    names = ["passages" if kind else "documents" for kind in sorted(passages)]
    return " and ".join(names) or "documents"


def _ends(experiment: Experiment) -> tuple[LossStage, ...]:
    occurring = {end for run in experiment.results for end in experiment.losses(run)}
    return tuple(end for end in LossStage if end in occurring)


def _losses(experiment: Experiment, run: str, ends: Sequence[LossStage]) -> Losses:
    counts = experiment.losses(run)
    return Losses(
        run,
        tuple(counts[end] for end in ends),
        shares([(end.value, counts[end]) for end in ends]),
    )


def _differences(
    experiment: Experiment, primary: str | None, anchors: Mapping[QueryId, str]
) -> list[RunDifferences]:
    """Return every run but the baseline; none where nothing sorts queries or there is one run."""
    outcome = experiment.outcome
    if primary is None or outcome.baseline is None:
        return []
    baseline = outcome.baseline
    found = {
        run: differences(outcome, primary, run, baseline)
        for run in outcome.scores
        if run != baseline
    }
    most = max((abs(item.value) for items in found.values() for item in items), default=0.0)
    texts = {query.query_id: query.text for query in experiment.queries}
    return [_run_differences(run, items, most, texts, anchors) for run, items in found.items()]


def _run_differences(
    run: str,
    items: Sequence[Difference],
    most: float,
    texts: Mapping[QueryId, str],
    anchors: Mapping[QueryId, str],
) -> RunDifferences:
    entries = tuple(
        QueryEntry(
            texts[item.query_id], number(item.value, sign=True), anchors.get(item.query_id, "")
        )
        for item in items
    )
    higher = sum(item.value > 0 for item in items)
    lower = sum(item.value < 0 for item in items)
    return RunDifferences(
        run=run,
        strip=strip([item.value for item in items], most=most),
        entries=entries,
        higher=entries[: min(higher, TOP)],
        lower=tuple(reversed(entries[len(entries) - min(lower, TOP) :])),
        equal=len(items) - higher - lower,
    )
