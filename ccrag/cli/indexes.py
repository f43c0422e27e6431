"""`ccrag indexes`: what is built, for which pipelines, how large; and dropping it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ccrag.cli.errors import notify, user_errors
from ccrag.cli.options import OverridesOption
from ccrag.cli.output import print_json

if TYPE_CHECKING:
    from ccrag.engine.indexes import IndexDescription


def indexes(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Describe this index only.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete the index, and what interrupted loads left.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Drop without asking.")] = False,
    overrides: OverridesOption = None,
) -> None:
    """
    List the indexes with their size and the pipelines they serve, describe one, or drop one.

    Example: ccrag indexes

    Example: ccrag indexes demo --json

    Example: ccrag indexes demo --drop --yes
    """
    if drop and name is None:
        raise typer.BadParameter("name the index to --drop")
    if yes and not drop:
        raise typer.BadParameter("--yes goes with --drop")
    from ccrag.config.load import load_settings
    from ccrag.engine.client import open_client
    from ccrag.engine.indexes import describe_indexes, drop_index

    with user_errors():
        client = open_client(load_settings(None, overrides or []), notify=notify)
        found = describe_indexes(client, name)
        if drop and name is not None:
            _confirm(found[0], sure=yes)
            dropped = drop_index(client, name)
            _print_dropped(name, dropped, as_json=as_json)
            return
        described = [_told(index) for index in found]
    if as_json:
        print_json(described if name is None else described[0])
    elif name is None:
        _print_table(described)
    else:
        _print_one(described[0])


def _told(index: "IndexDescription") -> dict[str, Any]:
    """An index as `--json` prints it; keys are only ever added."""
    return {
        "name": index.name,
        "documents": index.documents,
        "passages": index.passages,
        "bytes": index.bytes,
        "collections": index.collections,
        "pipelines": _pipelines(index.specs),
        "parts": [
            {
                "spec": part.spec,
                "kind": part.kind,
                "items": part.items,
                "bytes": part.bytes,
                "encoder": part.encoder,
                "built_by": part.built_by,
                "is_current": part.is_current,
                "index": part.index,
            }
            for part in index.parts
        ],
        "leftovers": list(index.leftovers),
    }


def _pipelines(specs: frozenset[str]) -> list[str]:
    """The packaged pipelines that what is stored serves."""
    from ccrag.config.load import load_settings, pipeline_names
    from ccrag.indexing.spec import index_spec

    return [n for n in pipeline_names() if index_spec(load_settings(n)).fits(specs)]


def _confirm(index: "IndexDescription", *, sure: bool) -> None:
    """
    Ask before an index is deleted.

    Raises:
        Exit: the answer is no.
    """
    if not sure:
        size = f"{index.documents} documents, {_size(index.bytes)}"
        typer.confirm(f"drop {index.name} ({size})?", abort=True, err=True)


def _print_dropped(name: str, dropped: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "dropped": dropped})
        return
    for index in dropped:
        typer.echo(f"deleted {index}")
    typer.echo(f"{name} dropped")


def _print_table(indexes: list[dict[str, Any]]) -> None:
    if not indexes:
        typer.echo("no indexes; build one: ccrag index PATH... --index NAME", err=True)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("index", "documents", "passages", "size", "pipelines", box=None)
    for index in indexes:
        pipelines = ", ".join(index["pipelines"]) or "-"
        left = f" ({len(index['leftovers'])} unfinished)" if index["leftovers"] else ""
        counts = (f"{index['documents']}", f"{index['passages']}", _size(index["bytes"]))
        table.add_row(index["name"] + left, *counts, pipelines)
    Console().print(table)


def _print_one(index: dict[str, Any]) -> None:
    named = ", ".join(f"{name} {count}" for name, count in index["collections"].items())
    typer.echo(f"{index['name']}: {index['documents']} documents, {_size(index['bytes'])}")
    typer.echo(f"collections: {named or 'none named'}")
    typer.echo(f"pipelines: {', '.join(index['pipelines']) or 'none of the packaged ones'}")
    for part in index["parts"]:
        model = part["encoder"].get("model")
        encoded = f", encoded by {model}" if model else ""
        old = "" if part["is_current"] else ", by another version: build it anew with --replace"
        size = f"{part['items']} items, {_size(part['bytes'])}"
        typer.echo(f"{part['kind']} {part['spec']}".rstrip() + f": {size}{encoded}{old}")
    for left in index["leftovers"]:
        typer.echo(
            f"unfinished: {left}; goes with the next `ccrag index --index {index['name']}`, "
            "or with --drop"
        )


def _size(count: int) -> str:
    """Bytes as a person reads them: decimal units."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
