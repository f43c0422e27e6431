"""Print values as several commands do."""

import typer


def print_json(value: object) -> None:
    """Print `value` as indented JSON on stdout."""
    import orjson

    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
