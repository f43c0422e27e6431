"""Candidates that are a collection: closure, what is unknown, and the commands."""

import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from ccrag.config import PipelineSettings
from ccrag.errors import UnknownCollectionError
from ccrag.pipeline.state import Failure
from ccrag.types import Candidates, Document, Query, Turn
from ccrag.types import Result as Answered
from tests.fakes import HashEncoder
from tests.integration.building import build_index, opened, pipeline
from tests.integration.commands import ccrag
from tests.integration.example import write_lines

WORDS = ("bond", "stock", "fund", "park", "permit", "river")
NAME = "test-collections"
MTRAG: dict[str, Any] = {
    "chunking": {"method": "none"},
    "vectors": {"mode": "exact"},
    "variants": {"use": ["last-two", "decayed"], "dense": ["last-three", "rewrite"]},
    "retrieval": {"lists": ["bm25", "dense"]},
    "feedback": {"enabled": False},
    "rerank": {"method": "none"},
}
SETTINGS = [
    PipelineSettings.model_validate(MTRAG),
    PipelineSettings.model_validate({**MTRAG, "vectors": {"mode": "on-demand"}}),
    PipelineSettings.model_validate(
        {**MTRAG, "bm25": {"statistics": "candidates"}, "retrieval": {"lists": ["bm25"]}}
    ),
    PipelineSettings.model_validate({"chunking": {"method": "none"}, "select": {"neighbours": 1}}),
]


def documents() -> list[Document]:
    """Two collections and some documents in none, all of the same words."""
    chance = random.Random(3)
    homes = ["fiqa", "govt", None]
    return [
        Document(
            f"d{n}",
            "",
            f"The {chance.choice(WORDS)} and the {chance.choice(WORDS)} of case {n} are told here.",
            collection=homes[n % 3],
        )
        for n in range(90)
    ]


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> str:
    for settings in SETTINGS:
        build_index(client, NAME, documents(), settings, encoder=HashEncoder())
    return NAME


def homes_seen(result: Answered) -> set[str]:
    """Every document id anywhere in a result."""
    seen = {hit.doc_id for ranking in result.trace.rankings for hit in ranking}
    seen |= {passage.doc_id for passage in result.passages.values()}
    seen |= {evidence.doc_id for evidence in result.answer.evidence}
    return seen | set(result.answer.references)


@pytest.mark.parametrize("settings", SETTINGS)
def test_random_dialogues_stay_in_their_collection(
    client: OpenSearch, index: str, settings: PipelineSettings
) -> None:
    chance = random.Random(11)
    inside = {
        name: {d.doc_id for d in documents() if d.collection == name} for name in ("fiqa", "govt")
    }
    queries = [
        Query(
            f"q{n}",
            f"What of the {chance.choice(WORDS)}?",
            Candidates.of_collection(chance.choice(["fiqa", "govt"])),
            tuple(Turn("user", chance.choice(WORDS)) for _ in range(chance.randint(0, 4))),
        )
        for n in range(40)
    ]
    asked = pipeline(client, index, settings, encoder=HashEncoder())
    found = 0
    for query, outcome in zip(queries, asked.run(queries), strict=True):
        assert isinstance(outcome, Answered)
        assert homes_seen(outcome) <= inside[query.candidates.collection or ""]
        found += len(outcome.ranking)
    assert found > 400


def test_an_unknown_collection_is_named_with_those_there_are(
    client: OpenSearch, index: str
) -> None:
    asked = pipeline(client, index, SETTINGS[0], encoder=HashEncoder())
    queries = [
        Query("good", "a bond?", Candidates.of_collection("fiqa")),
        Query("bad", "a bond?", Candidates.of_collection("fica")),
    ]
    good, bad = asked.run(queries)
    assert isinstance(good, Answered)
    assert isinstance(bad, Failure)
    assert isinstance(bad.error, UnknownCollectionError)
    assert str(bad.error) == (
        "query 'bad': index 'test-collections' does not hold collection 'fica'; its collections "
        "are 'fiqa', 'govt'; correct the name, or index the documents as NAME=PATH"
    )


