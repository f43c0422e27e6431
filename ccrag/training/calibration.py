"""From judged queries and a pipeline to the calibration of its answerability decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ccrag.answering.answerability import AnswerabilityFeatures
from ccrag.answering.calibration import Calibration
from ccrag.config import PipelineSettings
from ccrag.errors import InputError
from ccrag.evaluation.abstention_metrics import (
    NEVER,
    Array,
    Decisions,
    Sample,
    against_never,
    decisions,
    ranked_right,
)
from ccrag.evaluation.mtrag import conversation_of
from ccrag.evaluation.significance import Comparison
from ccrag.pipeline.abstention import FeatureExtractor
from ccrag.pipeline.calibrations import made_with
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure, QueryState
from ccrag.training.logistic import (
    SEED,
    Fitted,
    JudgedQuery,
    fit,
    held_out,
    held_out_by,
    probabilities,
    sample_of,
)
from ccrag.types import JSON, Query, QueryId

THRESHOLDS = (0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True)
class HeldOutDecisions:
    """Decisions on queries that they were not learnt from."""

    sample: Sample
    said: Array
    """`(repeats, n_queries)`: probabilities, each by what was learnt without the query's group."""
    by_collection: Mapping[str, tuple[Sample, Array]]
    """Each collection's queries, `(1, n_queries)`: by what was learnt from the others alone."""
    unjudged: Array
    """Probabilities for queries of neither kind, by what was learnt from all judged ones."""

    def at(self, threshold: float) -> Decisions:
        """Return the decisions from this probability on."""
        return decisions(self.sample, self.said, threshold=threshold)

    def never(self) -> Decisions:
        """Return the trivial rule: never abstain."""
        return self.at(NEVER)

    def always(self) -> Decisions:
        """Return the other one: abstain from everything."""
        return self.at(0.0)

    def against_never(self, threshold: float) -> Comparison | None:
        """Return accuracy against that of never abstaining."""
        return against_never(self.sample, self.said, threshold=threshold)

    def ranked_right(self) -> float:
        """See `deciding.ranked_right`."""
        return ranked_right(self.sample, self.said)


def measure(
    pipeline: Pipeline,
    extractor: FeatureExtractor,
    queries: Sequence[Query],
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> dict[QueryId, AnswerabilityFeatures]:
    """
    Return the features of each query.

    Args:
        pipeline: one that writes nothing, see `opening.open_to_calibrate`.

    Raises:
        CcragError: whatever kept a query from its evidence; a calibration leaves none out.
    """
    found: dict[QueryId, AnswerabilityFeatures] = {}

    def on_stage(stage: str, states: Sequence[QueryState]) -> None:
        if stage == "evidence":
            ids = [state.query_id for state in states]
            found.update(zip(ids, extractor.features(states), strict=True))

    for done, outcome in enumerate(pipeline.run(queries, on_stage=on_stage), start=1):
        if isinstance(outcome, Failure):
            raise outcome.error
        on_progress(done)
    return found


def calibrate(
    features: Mapping[QueryId, AnswerabilityFeatures],
    queries: Sequence[Query],
    answerable: Mapping[QueryId, bool],
    *,
    seed: int = SEED,
) -> tuple[Fitted, HeldOutDecisions]:
    """
    Return what is learnt from all queries that are judged, and what that is worth on others.

    Raises:
        InputError: none of the queries is judged, or too few are of one kind.
    """
    judged = [query for query in queries if query.query_id in answerable]
    if not judged:
        raise InputError("it is known of none of the queries whether its candidates answer it")
    sample = sample_of(
        JudgedQuery(
            query.query_id,
            conversation_of(query.query_id),
            features[query.query_id],
            not answerable[query.query_id],
        )
        for query in judged
    )
    fitted = fit(sample, seed=seed)
    rest = [query for query in queries if query.query_id not in answerable]
    return fitted, HeldOutDecisions(
        sample=sample,
        said=held_out(sample, seed=seed),
        by_collection=_by_collection(sample, judged),
        unjudged=_said_of(fitted, sample, [features[query.query_id] for query in rest]),
    )


def calibration_from(
    fitted: Fitted,
    held_out: HeldOutDecisions,
    settings: PipelineSettings,
    *,
    nli: str | None = None,
) -> Calibration:
    """Return what is written into a file."""
    return Calibration(
        pipeline=settings.name,
        made_with=made_with(settings),
        weights=fitted.weights,
        intercept=fitted.intercept,
        nli=nli,
        figures=_figures(held_out),
    )


def _by_collection(sample: Sample, judged: Sequence[Query]) -> dict[str, tuple[Sample, Array]]:
    names = {query.query_id: query.candidates.collection or "" for query in judged}
    kinds = [names[query_id] for query_id in sample.query_ids]
    if len(set(kinds)) < 2:
        return {}
    return {kind: (part, said[None, :]) for kind, part, said in held_out_by(sample, kinds)}


def _said_of(fitted: Fitted, sample: Sample, features: Sequence[AnswerabilityFeatures]) -> Array:
    values = np.array([[found[name] for name in sample.names] for found in features])
    ids = tuple(map(str, range(len(features))))
    rest = Sample(
        ids,
        sample.names,
        values.reshape(len(features), len(sample.names)),
        np.zeros(len(features), dtype=np.bool_),
        ids,
    )
    return probabilities(fitted, rest)


def _figures(held_out: HeldOutDecisions) -> JSON:
    """For whoever reads the file."""
    found = {
        f"from {threshold:g}": {
            name: round(figure.value, 4) for name, figure in held_out.at(threshold).figures.items()
        }
        for threshold in THRESHOLDS
    }
    return {
        "queries": len(held_out.sample.query_ids),
        "unanswerable": int(held_out.sample.unanswerable.sum()),
        "held out": found,
        "accuracy of never abstaining": round(held_out.never().figures["accuracy"].value, 4),
        "pairs ranked right": round(held_out.ranked_right(), 4),
    }
