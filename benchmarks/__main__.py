"""All measurements in one run: `scripts/bench [DOCUMENTS]`."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import encoding, indexing, querying
from ccrag.config.load import load_settings
from ccrag.engine.client import open_client

DOCUMENTS = 3_000
"""About 20,000 passages."""


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
    client = open_client(load_settings("default"))
    table = Table("measured", "figure")
    with tempfile.TemporaryDirectory() as folder:
        for row in indexing.report(client, Path(folder), documents):
            table.add_row(*row)
        table.add_section()
        for row in querying.report(client, indexing.NAME, documents):
            table.add_row(*row)
        table.add_section()
        for row in encoding.report(Path(folder)):
            table.add_row(*row)
    indexing.drop(client)
    Console().print(table)


main()
