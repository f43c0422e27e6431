"""What a run's file of answers is called, and what one query is in it, by shared task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ccrag.config import Settings
from ccrag.errors import ConfigError
from ccrag.formats import Format, mtrag, trec_rag
from ccrag.types import JSON, QueryId, Result

RESPONSES = "responses.jsonl"
PREDICTIONS = "predictions.jsonl"
"""MTRAGEval's."""
MTRAG = (Format.MTRAG_A, Format.MTRAG_B, Format.MTRAG_C)


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The one `.jsonl` file of a run."""

    format: Format
    name: str
    record: Callable[[Result], JSON]
    """One line of it."""


def make_output_format(
    format_: Format, settings: Settings, contexts: Mapping[QueryId, Sequence[JSON]] | None = None
) -> OutputFormat:
    """
    Return the shape that a shared task asks for.

    Args:
        contexts: those that the tasks of MTRAGEval's task B give, as they came.

    Raises:
        ConfigError: runs are not written in this format, or its contexts are missing.
    """
    match format_:
        case Format.LONGEVAL | Format.TREC_RAG25:
            return longeval_format(settings)
        case Format.MTRAG_A:
            return OutputFormat(
                format_, PREDICTIONS, lambda r: mtrag.retrieval_record(r.query, r.ranking)
            )
        case Format.MTRAG_C:
            return OutputFormat(format_, PREDICTIONS, _rag_record)
        case Format.MTRAG_B if contexts is not None:
            return OutputFormat(
                format_,
                PREDICTIONS,
                lambda r: mtrag.generation_record(r.query, r.answer, contexts[r.query.query_id]),
            )
    raise ConfigError(f"a run over an index is not written as {format_.value}")


def longeval_format(settings: Settings) -> OutputFormat:
    """TREC RAG 2025's format 1, which LongEval takes."""
    team_id, run_id = settings.output.team_id, run_id_of(settings)
    return OutputFormat(
        Format.LONGEVAL,
        RESPONSES,
        lambda result: trec_rag.record(result.query, result.answer, team_id=team_id, run_id=run_id),
    )


def run_id_of(settings: Settings) -> str:
    """Return the run's tag: `output.run_id`, or the pipeline's name."""
    return settings.output.run_id or settings.name


def _rag_record(result: Result) -> JSON:
    return mtrag.rag_record(
        result.query,
        result.answer,
        result.ranking,
        read=result.read,
        passages=result.passages,
    )
