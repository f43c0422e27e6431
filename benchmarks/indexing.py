"""`ccrag index` against a plain bulk load of its passages, and its memory at ten times the size."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from opensearchpy import OpenSearch, helpers

from benchmarks.corpus import write_corpus
from ccrag.config.load import load_settings
from ccrag.corpus.scan import CorpusScan
from ccrag.engine.build import ChunkedDocument
from ccrag.engine.bulk import ITEMS_PER_REQUEST
from ccrag.engine.hits import passage_source
from ccrag.engine.templates import put_templates
from ccrag.indexing.build import index_documents
from ccrag.indexing.passages import chunked_documents

NAME = "bench"
PLAIN = "ccrag-bench-plain-passages-ready"


def passages(path: Path) -> list[dict[str, Any]]:
    """The ready-made passages of a corpus, as bulk actions."""
    with CorpusScan([path]) as scan:
        items = (ChunkedDocument(document, 0) for document in scan.documents())
        cut = chunked_documents(items, load_settings("default").chunking, None, with_vectors=False)
        found = [passage for item in cut for passage in item.passages]
    return [{"_index": PLAIN, "_id": p.passage_id, **passage_source(p)} for p in found]


def plain_seconds(client: OpenSearch, actions: list[dict[str, Any]]) -> float:
    """A plain `streaming_bulk` with orjson into the same mapping, then refresh and merge."""
    client.indices.delete(index=PLAIN, ignore_unavailable=True)
    put_templates(client)
    client.indices.create(index=PLAIN)
    began = perf_counter()
    for _ in helpers.streaming_bulk(client, iter(actions), chunk_size=ITEMS_PER_REQUEST):
        pass
    client.indices.refresh(index=PLAIN)
    client.indices.forcemerge(index=PLAIN, params={"max_num_segments": 1, "request_timeout": 300})
    seconds = perf_counter() - began
    client.indices.delete(index=PLAIN)
    return seconds


def ccrag_seconds(client: OpenSearch, path: Path) -> float:
    """All that `ccrag index` does, documents and their texts included."""
    drop(client)
    began = perf_counter()
    index_documents([path], NAME, load_settings("default"))
    return perf_counter() - began


def drop(client: OpenSearch) -> None:
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)


def peak_mb(path: Path) -> float:
    """Peak resident memory of one `ccrag index` process, in MB."""
    command = [
        sys.executable,
        "-m",
        "ccrag",
        "index",
        str(path),
        "--index",
        NAME,
        "--pipeline",
        "default",
    ]
    child = os.posix_spawn(sys.executable, command, os.environ)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed with status {status}")
    return usage.ru_maxrss / 1024


def report(client: OpenSearch, folder: Path, documents: int) -> Iterator[tuple[str, str]]:
    """Rows of the table: what was measured, and the figure."""
    path = write_corpus(folder / "corpus.jsonl", documents)
    actions = passages(path)
    plain_seconds(client, actions[:2_000])  # the engine's first requests are slow
    plain = min(plain_seconds(client, actions) for _ in range(2))
    ours = min(ccrag_seconds(client, path) for _ in range(2))
    yield "passages", f"{len(actions):,}"
    yield "plain streaming_bulk of ready passages", f"{plain:.1f} s"
    yield "ccrag index: load, cut, write documents and passages", f"{ours:.1f} s"
    yield "ratio (aim: at most 2)", f"{ours / plain:.2f}"
    small = write_corpus(folder / "small.jsonl", documents // 10)
    drop(client)
    small_mb = peak_mb(small)
    drop(client)
    large_mb = peak_mb(path)
    yield "peak memory of ccrag index, a tenth / all", f"{small_mb:.0f} / {large_mb:.0f} MB"
