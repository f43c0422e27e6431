"""Print the measures of `ccrag eval` by collection: each mean, and both means over them."""

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ccrag.cli.render import clean, console
from ccrag.evaluation.groups import GroupMeans, grouped
from ccrag.evaluation.outcome import Outcome
from ccrag.types import QueryId

NOTHING = "–"


def show(outcome: Outcome, groups: Mapping[QueryId, str]) -> None:
    """Print a table per run on stdout; nothing without groups."""
    if not groups:
        return
    parts: list[RenderableType] = []
    for name, scores in outcome.scores.items():
        parts += [Text(), Text.assemble((clean(name), "bold"), " by collection")]
        parts.append(_table(grouped(scores, groups), sorted(set(groups.values()))))
    key = "all tasks: every task counts the same; collections: the mean of the collections' means"
    console().print(Group(*parts, Text(key, style="dim")))


def _table(means: Mapping[str, GroupMeans], names: list[str]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("measure", no_wrap=True)
    for head in (*map(clean, names), "all tasks", "collections", "tasks"):
        table.add_column(head, justify="right", no_wrap=True)
    for measure, found in means.items():
        overall = found.over_queries
        table.add_row(
            measure,
            *(_number(found.groups[name].mean if name in found.groups else None) for name in names),
            _number(overall.mean if overall else None),
            _number(found.over_groups),
            str(overall.n if overall else 0),
        )
    return table


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
