"""`ccrag search`, `ccrag ask` and `ccrag evidence`: one question, for a person or a program."""

from typing import Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import (
    CollectionOption,
    DocsFileOption,
    DocsOption,
    IndexNameOption,
    OverridesOption,
    PipelineNameOption,
    WholeIndexOption,
    pipeline_settings,
    read_candidates,
)
from ccrag.cli.output import print_json

QuestionArgument = Annotated[str, typer.Argument(help="The question.")]
JsonAnswerOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show variants, each stage's rank, notes and seconds.")
]


def search(
    text: QuestionArgument,
    index: IndexNameOption,
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    top_n: Annotated[int, typer.Option("--top", min=1, help="Passages to print.")] = 10,
    as_json: JsonAnswerOption = False,
    explain: ExplainOption = False,
    show_body: Annotated[
        bool, typer.Option("--show-body", help="Print the search requests and send nothing.")
    ] = False,
) -> None:
    """
    Rank the passages of the candidate documents.

    Example: ccrag search "order of evaluation" --index demo --docs evalorder,expressions
    """
    from ccrag.cli import render
    from ccrag.library import make_query
    from ccrag.pipeline.factory import open_pipeline, show_requests

    with user_errors():
        query = make_query(text, read_candidates(docs, docs_file, whole_index, collection))
        settings = pipeline_settings(pipeline, overrides, index=None if show_body else index)
        if show_body:
            print_json(show_requests(settings, query))
            return
        result = open_pipeline(settings, index, notify=notify).search(query)
        if as_json:
            print_json(render.search_json(result, top_n=top_n, explain=explain))
        else:
            render.print_hits(result, top_n=top_n, explain=explain)


def ask(
    text: QuestionArgument,
    index: IndexNameOption,
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    as_json: JsonAnswerOption = False,
    explain: ExplainOption = False,
) -> None:
    """
    Answer a question from the candidate documents, with citations.

    Example: ccrag ask "When is the else clause of a loop executed?" --index demo --docs for,while
    """
    from ccrag.cli import render
    from ccrag.library import make_query
    from ccrag.pipeline.factory import open_pipeline
    from ccrag.runs.provenance import result_json

    with user_errors():
        query = make_query(text, read_candidates(docs, docs_file, whole_index, collection))
        settings = pipeline_settings(pipeline, overrides, index=index)
        result = open_pipeline(settings, index, notify=notify).answer(query)
        if as_json:
            print_json(result_json(result))
        else:
            render.print_answer(result, explain=explain)


def evidence(
    text: QuestionArgument,
    index: IndexNameOption,
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    collection: CollectionOption = None,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
) -> None:
    """
    Print the evidence for a question as JSON: spans with section, page and offsets, and what next.

    Example: ccrag evidence "What is the value of P_drop?" --index paper --docs paper.pdf
    """
    from ccrag.library import make_query
    from ccrag.pipeline.factory import open_pipeline
    from ccrag.runs.bundle import evidence_bundle

    with user_errors():
        query = make_query(text, read_candidates(docs, docs_file, whole_index, collection))
        settings = pipeline_settings(pipeline, overrides, index=index, purpose="evidence")
        opened = open_pipeline(settings, index, notify=notify)
        result = opened.search(query)
        read = {result.passages[passage_id].doc_id for passage_id in result.read}
        documents = opened.index.documents(query.candidates, sorted(read))
        print_json(evidence_bundle(result, documents))
