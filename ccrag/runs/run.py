"""One pipeline over one query file: answered, journalled, written as a submission folder."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ccrag import __version__
from ccrag.config import PipelineSettings, Settings
from ccrag.engine.index import IndexFacts
from ccrag.errors import InputError
from ccrag.formats import ir_metadata, trec_rag, trec_run
from ccrag.pipeline import Pipeline
from ccrag.runs.journal import FILE_NAME, Entry, Journal
from ccrag.runs.provenance import result_json
from ccrag.stages.way import Failure
from ccrag.types import Query, Result

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
class RunReport:
    """What a run did."""

    out: Path
    queries: int
    answered: int
    resumed: int
    """Of these, from the journal of an earlier try."""
    abstained: int
    failures: tuple[Failure, ...]
    seconds_per_query: float


def pipeline_json(settings: Settings) -> dict[str, Any]:
    """The stages' settings, without engine, node and output: what decides answers, no secrets."""
    return settings.model_dump(mode="json", include=set(PipelineSettings.model_fields))


def run_queries(
    pipeline: Pipeline,
    queries: Sequence[Query],
    out: Path,
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RunReport:
    """
    Answer `queries` and write responses, TREC run, metadata and provenance into `out`.

    A query that fails is reported and left out of the files; the journal stays, so that `resume`
    tries it again. When all succeeded the journal is removed.

    Args:
        resume: go on with an unfinished run of the same settings, queries and index.
        overwrite: begin anew where an unfinished run lies.

    Raises:
        InputError: an unfinished run lies in `out`, or a candidate id cannot stand in a TREC run.
        EngineError: the engine failed; what was answered is in the journal.
    """
    _check_ids(queries)
    out.mkdir(parents=True, exist_ok=True)
    journal_path = out / FILE_NAME
    _prepare(journal_path, resume=resume, overwrite=overwrite)
    digest = run_digest(settings, pipeline.index.facts, queries)
    with Journal(journal_path, run_digest=digest) as journal:
        resumed = len(journal)
        waiting = [query for query in queries if query.query_id not in journal]
        failures = _answer_waiting(pipeline, waiting, journal, settings, on_progress)
        summary = _write_files(out, queries, journal, settings, pipeline.index.facts, failures)
    if not failures:
        journal_path.unlink()
    answered = len(queries) - len(failures)
    return RunReport(
        out=out,
        queries=len(queries),
        answered=answered,
        resumed=resumed,
        abstained=summary["abstained"],
        failures=tuple(failures),
        seconds_per_query=summary["seconds"] / answered if answered else 0.0,
    )


def _check_ids(queries: Sequence[Query]) -> None:
    """Before any work: a TREC run is separated by white space, so ids must not hold any."""
    for query in queries:
        for written in (query.query_id, *(query.candidates.doc_ids or ())):
            if len(written.split()) != 1:
                raise InputError(
                    f"query {query.query_id!r}: id {written!r} holds white space, which TREC runs "
                    "cannot express; rename it"
                )


def _prepare(journal_path: Path, *, resume: bool, overwrite: bool) -> None:
    if not journal_path.exists() or resume:
        return
    if not overwrite:
        raise InputError(
            "an unfinished run; add --resume to go on with it, or --overwrite to begin anew",
            path=journal_path,
        )
    journal_path.unlink()


def run_digest(settings: Settings, facts: IndexFacts, queries: Sequence[Query]) -> str:
    """32 hex digits over all that decides the outcome: version, settings, index, queries."""
    decides = {
        "version": __version__,
        "pipeline": pipeline_json(settings),
        "output": settings.output.model_dump(mode="json"),
        "index": [facts.passages_index, facts.documents_index],
        "queries": [[q.query_id, q.text, q.candidates.doc_ids] for q in queries],
    }
    canonical = orjson.dumps(decides, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=16).hexdigest()


def _answer_waiting(
    pipeline: Pipeline,
    waiting: Sequence[Query],
    journal: Journal,
    settings: Settings,
    on_progress: Callable[[int], None],
) -> list[Failure]:
    failures: list[Failure] = []
    on_progress(len(journal))
    for outcome in pipeline.run(waiting):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            journal.append(_entry(outcome, settings))
        on_progress(len(journal) + len(failures))
    return failures


def run_id_of(settings: Settings) -> str:
    """The run's tag: `output.run_id`, or the pipeline's name."""
    return settings.output.run_id or settings.name


def _entry(result: Result, settings: Settings) -> Entry:
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


def _write_files(
    out: Path,
    queries: Sequence[Query],
    journal: Journal,
    settings: Settings,
    facts: IndexFacts,
    failures: Sequence[Failure],
) -> dict[str, Any]:
    """Write the four files in query order, each replaced whole; returns what the entries sum to."""
    abstained, seconds = 0, 0.0
    head = {
        "ccrag": __version__,
        "run": run_digest(settings, facts, queries),
        "pipeline": pipeline_json(settings),
        "index": asdict(facts),
        "failures": [{"query_id": f.query_id, "error": str(f.error)} for f in failures],
    }
    with (
        _replacing(out / RESPONSES) as responses,
        _replacing(out / TREC_RUN) as trec,
        _replacing(out / PROVENANCE) as provenance,
    ):
        provenance.write(orjson.dumps(head)[:-1] + b',"queries":[')
        entries = journal.entries(query.query_id for query in queries)
        for position, entry in enumerate(entries):
            responses.write(orjson.dumps(entry["record"]) + b"\n")
            trec.writelines(line.encode() + b"\n" for line in entry["trec"])
            provenance.write(b",\n" if position else b"\n")
            provenance.write(orjson.dumps(entry["provenance"]))
            abstained += entry["provenance"]["abstained"]
            seconds += sum(entry["provenance"]["seconds"].values())
        provenance.write(b"\n]}\n")
    with _replacing(out / IR_METADATA) as metadata:
        metadata.write(_metadata(settings).encode())
    return {"abstained": abstained, "seconds": seconds}


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
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` only when it was written to the end."""
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
