"""Lists of every variant of MTRAGEval's judged tasks, from the engine, for `dialogue`."""

from collections.abc import Mapping
from pathlib import Path

import orjson

from ccrag.config.load import load_settings
from ccrag.corpus.queries import read_queries
from ccrag.errors import InputError
from ccrag.evaluation.mtrag import read_relevant
from ccrag.indexing.build import index_documents
from ccrag.pipeline.factory import open_pipeline
from ccrag.pipeline.state import Failure
from ccrag.types import Query, QueryId, Ranking

NAME = "bench-mtrag"
TURNS = ("last-two", "last-three", "user-turns", "dialogue", "decayed", "rewrite")
BM25 = ("original", *TURNS)
DENSE = ("original", *TURNS)
DECAYS = (
    "[1.0, 0.4, 0.2]",
    "[1.0, 0.5, 0.25]",
    "[1.0, 0.5, 0.1]",
    "[1.0, 0.3, 0.1]",
    "[1.0, 0.7, 0.3]",
    "[1.0, 0.5, 0.0]",
)
"""Settings of `variants.decay`; the first is what `mtrag` ships."""
Lists = Mapping[QueryId, Mapping[str, Ranking]]
"""Each query's lists by name."""


def retrieve(folder: Path) -> dict[str, Lists]:
    """The lists of all judged tasks by decay; indexes their collections first."""
    paths = {path: path.stem for path in sorted((folder / "corpus").glob("*.jsonl"))}
    index_documents(list(paths), NAME, load_settings("mtrag"), collections=paths, replace=True)
    judged = read_relevant(folder / "tasks.jsonl")
    queries = [q for q in read_queries(folder / "tasks.jsonl") if q.query_id in judged]
    first, *others = DECAYS
    lists = {first: _lists(queries, BM25, first)}
    for decay in others:
        decayed = _lists(queries, ("decayed",), decay)
        lists[decay] = {q: {**held, **decayed[q]} for q, held in lists[first].items()}
    return lists


def _lists(queries: list[Query], variants: tuple[str, ...], decay: str) -> Lists:
    names = orjson.dumps(variants).decode()
    overrides = [f"variants.use={names}", f"variants.dense={names}", f"variants.decay={decay}"]
    pipeline = open_pipeline(load_settings("mtrag", overrides), NAME)
    found: dict[QueryId, Mapping[str, Ranking]] = {}
    for outcome in pipeline.run(queries, answering=False):
        if isinstance(outcome, Failure):
            raise InputError(f"query {outcome.query_id!r} failed: {outcome.error}")
        rankings = {ranking.stage: ranking for ranking in outcome.trace.rankings}
        found[outcome.query.query_id] = rankings
    return found
