"""`ccrag serve`: the HTTP API and the page; `ccrag mcp`: an agent on stdio."""

from pathlib import Path
from typing import Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import (
    DocsFileOption,
    DocsOption,
    IndexNameOption,
    OverridesOption,
    PipelineNameOption,
    WholeIndexOption,
    given_overrides,
    pipeline_settings,
    read_candidates,
)


def serve(
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on; others than loopback need --tokens."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    tokens: Annotated[
        Path | None, typer.Option(help="TOML file of bearer tokens and what each may read.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder of runs and experiments to show.")
    ] = None,
) -> None:
    """
    Serve the HTTP API and the page, on loopback by default; prints the URL.

    Example: ccrag serve --runs runs --port 8765
    """
    with user_errors():
        _require_packages()
        from ccrag.web.serve import open_server, run_server

        given = {"host": host, "port": port, "tokens": tokens, "runs": runs}
        stated = [*(overrides or []), *given_overrides("serve", given)]
        settings = pipeline_settings(pipeline, stated)
        state = open_server(settings, pipeline=pipeline, overrides=stated, notify=notify)
        run_server(state, ready=typer.echo)


def mcp(
    index: IndexNameOption,
    docs: DocsOption = None,
    docs_file: DocsFileOption = None,
    whole_index: WholeIndexOption = False,
    pipeline: PipelineNameOption = None,
    overrides: OverridesOption = None,
) -> None:
    """
    Serve an agent on stdin and stdout: search, evidence, reading and answers in these documents.

    Example: ccrag mcp --index demo --docs assert,debugger
    """
    with user_errors():
        _require_packages()
        from ccrag.web.access import LOCAL
        from ccrag.web.agent import Session, narrowed
        from ccrag.web.mcp_server import run_stdio
        from ccrag.web.serve import open_server

        candidates = read_candidates(docs, docs_file, whole_index, None)
        stated = overrides or []
        settings = pipeline_settings(pipeline, stated)
        state = open_server(settings, pipeline=pipeline, overrides=stated, notify=notify)
        run_stdio(state, Session(narrowed(LOCAL, index, candidates.doc_ids), index))


NEEDED = ("fastapi", "mcp", "prometheus_client", "uvicorn")


def _require_packages() -> None:
    """Say how to get the server's packages where they are missing."""
    from importlib.util import find_spec

    from ccrag.errors import ConfigError

    missing = [name for name in NEEDED if not find_spec(name)]
    if missing:
        raise ConfigError(f"{missing[0]} is not installed; run: pip install 'ccrag[web]'")
