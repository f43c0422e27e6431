"""`ccrag node`: the embedded OpenSearch node, by hand."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import given_overrides

if TYPE_CHECKING:
    from ccrag.config import NodeSettings
    from ccrag.engine.node import NodeState

app = typer.Typer(help="Start, stop or look at the embedded OpenSearch node.", no_args_is_help=True)

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the node's data. Default: a per-user folder."),
]
PortOption = Annotated[
    int | None, typer.Option("--port", help="HTTP port on loopback. Default: a free one.")
]
HeapMbOption = Annotated[
    int | None, typer.Option("--heap-mb", help="Heap of the JVM in MB. Default: 512.")
]
JsonStatusOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def up(data: DataOption = None, port: PortOption = None, heap_mb: HeapMbOption = None) -> None:
    """
    Start the node, or find the running one, and print its URL.

    Example: ccrag node up --port 9200
    """
    from ccrag.engine.node import ensure_node

    with user_errors():
        settings = _settings(data=data, port=port, heap_mb=heap_mb)
        state = ensure_node(settings, notify=notify)
        typer.echo(state.url)


@app.command()
def down(data: DataOption = None) -> None:
    """
    End the node; its data stay for the next start.

    Example: ccrag node down
    """
    from ccrag.engine.node import data_folder, stop_node

    with user_errors():
        settings = _settings(data=data)
        state = stop_node(settings, notify=notify)
        folder = data_folder(settings)
        if state is None:
            notify(f"no node runs on {folder}")
        else:
            notify(f"ended the node at {state.url} (pid {state.pid}); its data stay in {folder}")


@app.command()
def status(data: DataOption = None, as_json: JsonStatusOption = False) -> None:
    """
    Print where the node is and whether it answers.

    Example: ccrag node status --json
    """
    from ccrag.engine.node import data_folder, find_node, stray_pid

    with user_errors():
        settings = _settings(data=data)
        info = _info(find_node(settings), data_folder(settings))
        stray = stray_pid(settings)
        if stray is not None:
            info["status"] = f"process {stray} runs, but is not on record: run `ccrag node down`"
        if as_json:
            typer.echo(json.dumps(info))
        else:
            typer.echo("\n".join(f"{name:<8} {value}" for name, value in info.items()))


def _settings(
    *, data: Path | None = None, port: int | None = None, heap_mb: int | None = None
) -> "NodeSettings":
    from ccrag.config.load import load_settings

    given = {"data": data, "port": port, "heap_mb": heap_mb}
    return load_settings(overrides=given_overrides("node", given)).node


def _info(state: "NodeState | None", folder: Path) -> dict[str, str | int]:
    from ccrag.engine.node import node_answers

    if state is None:
        return {"status": "not running", "data": str(folder)}
    return {
        "status": "running" if node_answers(state) else "running, but it does not answer",
        "url": state.url,
        "pid": state.pid,
        "version": state.version,
        "heap_mb": state.heap_mb,
        "data": str(state.data),
        "log": str(state.log),
        "secret": str(state.secret_file),
    }
