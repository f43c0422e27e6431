"""The measures by name."""

from collections.abc import Sequence

from ccrag.evaluation.registry import Measure

DEFAULT_RETRIEVAL = ("nDCG@10", "R@10", "P@1", "RR")


def default_measures() -> tuple[Measure, ...]:
    """Every measure of ours and the default retrieval measures, in the order of a report."""
    raise NotImplementedError


def select_measures(names: Sequence[str]) -> tuple[Measure, ...]:
    """
    The measures named, in that order; a name of none of ours is read as ir-measures reads it.

    With a ROUGE measure comes `question-rougeL`, for echoing the question scores high on ROUGE.

    Raises:
        InputError: a name means nothing.
    """
    raise NotImplementedError
