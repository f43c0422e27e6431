"""A short fact is cited, whatever the pipeline, the language and the sentences around it."""

import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest

from ccrag.indexing import index_documents
from ccrag.layers import load_settings, pipeline_names
from ccrag.opening import Models
from ccrag.engine.client import open_client
from ccrag.engine.index import open_index
from ccrag.recipes import recipe_of
from ccrag.stages.way import Failure
from ccrag.types import Candidates, Query, Result
from tests.fakes import OverlapReranker, QuotingLlm
from tests.short_facts import ShortFact, candidates_of, short_facts

FACTS = short_facts()


def cites(result: Result, fact: ShortFact) -> bool:
    """Whether a sentence of the answer rests on the fact's."""
    return any(
        found.doc_id == fact.doc_id
        and found.start <= fact.start
        and found.end >= fact.start + len(fact.fact)
        for sentence in result.answer.sentences
        for found in result.answer.evidence_of(sentence)
    )


def test_x(index_name, on_engine, tmp_path, monkeypatch):
    monkeypatch.setattr("ccrag.opening.load_reranker", lambda *_, **__: OverlapReranker())
    monkeypatch.setattr("ccrag.opening.load_llm", lambda *_, **__: QuotingLlm())
    lines = [orjson.dumps({"id": f.doc_id, "text": f.text}) for f in FACTS]
    path = tmp_path / "documents.jsonl"
    path.write_bytes(b"\n".join(lines))
    queries = [
        Query(f.doc_id, f.question, Candidates.of(candidates_of(f, FACTS), query_id=f.doc_id))
        for f in FACTS
    ]
    models = Models()
    for name in ['best','lexical','caes-rag-rrf','chat','hybrid','linked']:
        if name == "evidence-multilingual":
            continue
        settings = load_settings(name)
        index_documents([path], index_name, settings)
        client = open_client(settings, notify=lambda _: None)
        index = open_index(client, index_name, recipe_of(settings), settings.engine, pipeline=name)
        pipe = models.pipeline(settings, index)
        missed = []
        n = 0
        for fact, r in zip(FACTS, pipe.run(queries)):
            if isinstance(r, Failure):
                print(r.error); continue
            ok = cites(r, fact)
            n += ok
            if not ok:
                missed.append((fact.doc_id, [s.text for s in r.answer.sentences][:3]))
        print(f"{name:25} {n}", [m[0] for m in missed][:50])
        if name in ("best","lexical","hybrid","chat"): 
            for m in missed: print("     ",m)
