"""Write a query's answer as a line of a run, in the format of each shared task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ccrag.config import Settings
from ccrag.errors import ConfigError
from ccrag.formats import Format, mtrag, trec_rag
from ccrag.formats.run_folder import PREDICTIONS, RESPONSES
from ccrag.types import JSON, QueryId, Result

MTRAG = (Format.MTRAG_A, Format.MTRAG_B, Format.MTRAG_C)


TaskContexts = Mapping[QueryId, Sequence[JSON]] | None
"""The contexts that came with the tasks, as they came; None where passages are searched."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The one `.jsonl` file of a run."""

    format: Format
    name: str
    record: Callable[[Result], JSON]
    """Makes the line of one query."""


def longeval_format(settings: Settings, _contexts: TaskContexts = None) -> OutputFormat:
    """Return TREC RAG 2025's format 1, which LongEval takes."""
    team_id, run_id = settings.output.team_id, run_id_of(settings)
    return OutputFormat(
        Format.LONGEVAL,
        RESPONSES,
        lambda result: trec_rag.record(result.query, result.answer, team_id=team_id, run_id=run_id),
    )


def _mtrag_a(_settings: Settings, _contexts: TaskContexts) -> OutputFormat:
    return OutputFormat(
        Format.MTRAG_A, PREDICTIONS, lambda r: mtrag.retrieval_record(r.query, r.ranking)
    )


def _mtrag_b(_settings: Settings, contexts: TaskContexts) -> OutputFormat:
    if contexts is None:
        raise ConfigError("a run over an index is not written as mtrag-b")
    return OutputFormat(
        Format.MTRAG_B,
        PREDICTIONS,
        lambda r: mtrag.generation_record(r.query, r.answer, contexts[r.query.query_id]),
    )


def _mtrag_c(_settings: Settings, _contexts: TaskContexts) -> OutputFormat:
    return OutputFormat(
        Format.MTRAG_C,
        PREDICTIONS,
        lambda r: mtrag.rag_record(r.query, r.answer, r.ranking, read=r.read, passages=r.passages),
    )


WRITERS: dict[Format, Callable[[Settings, TaskContexts], OutputFormat]] = {
    Format.LONGEVAL: longeval_format,
    Format.TREC_RAG25: longeval_format,
    Format.MTRAG_A: _mtrag_a,
    Format.MTRAG_B: _mtrag_b,
    Format.MTRAG_C: _mtrag_c,
}
"""The formats in which a run is written; a new one is a function and a line here."""


def make_output_format(
    format_: Format, settings: Settings, contexts: TaskContexts = None
) -> OutputFormat:
    """
    Return the output format of a shared task.

    Args:
        contexts: those that the tasks of MTRAGEval's task B give, as they came.

    Raises:
        ConfigError: runs are not written in this format, or its contexts are missing.
    """
    if format_ not in WRITERS:
        raise ConfigError(f"a run over an index is not written as {format_.value}")
    return WRITERS[format_](settings, contexts)


def run_id_of(settings: Settings) -> str:
    """Return the run's tag: `output.run_id`, or the pipeline's name."""
    return settings.output.run_id or settings.name
