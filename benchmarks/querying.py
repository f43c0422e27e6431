"""Time per query of `rrf-no-rerank` against the bare msearch requests that it sends."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from opensearchpy import OpenSearch

from benchmarks.corpus import QUESTIONS
from ccrag.config.load import load_settings
from ccrag.engine.index import open_index
from ccrag.indexing.spec import index_spec
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure
from ccrag.types import Candidates, Query

CANDIDATES = 10
ROUNDS = 5


class Recording:
    """Keeps the msearch bodies that pass through a client."""

    def __init__(self, client: OpenSearch) -> None:
        self._transport: Any = client.transport
        self._send = self._transport.perform_request
        self.bodies: list[Any] = []

    def __enter__(self) -> "Recording":
        def record(method: str, url: str, **options: Any) -> Any:
            if url.endswith("_msearch"):
                self.bodies.append(options["body"])
            return self._send(method, url, **options)

        self._transport.perform_request = record
        return self

    def __exit__(self, *_: object) -> None:
        self._transport.perform_request = self._send


def queries(documents: int) -> list[Query]:
    """Each question over ten neighbouring documents, a different ten every time."""
    return [
        Query(
            f"q{number}",
            QUESTIONS[number % len(QUESTIONS)],
            Candidates.of(
                [f"doc{(number * 37 + at) % documents:06}" for at in range(CANDIDATES)],
                query_id=f"q{number}",
            ),
        )
        for number in range(64)
    ]


def report(client: OpenSearch, name: str, documents: int) -> Iterator[tuple[str, str]]:
    """Rows of the table: what was measured, and the figure."""
    settings = load_settings("rrf-no-rerank")
    index = open_index(client, name, index_spec(settings), settings.engine, command="")
    pipeline = Pipeline(settings, index)
    asked = queries(documents)
    _answer(pipeline, asked)
    ours, bare = [], []
    for _ in range(ROUNDS):
        with Recording(client) as recording:
            began = perf_counter()
            _answer(pipeline, asked)
            ours.append((perf_counter() - began) / len(asked))
        began = perf_counter()
        for body in recording.bodies:
            client.msearch(body=body)
        bare.append((perf_counter() - began) / len(asked))
    yield "bare msearch requests, per query", f"{min(bare) * 1000:.1f} ms"
    yield "rrf-no-rerank to the answer, per query", f"{min(ours) * 1000:.1f} ms"
    yield "ratio (aim: at most 2)", f"{min(ours) / min(bare):.2f}"


def _answer(pipeline: Pipeline, asked: list[Query]) -> None:
    for outcome in pipeline.run(asked):
        if isinstance(outcome, Failure):
            raise outcome.error
