"""Several runs measured and compared: all that `ccrag eval` shows, in whatever form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ccrag.errors import InputError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.scores import RunScores, Summary, compare_runs, evaluate
from ccrag.evaluation.significance import DRAWS, SEED, Comparison


@dataclass(frozen=True, slots=True)
class Outcome:
    """Runs by name, in the order given."""

    scores: Mapping[str, RunScores]
    summaries: Mapping[str, Mapping[str, Summary]]
    """Run → measure → mean and interval."""
    comparisons: Mapping[str, tuple[Comparison, ...]]
    """Measure → comparisons, corrected together; no entry where fewer than two runs have it."""
    baseline: str | None
    """None: one run, or all pairs were compared."""
    draws: int
    seed: int

    @property
    def measures(self) -> dict[str, Measure]:
        """Return measures that some run has, by name, in the order asked for."""
        asked: dict[str, Measure] = {}
        for scores in self.scores.values():
            asked |= scores.measures
        return asked


def assess(
    runs: Sequence[RunData],
    gold: Gold,
    measures: Sequence[Measure],
    *,
    required: Collection[str] = (),
    baseline: str | None = None,
    all_pairs: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Outcome:
    """
    Measure `runs`, whose names differ, and compare them.

    Args:
        required: measures that a person asked for by name.
        baseline: the run the others are compared with; None: the first.
        all_pairs: compare every run with every other instead.

    Raises:
        InputError: no run, a baseline that is none of them, or one together with all pairs; or a
            required measure that no run can have.
    """
    names = [run.name for run in runs]
    chosen = _baseline(names, baseline, all_pairs=all_pairs)
    check_required(required, runs, gold, measures)
    scores = {run.name: evaluate(run, gold, measures) for run in runs}
    compared = {
        measure.name: compare_runs(scores, measure.name, baseline=chosen, draws=draws, seed=seed)
        for measure in measures
    }
    return Outcome(
        scores=scores,
        summaries={name: item.summary(draws=draws, seed=seed) for name, item in scores.items()},
        comparisons={name: found for name, found in compared.items() if found},
        baseline=chosen,
        draws=draws,
        seed=seed,
    )


def check_required(
    required: Collection[str], runs: Sequence[RunData], gold: Gold, measures: Sequence[Measure]
) -> None:
    """
    Let no measure that was asked for by name be missing from all runs.

    Raises:
        InputError: one is; the message says what it needs.
    """
    for measure in measures:
        obstacles = [measure.obstacle(run, gold) for run in runs]
        if measure.name in required and all(obstacles):
            raise InputError(f"measure {measure.name} {obstacles[0]}")


def _baseline(names: Sequence[str], baseline: str | None, *, all_pairs: bool) -> str | None:
    if not names:
        raise InputError("no runs to measure; give a run's folder")
    if baseline is not None and all_pairs:
        raise InputError("all pairs have no baseline; give one of --baseline, --all-pairs")
    if baseline is not None and baseline not in names:
        raise InputError(f"no run is called {baseline!r}; there are {', '.join(names)}")
    return None if all_pairs or len(names) < 2 else baseline or names[0]
