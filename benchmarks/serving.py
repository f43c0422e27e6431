"""
A crowd on loopback: p95, throughput and memory of `ccrag serve`, and what a killed engine does.

    python -m benchmarks.serving [--clients 50] [--seconds 60] [--pipeline P] [--kill-node]

Server, engine and clients share the machine. With `--kill-node` the embedded node is killed after a
third of the time; the table then says what the clients got until it was back.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import httpx2
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.corpus import QUESTIONS, write_corpus
from ccrag.config.load import load_settings
from ccrag.engine.client import open_client
from ccrag.engine.indexes import drop_index
from ccrag.engine.node import find_node
from ccrag.indexing.build import index_documents

NAME = "bench-serving"
DOCUMENTS = 500
CANDIDATES = 10
PAUSE_S = 1.0
"""What a client waits after a refusal, as Retry-After asks."""


@dataclass(slots=True)
class Load:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    """Of answered requests."""
    statuses: Counter[str] = field(default_factory=Counter)
    killed_at: float | None = None
    lost_s: float | None = None
    """From the kill to the first answer after a refusal."""
    memory: list[int] = field(default_factory=list)
    """Resident bytes of the server, once a second."""


@contextmanager
def server(pipeline: str) -> Iterator[tuple[str, psutil.Process]]:
    """`ccrag serve` in a process of its own: URL and process."""
    command = [sys.executable, "-m", "ccrag", "serve", "--port", "0", "--pipeline", pipeline]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        url = (process.stdout.readline() if process.stdout else "").strip()
        if not url:
            raise SystemExit("the server did not start; run `ccrag serve` to see why")
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


async def crowd(url: str, process: psutil.Process, load: Load, arguments: "Arguments") -> None:
    """Clients that ask one question after the other until the time is over."""
    ends = perf_counter() + arguments.seconds
    limits = httpx2.Limits(max_connections=arguments.clients)
    async with httpx2.AsyncClient(base_url=url, timeout=90, limits=limits) as http:
        tasks = [one_client(http, number, ends, load) for number in range(arguments.clients)]
        await asyncio.gather(*tasks, on_stage(process, ends, load, arguments))


async def one_client(http: httpx2.AsyncClient, number: int, ends: float, load: Load) -> None:
    """One client's questions, each over other documents."""
    asked = number * 1_000
    while perf_counter() < ends:
        asked += 1
        first = asked * 37
        body = {
            "index": NAME,
            "text": QUESTIONS[asked % len(QUESTIONS)],
            "candidates": [f"doc{(first + at) % DOCUMENTS:06}" for at in range(CANDIDATES)],
        }
        began = perf_counter()
        try:
            response = await http.post("/api/ask", json=body)
        except httpx2.HTTPError as error:
            load.statuses[type(error).__name__] += 1
            continue
        took = perf_counter() - began
        if response.status_code == 200:
            load.statuses["200"] += 1
            load.seconds.append(took)
            if load.killed_at is not None and load.lost_s is None and load.statuses.total() > 0:
                note_return(load, began)
        else:
            load.statuses[f"{response.status_code} {response.json()['code']}"] += 1
            await asyncio.sleep(PAUSE_S)


def note_return(load: Load, began: float) -> None:
    """The first answer to a question put after refusals began ends the outage."""
    refused = any(status.startswith("503") for status in load.statuses)
    if refused and load.killed_at is not None and began > load.killed_at:
        load.lost_s = perf_counter() - load.killed_at


async def on_stage(
    process: psutil.Process, ends: float, load: Load, arguments: "Arguments"
) -> None:
    """Look at the server's memory once a second; kill the node when its time has come."""
    kill_at = ends - arguments.seconds * 2 / 3
    while perf_counter() < ends:
        load.memory.append(process.memory_info().rss)
        if arguments.kill_node and load.killed_at is None and perf_counter() > kill_at:
            node = find_node(load_settings().node)
            if node is None:
                raise SystemExit("--kill-node needs the embedded node: unset CCRAG_ENGINE__URL")
            os.kill(node.pid, signal.SIGKILL)
            load.killed_at = perf_counter()
        await asyncio.sleep(1)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was asked for on the command line."""

    clients: int
    seconds: float
    pipeline: str
    kill_node: bool


def read_arguments() -> Arguments:
    """The command line's."""
    parser = ArgumentParser(description="A crowd of clients on `ccrag serve`.")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pipeline", default="rrf-no-rerank")
    parser.add_argument("--kill-node", action="store_true")
    given = parser.parse_args()
    return Arguments(given.clients, given.seconds, given.pipeline, given.kill_node)


def rows(load: Load, arguments: Arguments) -> Iterator[tuple[str, str]]:
    """Rows of the table: what was measured, and the figure."""
    yield (
        "pipeline, clients, seconds",
        (f"{arguments.pipeline}, {arguments.clients}, {arguments.seconds:g}"),
    )
    yield "answers a second", f"{len(load.seconds) / arguments.seconds:.1f}"
    if load.seconds:
        half, most, all_but_one = np.percentile(load.seconds, (50, 95, 99))
        yield "p50, p95, p99", f"{half * 1000:.0f}, {most * 1000:.0f}, {all_but_one * 1000:.0f} ms"
    for status, count in sorted(load.statuses.items()):
        yield f"status {status}", f"{count}"
    points = [load.memory[len(load.memory) * sixth // 6 - 1] for sixth in range(1, 7)]
    memory = ", ".join(str(round(size / 2**20)) for size in points)
    yield "server's memory after each sixth of the time", f"{memory} MB"
    if load.killed_at is not None:
        back = "not within the time" if load.lost_s is None else f"{load.lost_s:.1f} s"
        yield "from the kill to the first answer after it", back


def main() -> None:
    """Index, serve, load, report."""
    arguments, load = read_arguments(), Load()
    settings = load_settings(arguments.pipeline)
    client = open_client(settings)
    with tempfile.TemporaryDirectory() as folder:
        path = write_corpus(Path(folder, "documents.jsonl"), DOCUMENTS)
        index_documents([path], NAME, settings, replace=True)
    with server(arguments.pipeline) as (url, process):
        asyncio.run(crowd(url, process, load, arguments))
    table = Table("measured", "figure")
    for row in rows(load, arguments):
        table.add_row(*row)
    Console().print(table)
    drop_index(open_client(settings) if arguments.kill_node else client, NAME)


if __name__ == "__main__":
    main()
