"""The lexical half of `mtrag` on real dialogues: what it finds must not get worse unseen."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from ccrag.config.load import load_settings
from ccrag.corpus.queries import read_queries
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.mtrag import read_relevant
from ccrag.evaluation.retrieval import retrieval_measure
from ccrag.evaluation.rundata import Ranked, RunData
from ccrag.indexing.build import index_documents
from ccrag.pipeline.factory import open_pipeline
from ccrag.pipeline.state import Failure
from ccrag.types import QueryId, Result

SLICE = Path(__file__).parents[3] / "shared" / "data" / "mtrag-un"
WORDINGS = ("original", "decayed", "rewrite")
SETTINGS = [
    "vectors.mode=none",
    'retrieval.lists=["bm25"]',
    "evidence.scorer=lexical",
    'variants.use=["original", "decayed", "rewrite"]',
]


@pytest.mark.usefixtures("on_engine")
@pytest.mark.skipif(not SLICE.exists(), reason="no development data here")
def test_decayed_turns_find_what_the_last_turn_alone_does_not(
    client: OpenSearch, index_name: str
) -> None:
    paths = {path: path.stem for path in sorted((SLICE / "corpus").glob("*.jsonl"))}
    settings = load_settings("mtrag", SETTINGS)
    index_documents(list(paths), index_name, settings, collections=paths)
    judged = read_relevant(SLICE / "tasks.jsonl")
    queries = [q for q in read_queries(SLICE / "tasks.jsonl") if q.query_id in judged]
    assert len(queries) == 228
    gold = Gold({query.query_id: query.text for query in queries}, qrels=judged)
    results = list(open_pipeline(settings, index_name).run(queries, answering=False))
    runs = {variant: ranked(results, f"bm25:{variant}") for variant in WORDINGS}
    chat = open_pipeline(load_settings("chat", ["chunking.method=none"]), index_name)
    runs["chat"] = ranked(list(chat.run(queries, answering=False)), "rrf")
    means: dict[str, float] = {}
    for variant, rankings in runs.items():
        run = RunData(variant, rankings=rankings)
        for name in ("nDCG@5", "R@10"):
            figures = retrieval_measure(name).figures(run, gold).values()
            means[f"{variant} {name}"] = sum(f for f in figures if isinstance(f, float)) / 228
    assert means["chat nDCG@5"] > 0.84  # .857
    assert means["chat R@10"] > 0.92  # .934
    assert means["decayed nDCG@5"] > 0.84  # measured: .858
    assert means["decayed R@10"] > 0.92  # .939
    assert means["rewrite nDCG@5"] > 0.82  # .839
    assert means["original nDCG@5"] < means["rewrite nDCG@5"]
    assert means["original R@10"] < means["rewrite R@10"] < means["decayed R@10"]


def ranked(results: Sequence[Result | Failure], stage: str) -> dict[QueryId, Ranked]:
    """The list called `stage` of every query."""
    return {
        result.query.query_id: tuple((hit.doc_id, hit.score) for hit in ranking)
        for result in results
        if isinstance(result, Result)
        for ranking in result.trace.rankings
        if ranking.stage == stage
    }
