"""
The files of a run: what became of each query as an entry, and entries as a submission folder.

The same code writes them whether the answers were had at once or by provider batch.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ccrag.config import PipelineSettings, Settings
from ccrag.config.requirements import requirements
from ccrag.engine.index import IndexInfo
from ccrag.formats import trec_run
from ccrag.formats.provenance import QueryRecord
from ccrag.formats.run_folder import IR_METADATA, PROVENANCE, RESPONSES, TREC_RUN
from ccrag.llm.prompts import Prompt, load_prompt
from ccrag.pipeline.state import Failure
from ccrag.retrieval.rerank import STAGE as RERANK
from ccrag.runs.calls import CallTotals
from ccrag.runs.journal import JournalEntry
from ccrag.runs.metadata import metadata_text
from ccrag.runs.output_formats import OutputFormat, longeval_format, run_id_of
from ccrag.runs.provenance import result_json
from ccrag.types import JSON, Result
from ccrag.version import __version__


@dataclass(slots=True)
class Written:
    """The totals over the entries of a run."""

    answered: int = 0
    abstained: int = 0
    seconds: float = 0.0
    """Over all stages of all answered queries."""
    calls: CallTotals = field(default_factory=CallTotals)
    """To language models."""
    not_reranked: int = 0
    """Queries whose order no stage changed after fusion."""

    def add(self, record: QueryRecord) -> None:
        """Count one entry."""
        self.answered += 1
        self.abstained += record["abstained"]
        self.seconds += sum(record["seconds"].values())
        self.calls.add(record["calls"])
        self.not_reranked += all(r["stage"] != RERANK for r in record["rankings"])


def pipeline_json(settings: Settings) -> dict[str, Any]:
    """
    Return the stages' settings, without engine, node and output: what decides answers, no secrets.
    """
    return settings.model_dump(mode="json", include=set(PipelineSettings.model_fields))


def prompt_of(settings: PipelineSettings) -> Prompt | None:
    """Return the prompt of generated answers; None when answers are extractive."""
    return load_prompt(settings.answer.prompt) if settings.answer.generator == "llm" else None


def stage_prompts_of(settings: PipelineSettings) -> dict[str, Prompt]:
    """Return the prompts of stages before the answer that ask a language model, by the stage."""
    names: dict[str, str] = {}
    if requirements(settings).llm_rewrite:
        names["rewrite"] = settings.rewrite.prompt
    if settings.rerank.method == "listwise":
        names["rerank"] = settings.rerank.prompt
    return {stage: load_prompt(name) for stage, name in names.items()}


def prompt_json(prompt: Prompt) -> JSON:
    """Return a prompt as provenance has it."""
    return {"label": prompt.label, "digest": prompt.digest, "text": prompt.text}


def entry_of(
    result: Result, settings: Settings, output_format: OutputFormat | None = None
) -> JournalEntry:
    """
    Return all that the files hold about one query; JSON throughout.

    Args:
        shape: of the file of answers; None: LongEval's.
    """
    run_id = run_id_of(settings)
    lines = trec_run.run_lines(result.ranking, tag=run_id, level=settings.output.run_level)
    return {
        "query_id": result.query.query_id,
        "record": (output_format or longeval_format(settings)).record(result),
        "trec": list(lines),
        "provenance": result_json(result),
    }


def write_files(
    out: Path,
    entries: Iterable[JournalEntry],
    settings: Settings,
    *,
    identity: JSON,
    info: IndexInfo,
    prompt: Prompt | None,
    failures: Sequence[Failure],
    responses_name: str = RESPONSES,
) -> Written:
    """
    Write the four files, each replaced whole; returns what the entries sum to.

    Args:
        entries: in the order of the queries.
        identity: what the files' first line says of the run: its digest, and what it is made of.
        prompt: of generated answers; None when answers are extractive.
        failures: queries without an entry, and why.
        responses_name: of the file of answers.
    """
    written = Written()
    head = {
        "ccrag": __version__,
        **identity,
        "pipeline": pipeline_json(settings),
        "index": asdict(info),
        "prompt": prompt and prompt_json(prompt),
        "stage_prompts": {s: prompt_json(p) for s, p in stage_prompts_of(settings).items()},
        "failures": [{"query_id": f.query_id, "error": str(f.error)} for f in failures],
    }
    with (
        replacing(out / responses_name) as responses,
        replacing(out / TREC_RUN) as trec,
        replacing(out / PROVENANCE) as provenance,
    ):
        provenance.write(orjson.dumps(head)[:-1] + b',"queries":[')
        for entry in entries:
            responses.write(orjson.dumps(entry["record"]) + b"\n")
            trec.writelines(line.encode() + b"\n" for line in entry["trec"])
            provenance.write(b",\n" if written.answered else b"\n")
            provenance.write(orjson.dumps(entry["provenance"]))
            written.add(entry["provenance"])
        totals = orjson.dumps(written.calls.as_json(settings.provider))
        provenance.write(b'\n],"calls":' + totals + b"}\n")
    with replacing(out / IR_METADATA) as metadata:
        text = metadata_text(settings, run_id=run_id_of(settings), prompt=prompt)
        metadata.write(text.encode())
    return written


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` only when it was written to the end."""
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
