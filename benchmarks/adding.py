"""
What adding 1 % costs beside building: `python -m benchmarks.adding DOCUMENTS.jsonl`.

Each document of the file becomes one passage or more; the last 1 % is added to an index of the
others, without vectors and with those of a static model with random weights.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from benchmarks.encoding import random_static
from benchmarks.indexing import NAME, drop
from ccrag.config import EncoderSettings, Settings
from ccrag.config.load import load_settings
from ccrag.engine.client import open_client
from ccrag.indexing.build import add_corpus, index_documents, open_files
from ccrag.models.transformer import open_transformer

SHARE = 100


def report(folder: Path, source: Path, settings: Settings) -> Iterator[str]:
    """Passages, seconds of building and of adding, and of changing as many; ratios to building."""
    client = open_client(settings)
    lines = source.read_bytes().splitlines(keepends=True)
    few = len(lines) // SHARE
    paths = [folder / f"{name}.jsonl" for name in ("old", "new", "changed")]
    parts = (lines[:-few], lines[-few:], [line.replace(b" the ", b" a ") for line in lines[:few]])
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(b"".join(part))
    drop(client)
    began = perf_counter()
    built = index_documents([paths[0]], NAME, settings).built
    seconds = perf_counter() - began
    yield f"{built.passages:,}"
    yield f"{seconds:.1f} s"
    for path in paths[1:]:
        began = perf_counter()
        add_corpus(open_files([path]), NAME, [settings])
        taken = perf_counter() - began
        yield f"{taken:.2f} s = {taken / seconds:.1%}"
    drop(client)


def main() -> None:
    """Print the table."""
    table = Table("vectors", "passages", "built", "1 % added", "1 % changed")
    with tempfile.TemporaryDirectory() as name:
        folder, source = Path(name), Path(sys.argv[1])
        table.add_row("none", *report(folder, source, load_settings("single-query-bm25")))
        random_static(open_transformer(EncoderSettings())).save_pretrained(folder / "static")
        model = f"encoder.model=static:{folder / 'static'}"
        table.add_row("exact", *report(folder, source, load_settings("hybrid", [model])))
    Console().print(table)


if __name__ == "__main__":
    main()
