"""BERTScore against the gold answer, through the bert-score package and a model in a folder."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ccrag.errors import ModelError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import FigureOrGap, FiguresByQuery, LeftOut, Measure, Need
from ccrag.evaluation.rundata import RunData

NAME = "bertscore"
NOT_GIVEN = "needs bert-score (pip install bert-score) and a model's folder (--bertscore)"

BertScorer = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""F1 of each text against the target in its place."""


def load_bert_scorer(folder: Path, *, layers: int) -> BertScorer:
    """
    Return BERTScore F1, not rescaled, by the model in `folder`, read at its layer `layers`.

    Raises:
        ModelError: bert-score is not installed, or the model cannot be loaded.
    """
    try:
        scorer_class = import_module("bert_score").BERTScorer
    except ImportError as error:
        raise ModelError(f"BERTScore {NOT_GIVEN}") from error
    try:
        scorer = scorer_class(model_type=str(folder), num_layers=layers)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{folder} cannot be loaded for BERTScore: {reason}") from error

    def score(texts: Sequence[str], targets: Sequence[str]) -> list[float]:
        f1: Any = scorer.score(list(texts), list(targets))[2]
        return [float(value) for value in f1]

    return score


def bertscore_measure(scorer: BertScorer | None) -> Measure:
    """Return the measure; without a scorer it is left out and says so. An empty answer scores 0."""
    return Measure(
        name=NAME,
        summary="BERTScore F1 with the gold answer, not rescaled",
        needs=(Need.ANSWERS, Need.GOLD_ANSWERS),
        higher_is_better=True,
        figures=lambda run, gold: _figures(scorer, run, gold) if scorer else {},
        unavailable=None if scorer else NOT_GIVEN,
    )


def _figures(scorer: BertScorer, run: RunData, gold: Gold) -> FiguresByQuery:
    """Score all answers in one call: models are slow one text at a time."""
    answers = gold.answers or {}
    figures: dict[str, FigureOrGap] = {q: LeftOut("no gold answer") for q in gold.queries}
    figures |= {query_id: 0.0 for query_id in gold.queries if query_id in answers}
    texts = {q: run.answer(q).text for q in gold.queries if q in answers}
    scored = [query_id for query_id, text in texts.items() if text.strip()]
    if scored:
        values = scorer([texts[q] for q in scored], [answers[q] for q in scored])
        figures |= dict(zip(scored, values, strict=True))
    return figures
