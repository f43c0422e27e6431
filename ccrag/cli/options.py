"""Options that several commands share, and what they mean together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.errors import InputError

if TYPE_CHECKING:
    from ccrag.types import Candidates

IndexName = Annotated[str, typer.Option("--index", "-i", help="Name of the collection.")]
PipelineName = Annotated[
    str | None,
    typer.Option(
        "--pipeline", "-p", help="A named pipeline, or a TOML file. See `ccrag pipelines`."
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override one setting; repeatable."),
]
Docs = Annotated[
    str | None, typer.Option("--docs", metavar="ID,ID", help="Candidate document ids.")
]
DocsFile = Annotated[
    Path | None,
    typer.Option("--docs-file", metavar="F", help="Candidate ids: one a line, or a JSON list."),
]
WholeIndex = Annotated[
    bool, typer.Option("--all", help="Every document of the index is a candidate.")
]


def read_candidates(docs: str | None, docs_file: Path | None, whole_index: bool) -> "Candidates":
    """
    The candidates that exactly one of the three options names.

    Raises:
        InputError: none or several of them were given, or they name no id.
    """
    from ccrag.corpus.queries import read_doc_ids
    from ccrag.types import Candidates

    if sum((docs is not None, docs_file is not None, whole_index)) != 1:
        raise InputError("say which documents may answer: one of --docs, --docs-file, --all")
    if whole_index:
        return Candidates.whole_index()
    if docs_file is not None:
        return Candidates.of(read_doc_ids(docs_file), query_id="command line")
    ids = [doc_id.strip() for doc_id in (docs or "").split(",")]
    return Candidates.of([doc_id for doc_id in ids if doc_id], query_id="command line")
