"""
Means over groups of queries: over each, over all queries, and over the groups. Pure.

The last two differ when groups differ in size: over all queries, a large group counts more.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from ccrag.evaluation.outcome import Outcome
from ccrag.evaluation.scores import RunScores
from ccrag.evaluation.significance import FiguresPerQuery
from ccrag.types import JSON, QueryId


@dataclass(frozen=True, slots=True)
class GroupMean:
    """One group's mean over the queries that have a figure."""

    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """One measure of one run; groups without a figure are left out everywhere."""

    groups: Mapping[str, GroupMean]
    """By name, in alphabetical order."""

    @property
    def over_queries(self) -> GroupMean | None:
        """Return the mean in which every query counts the same; None without any figure."""
        n = sum(group.n for group in self.groups.values())
        total = fsum(group.mean * group.n for group in self.groups.values())
        return GroupMean(total / n, n) if n else None

    @property
    def over_groups(self) -> float | None:
        """Return the mean in which every group counts the same; None without any figure."""
        means = [group.mean for group in self.groups.values()]
        return fsum(means) / len(means) if means else None


def group_means(figures: FiguresPerQuery, groups: Mapping[QueryId, str]) -> GroupMeans:
    """
    Return the means of `figures` by the group of each query; queries of no group are left out.
    """
    found: defaultdict[str, list[float]] = defaultdict(list)
    for query_id, figure in figures.items():
        if figure is not None and query_id in groups:
            found[groups[query_id]].append(figure)
    return GroupMeans(
        {
            name: GroupMean(fsum(found[name]) / len(found[name]), len(found[name]))
            for name in sorted(found)
        }
    )


def grouped(scores: RunScores, groups: Mapping[QueryId, str]) -> dict[str, GroupMeans]:
    """Return every measure of a run by group."""
    return {name: group_means(figures, groups) for name, figures in scores.per_query.items()}


def groups_part(outcome: Outcome, groups: Mapping[QueryId, str]) -> JSON:
    """Return what the JSON of an outcome has beside it when there are groups; else nothing."""
    if not groups:
        return {}
    runs = outcome.scores.items()
    return {"by_collection": {name: groups_json(grouped(run, groups)) for name, run in runs}}


def groups_json(means: Mapping[str, GroupMeans]) -> JSON:
    """Measure → each group's mean and n, the mean over queries, and that over groups."""
    return {
        measure: {
            "groups": {name: {"mean": g.mean, "n": g.n} for name, g in found.groups.items()},
            "over_queries": found.over_queries and found.over_queries.mean,
            "over_groups": found.over_groups,
        }
        for measure, found in means.items()
    }
