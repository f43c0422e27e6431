"""
The command line: one file a command group, no logic. Heavy modules are imported inside commands,
so that `ccrag --help` is quick.
"""

import codecs
import io
import sys
from typing import TextIO

import typer

from ccrag.cli import batch, models, node
from ccrag.cli.ask import ask, evidence, search
from ccrag.cli.calibrate import calibrate
from ccrag.cli.chat import chat
from ccrag.cli.cite import cite
from ccrag.cli.eval import eval_command
from ccrag.cli.experiment import experiment_command
from ccrag.cli.index import index
from ccrag.cli.indexes import indexes
from ccrag.cli.pipelines import pipelines
from ccrag.cli.run import run
from ccrag.cli.serve import mcp, serve
from ccrag.cli.support import support
from ccrag.cli.units import units
from ccrag.cli.validate import validate_command
from ccrag.version import __version__

app = typer.Typer(
    name="ccrag",
    help="Question answering inside a given set of documents, with citations that can be checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(node.app, name="node")
app.add_typer(models.app, name="models")
app.add_typer(batch.app, name="batch")
app.command()(index)
app.command()(indexes)
app.command()(search)
app.command()(ask)
app.command()(evidence)
app.command()(chat)
app.command()(run)
app.command("validate")(validate_command)
app.command("eval")(eval_command)
app.command()(calibrate)
app.command()(support)
app.command()(cite)
app.command("experiment")(experiment_command)
app.command()(pipelines)
app.command()(serve)
app.command()(mcp)
app.command()(units)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    _: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    """Nothing to set up: every command reads its own settings."""


def main() -> None:
    """Entry point of `ccrag` and `python -m ccrag`."""
    _write_any_character(sys.stdout, sys.stderr)
    app()


def _write_any_character(*streams: TextIO) -> None:
    """
    Let texts hold what the locale has no bytes for: documents do.

    A locale of ASCII alone (`LC_ALL=C`) says nothing about the terminal; UTF-8 is written there.
    Elsewhere such a character is written as its escape.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(
                encoding="utf-8" if is_ascii else stream.encoding, errors="backslashreplace"
            )
