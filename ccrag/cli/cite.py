"""`ccrag cite`: find evidence for sentences that somebody wrote, and check their citations."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ccrag.cli.errors import check_room, notify, user_errors
from ccrag.cli.options import (
    CollectionOption,
    DocsFileOption,
    DocsOption,
    IndexNameOption,
    OverridesOption,
    OverwriteOption,
    PipelineNameOption,
    WholeIndexOption,
    pipeline_settings,
    read_candidates,
)


def cite(
    answers: Annotated[
        Path, typer.Argument(help="JSONL: answers of TREC RAG or LongEval, or id and text.")
    ],
    index: IndexNameOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the outcome (JSONL).")],
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """
    Find what supports and what contradicts each sentence of answers, and check their citations.

    Without --docs, --docs-file, --collection or --all, the documents that a record itself names are
    its candidates: `doc_ids` and `references`.

    Example: ccrag cite responses.jsonl --index demo --all --out cited.jsonl
    """
    import orjson

    from ccrag.errors import InputError
    from ccrag.pipeline.answering import NoAnswerGenerator
    from ccrag.pipeline.factory import open_pipeline
    from ccrag.pipeline.support_weights import support_weights
    from ccrag.runs.cite import cite as find
    from ccrag.runs.written import read_written

    sentences, citations = Counter[str](), Counter[str]()
    with user_errors():
        check_room(out, overwrite=overwrite)
        given = docs is not None or docs_file is not None or whole_index or collection is not None
        candidates = read_candidates(docs, docs_file, whole_index, collection) if given else None
        written = list(read_written(answers, candidates))
        settings = pipeline_settings(pipeline, overrides, index=index, purpose="answer")
        opened = open_pipeline(settings, index, notify=notify, generator=NoAnswerGenerator())
        lines = []
        for answer, cited in find(opened, written, support_weights()):
            sentences.update(sentence.verdict for sentence in cited)
            citations.update(c.status.value for sentence in cited for c in sentence.citations)
            record = {
                "id": answer.answer_id,
                "sentences": [sentence.to_json() for sentence in cited],
            }
            lines.append(orjson.dumps(record) + b"\n")
        try:
            out.write_bytes(b"".join(lines))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=out) from error
    typer.echo(f"{out}: {len(lines)} answers; sentences: {_counted(sentences)}")
    typer.echo(f"citations: {_counted(citations)}")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