def test_documents_of_another_collection_cannot_be_opened(client: OpenSearch, index: str) -> None:
    held = opened(client, index, SETTINGS[3])
    fiqa = Candidates.of_collection("fiqa")
    assert held.documents(fiqa, ["d0"])["d0"].collection == "fiqa"
    assert held.info.collections == {"fiqa": 30, "govt": 30}
    for doc_id in ("d1", "d2"):
        with pytest.raises(Exception, match=f"'{doc_id}' is not among the candidates"):
            held.documents(fiqa, [doc_id])


def test_a_list_of_a_collection_holds_its_documents_and_no_other(
    client: OpenSearch, index: str
) -> None:
    held = opened(client, index, SETTINGS[3])
    page = held.listed(Candidates.of_collection("govt"), text="", size=100)
    assert {listed.doc_id for listed in page.documents} == {f"d{n}" for n in range(1, 90, 3)}
    assert page.after is None
    first = held.listed(Candidates.of_collection("govt"), text="", size=2)
    assert [listed.doc_id for listed in first.documents] == ["d1", "d10"]
    assert first.after is not None


@pytest.mark.usefixtures("on_engine", "fake_models")
def test_the_commands(tmp_path: Path, index_name: str) -> None:
    passages = [{"_id": f"f-{n}-0-{n}", "text": f"A bond of kind {n} pays."} for n in range(5)]
    fiqa = write_lines(tmp_path / "fiqa.jsonl", passages)
    govt = write_lines(tmp_path / "govt.jsonl", [{"_id": "g-1", "text": "A bond for the park."}])
    at = ("--index", index_name, "--pipeline", "mtrag")
    built = ccrag("index", f"fiqa={fiqa}", f"govt={govt}", *at)
    assert f"{index_name} ready (whole-exact-" in built.stdout
    assert "documents per collection: fiqa 5, govt 1" in built.stderr
    turns = [("user", "What is a bond?"), ("agent", "A loan."), ("user", "What does it pay?")]
    record = {
        "task_id": "c<::>2",
        "Collection": "fiqa",
        "input": [{"speaker": speaker, "text": text} for speaker, text in turns],
    }
    tasks = write_lines(tmp_path / "tasks.jsonl", [record])
    ccrag("run", tasks, *at, "--out", tmp_path / "run")
    [told] = orjson.loads((tmp_path / "run" / "provenance.json").read_bytes())["queries"]
    assert [ranking["stage"] for ranking in told["rankings"]][-1] == "rrf"
    lines = (tmp_path / "run" / "run.trec").read_text().splitlines()
    assert sorted(line.split()[2] for line in lines) == [f"f-{n}-0-{n}" for n in range(5)]
    beir = write_lines(tmp_path / "q.jsonl", [{"_id": "c<::>2", "text": "|user|: park bond"}])
    ccrag("run", beir, *at, "--collection", "govt", "--out", tmp_path / "beir")
    [line] = (tmp_path / "beir" / "run.trec").read_text().splitlines()
    assert line.split()[2] == "g-1"
    found = ccrag("search", "park bond", *at, "--collection", "govt", "--json").stdout
    assert [hit[0].split("#")[0] for hit in orjson.loads(found)["ranking"]["hits"]] == ["g-1"]
    shown = ccrag("search", "park bond", *at, "--collection", "govt", "--show-body").stdout
    assert b'{"term":{"collection":"govt"}}' in orjson.dumps(orjson.loads(shown))
    unknown = ccrag("search", "bond", *at, "--collection", "fica", code=1)
    assert "does not hold collection 'fica'; its collections are 'fiqa', 'govt'" in unknown.stderr
    both = ccrag("search", "bond", *at, "--collection", "fiqa", "--all", code=1)
    assert "one of --docs, --docs-file, --collection, --all" in both.stderr
    wrong = ccrag("index", f"={fiqa}", *at, code=1)
    assert "expected NAME=PATH" in wrong.stderr
