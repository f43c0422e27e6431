"""
Where a passage's vector can be, and what each place costs: `python -m benchmarks.vectors`.

Vectors are of a static model with random weights, so that the engine's work is not hidden behind
the encoder's. Memory is the embedded node's.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil
from opensearchpy import OpenSearch
from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.encoding import random_static
from benchmarks.indexing import drop
from benchmarks.querying import queries
from ccrag.config import EncoderSettings, Settings
from ccrag.config.load import load_settings
from ccrag.engine.client import open_client
from ccrag.engine.node import find_node
from ccrag.indexing.build import index_documents
from ccrag.models.transformer import open_transformer
from ccrag.pipeline.factory import open_pipeline

NAME = "bench"
MODES = ("none", "exact", "hnsw", "on-demand")
PASSAGES_PER_DOCUMENT = 7.8
MB = 1024 * 1024


def report(client: OpenSearch, folder: Path, passages: int) -> Iterator[tuple[str, ...]]:
    """A row for each mode, over the same documents."""
    documents = round(passages / PASSAGES_PER_DOCUMENT)
    path = write_corpus(folder / "corpus.jsonl", documents)
    random_static(open_transformer(EncoderSettings())).save_pretrained(folder / "static")
    for mode in MODES:
        drop(client)
        settings = settings_of(mode, folder / "static")
        began = perf_counter()
        built = index_documents([path], NAME, settings).built
        seconds = perf_counter() - began
        times = [f"{ms:.1f} ms" for ms in _milliseconds(settings, documents)]
        figures = (f"{built.passages:,}", f"{built.passages / seconds:,.0f}/s")
        yield mode, *figures, f"{_disk_mb(client, built.passages_index):.0f} MB", _memory(), *times
    drop(client)


def settings_of(mode: str, encoder: Path) -> Settings:
    """`hybrid`; without vectors its lexical half."""
    if mode == "none":
        return load_settings("single-query-bm25")
    return load_settings("hybrid", [f"vectors.mode={mode}", f"encoder.model=static:{encoder}"])


def _milliseconds(settings: Settings, documents: int) -> Iterator[float]:
    """Median time to the ranking of a query over ten documents, the first time and again."""
    pipeline = open_pipeline(settings, NAME)
    warm, *asked = queries(documents)
    pipeline.search(warm)
    for _ in range(2):
        taken = []
        for query in asked:
            began = perf_counter()
            pipeline.search(query)
            taken.append(perf_counter() - began)
        yield median(taken) * 1000


def _disk_mb(client: OpenSearch, index: str) -> float:
    stats = client.indices.stats(index=index, metric="store")
    return float(stats["_all"]["primaries"]["store"]["size_in_bytes"]) / MB


def _memory() -> str:
    node = find_node(load_settings("default").node)
    return f"{psutil.Process(node.pid).memory_info().rss / MB:.0f} MB" if node else "not ours"


def main() -> None:
    """Print the table."""
    passages = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    columns = ("vectors", "passages", "indexed", "disk", "node memory", "query, first", "again")
    table = Table(*columns)
    client = open_client(load_settings("default"))
    with tempfile.TemporaryDirectory() as folder:
        for row in report(client, Path(folder), passages):
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
