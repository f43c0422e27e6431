"""
The files of a run: what became of each query as an entry, and entries as a submission folder.

The same code writes them whether the answers were had at once or by provider batch.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ccrag import __version__
from ccrag.config import PipelineSettings, Settings
from ccrag.engine.index import IndexFacts
from ccrag.formats import ir_metadata, trec_rag, trec_run
from ccrag.runs.journal import Entry
from ccrag.runs.provenance import result_json
from ccrag.stages.way import Failure
from ccrag.types import Result

RESPONSES = "responses.jsonl"
TREC_RUN = "run.trec"
IR_METADATA = "ir-metadata.yml"
PROVENANCE = "provenance.json"

EXTRACTIVE = ir_metadata.GenerationEntry(
    description="Extractive: sentences of the candidate documents as they stand, best first.",
    prompt="none",
    llm="none",
    reasoning=False,
    agents=False,
)


@dataclass(frozen=True, slots=True)
class Written:
    """What the entries of a run sum to."""

    answered: int
    abstained: int
    seconds: float
    """Over all stages of all answered queries."""


def pipeline_json(settings: Settings) -> dict[str, Any]:
    """The stages' settings, without engine, node and output: what decides answers, no secrets."""
    return settings.model_dump(mode="json", include=set(PipelineSettings.model_fields))


def run_id_of(settings: Settings) -> str:
    """The run's tag: `output.run_id`, or the pipeline's name."""
    return settings.output.run_id or settings.name


def entry_of(result: Result, settings: Settings) -> Entry:
    """All that the files hold about one query; JSON throughout."""
    run_id = run_id_of(settings)
    lines = trec_run.run_lines(result.ranking, tag=run_id, level=settings.output.run_level)
    return {
        "query_id": result.query.query_id,
        "record": trec_rag.record(
            result.query, result.answer, team_id=settings.output.team_id, run_id=run_id
        ),
        "trec": list(lines),
        "provenance": result_json(result),
    }


def write_files(
    out: Path,
    entries: Iterable[Entry],
    settings: Settings,
    *,
    run: str,
    facts: IndexFacts,
    failures: Sequence[Failure],
) -> Written:
    """
    Write the four files, each replaced whole; returns what the entries sum to.

    Args:
        entries: in the order of the queries.
        run: the run's digest.
        failures: queries without an entry, and why.
    """
    answered, abstained, seconds = 0, 0, 0.0
    head = {
        "ccrag": __version__,
        "run": run,
        "pipeline": pipeline_json(settings),
        "index": asdict(facts),
        "failures": [{"query_id": f.query_id, "error": str(f.error)} for f in failures],
    }
    with (
        replacing(out / RESPONSES) as responses,
        replacing(out / TREC_RUN) as trec,
        replacing(out / PROVENANCE) as provenance,
    ):
        provenance.write(orjson.dumps(head)[:-1] + b',"queries":[')
        for entry in entries:
            responses.write(orjson.dumps(entry["record"]) + b"\n")
            trec.writelines(line.encode() + b"\n" for line in entry["trec"])
            provenance.write(b",\n" if answered else b"\n")
            provenance.write(orjson.dumps(entry["provenance"]))
            answered += 1
            abstained += entry["provenance"]["abstained"]
            seconds += sum(entry["provenance"]["seconds"].values())
        provenance.write(b"\n]}\n")
    with replacing(out / IR_METADATA) as metadata:
        metadata.write(_metadata(settings).encode())
    return Written(answered, abstained, seconds)


def _metadata(settings: Settings) -> str:
    output = settings.output
    return ir_metadata.render(
        ir_metadata.ir_metadata(
            tag=run_id_of(settings),
            team=output.team_id,
            goal=output.description,
            libraries=["ccrag", "opensearch", "opensearch-py"],
            repository=output.repository,
            data_name=output.data_name,
            retrieval=[_retrieval_entry(settings)],
            generation=EXTRACTIVE,
        )
    )


def _retrieval_entry(settings: Settings) -> ir_metadata.RetrievalEntry:
    ranked = "candidate-order" not in settings.retrieval.lists
    return ir_metadata.RetrievalEntry(
        name=settings.summary or settings.name,
        documents=settings.select.passages,
        chunking=True,
        chunk_ranking=ranked,
        single_stage_retrieval=settings.rerank.method == "none",
    )


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` only when it was written to the end."""
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
