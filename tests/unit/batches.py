"""A batch without an engine: queries that have their evidence, and a model that quotes it."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ccrag.batch.collect import CollectReport, collect
from ccrag.batch.folder import open_work
from ccrag.batch.prepare import PrepareReport, prepare
from ccrag.batch.submit import SubmitReport, submit
from ccrag.config import Settings
from ccrag.engine.index import IndexInfo
from ccrag.engine.names import IndexSpec
from ccrag.errors import EngineError
from ccrag.llm.batch_client import open_provider
from ccrag.llm.client import Llm
from ccrag.pipeline.answering import AnswerGenerator, NoAnswerGenerator, make_answer_generator
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure, QueryState
from ccrag.runs.run import run_queries
from ccrag.types import Evidence, Hit, Query, Ranking, Result, Variant
from tests.provider import Provider
from tests.support import document, query, whole_passage

FACTS = IndexInfo("demo", "p-1", "d-1", "c-1", 4, 4, 0, 1, IndexSpec("window", (), 1.5, 0.75))


def settings_for(provider: Provider | None, **batch: Any) -> Settings:
    url = provider.url if provider else "http://127.0.0.1:1/v1"
    return Settings.model_validate(
        {
            "name": "quoting",
            "answer": {"generator": "llm"},
            "llm": {"model": "quoter"},
            "provider": {"base_url": url, "retries": 1, "timeout_s": 5},
            "batch": batch,
        }
    )


def queries(count: int) -> list[Query]:
    return [
        query(f"When was dam {n} finished?", f"d{n}", f"x{n}", query_id=f"q{n}")
        for n in range(1, count + 1)
    ]


def quote(body: dict[str, Any]) -> str:
    """A reply that repeats the first evidence, as a good model would."""
    first = json.loads(re.findall(r"^\{.*\}$", body["messages"][1]["content"], re.MULTILINE)[0])
    return reply(first["text"], first["id"])


def reply(text: str, *evidence: object) -> str:
    return json.dumps({"answerable": True, "sentences": [{"text": text, "evidence": evidence}]})


class ReadyPipeline:
    """Stands for retrieval: each query has one passage of its first candidate as evidence."""

    def __init__(
        self, writer: AnswerGenerator, *, failing: Sequence[str] = (), weak: Sequence[str] = ()
    ):
        self.index = SimpleNamespace(info=FACTS)
        self.failing = failing
        self.weak = weak
        self.asked: list[str] = []
        self._writer = writer

    def run(self, queries: Sequence[Query]) -> Iterator[Result | Failure]:
        for asked in queries:
            self.asked.append(asked.query_id)
            if asked.query_id in self.failing:
                yield Failure(asked.query_id, EngineError(f"query {asked.query_id}: told to fail"))
                continue
            way = self._way(asked)
            self._writer.write([way])
            yield way.outcome()

    def _way(self, asked: Query) -> QueryState:
        assert asked.candidates.doc_ids
        doc_id = asked.candidates.doc_ids[0]
        passage = whole_passage(document(doc_id, f"The dam {doc_id} was finished in 19{doc_id}."))
        ranking = Ranking.of(asked.query_id, "rrf", [Hit(passage.passage_id, doc_id, 1 / 61)])
        way = QueryState(asked, variants=(Variant("original", asked.text),), ranking=ranking)
        way.passages = {passage.passage_id: passage}
        way.read = (passage,)
        way.note("feedback", "no terms")
        if asked.query_id not in self.weak:
            way.evidence = (
                Evidence("e1", passage.passage_id, doc_id, (), 0, passage.end, passage.text, 1 / 3),
            )
        return way


def pipeline(**options: Any) -> Pipeline:
    return cast(Pipeline, ReadyPipeline(NoAnswerGenerator(), **options))


def asked_at_once(asked: Sequence[Query], out: Path, settings: Settings, llm: Llm) -> None:
    """The run route, for comparison."""
    at_once = ReadyPipeline(make_answer_generator(settings, llm))
    run_queries(cast(Pipeline, at_once), asked, out, settings)


def prepared(folder: Path, settings: Settings, count: int, **options: Any) -> PrepareReport:
    return prepare(pipeline(**options), queries(count), folder, settings)


def submitted(folder: Path, settings: Settings) -> SubmitReport:
    with open_work(folder) as work, open_provider(settings.provider) as provider:
        return submit(work, provider, settings.batch)


def collected(folder: Path, settings: Settings, **options: Any) -> CollectReport:
    with open_work(folder) as work, open_provider(settings.provider) as provider:
        return collect(work, provider, folder.parent / "run", settings, **options)


def answers(run: Path) -> dict[str, list[str]]:
    """The sentences of each answered query of a run."""
    lines = (run / "responses.jsonl").read_bytes().splitlines()
    return {
        record["metadata"]["narrative_id"]: [sentence["text"] for sentence in record["answer"]]
        for record in map(json.loads, lines)
    }
