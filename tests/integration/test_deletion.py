"""Deleted documents are nowhere any more: no index, no cache, no answer."""

import random
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from opensearchpy import OpenSearch
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.config import PipelineSettings, Settings
from ccrag.engine.indexes import list_indexes
from ccrag.errors import IndexMissingError, InputError, UnknownDocumentError
from ccrag.indexing.delete import delete_documents
from ccrag.llm.cache import ReplyCache
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatMessage, ChatParameters, ChatRequest
from ccrag.models.cache import CachedVector, VectorCache, key_of
from ccrag.types import Candidates, Document, Query
from tests.fakes import HashEncoder
from tests.integration.building import build_index, opened, pipeline
from tests.support import engine_settings, query

SHARED = "This very sentence stands in two of the documents."
SETTINGS = (
    PipelineSettings(),
    PipelineSettings.model_validate({"chunking": {"method": "blocks"}}),
    PipelineSettings.model_validate(
        {
            "vectors": {"mode": "exact"},
            "retrieval": {"lists": ["bm25", "dense"]},
            "rerank": {"method": "none"},
            "select": {"read": "units"},
        }
    ),
)


def documents() -> list[Document]:
    made = [
        Document(
            f"doc{n}",
            f"Title {n}",
            f"The plant number{n} grows by the river in spring. Its leaf is of colour{n}.",
            links=(f"doc{(n + 1) % 8}",),
            collection="wet" if n % 2 else "dry",
        )
        for n in range(8)
    ]
    made[3] = Document("doc3", "Title 3", f"Plant number3. {SHARED}", links=("doc4",))
    made[5] = Document("doc5", "Title 5", f"Plant number5. {SHARED}", links=("doc3",))
    return made


def build_all(client: OpenSearch, name: str) -> None:
    for settings in SETTINGS:
        build_index(client, name, documents(), settings, encoder=HashEncoder())


def options(engine_url: str, folder: Path) -> Settings:
    return Settings.model_validate(
        {
            "engine": engine_settings(engine_url),
            "encoder": {"cache_folder": folder / "vectors"},
            "provider": {"cache_folder": folder / "replies"},
        }
    )


def everything(client: OpenSearch, name: str) -> str:
    """All that the indices of `name` hold, mappings included."""
    hits = client.search(index=f"ccrag-{name}-*", body={"size": 1_000})["hits"]["hits"]
    stated = client.indices.get(index=f"ccrag-{name}-*")
    return orjson.dumps([hits, stated]).decode()


def test_a_deleted_document_is_nowhere_and_all_else_is_as_before(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_all(client, index_name)
    asked = query("Which plant number7 grows?", "doc6", "doc7")
    before = [
        pipeline(client, index_name, settings, encoder=HashEncoder()).answer(asked)
        for settings in SETTINGS
    ]
    report = delete_documents(index_name, ["doc4", "doc1"], options(engine_url, tmp_path))
    assert report.documents == 2
    assert len(report.items) == 5  # documents, three index specs of passages, units
    assert set(report.items.values()) == {2}
    held = everything(client, index_name)
    for trace in ("doc4", "doc1", "number4", "colour1", "Title 4"):
        assert trace not in held
    for settings, earlier in zip(SETTINGS, before, strict=True):
        chosen = pipeline(client, index_name, settings, encoder=HashEncoder())
        assert chosen.index.info.documents == 6
        assert dict(chosen.index.info.collections) == {"dry": 3, "wet": 1}
        with pytest.raises(UnknownDocumentError, match="doc4"):
            chosen.answer(query("plant number4", "doc4", "doc6"))
        whole = chosen.search(Query("q", "plant number4 colour1", Candidates.whole_index()))
        assert not {hit.doc_id for hit in whole.ranking} & {"doc1", "doc4"}
        after = chosen.answer(asked)
        assert after.read == earlier.read
        assert [s.text for s in after.answer.sentences] == [
            s.text for s in earlier.answer.sentences
        ]
    [listed] = [found for found in list_indexes(client) if found.name == index_name]
    assert listed.documents == 6


def test_an_index_of_another_name_is_left_alone(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_index(client, index_name, documents())
    build_index(client, f"{index_name}-b", documents())
    delete_documents(index_name, ["doc4"], options(engine_url, tmp_path))
    assert opened(client, f"{index_name}-b").info.documents == 8
    assert "number4" in everything(client, f"{index_name}-b")


def test_indexing_the_same_files_again_brings_it_back(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_all(client, index_name)
    delete_documents(index_name, ["doc4"], options(engine_url, tmp_path))
    again = build_index(client, index_name, documents())
    assert not again.unchanged
    assert opened(client, index_name).info.documents == 8


def test_one_after_the_other_until_none_is_left(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_index(client, index_name, documents(), SETTINGS[2], encoder=HashEncoder())
    ids = [document.doc_id for document in documents()]
    random.Random(5).shuffle(ids)
    for at in range(0, len(ids), 3):
        delete_documents(index_name, ids[at : at + 3], options(engine_url, tmp_path))
        held = everything(client, index_name)
        assert not [doc_id for doc_id in ids[: at + 3] if doc_id in held]
        assert all(doc_id in held for doc_id in ids[at + 3 :])
    chosen = pipeline(client, index_name, SETTINGS[2], encoder=HashEncoder())
    assert chosen.index.info.documents == 0
    assert chosen.answer(Query("q", "plant", Candidates.whole_index())).answer.abstained


@pytest.mark.parametrize("ids", [["doc1", "nope"], ["nope", "never"]])
def test_an_absent_id_is_reported_and_the_others_go(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path, ids: Sequence[str]
) -> None:
    build_index(client, index_name, documents())
    before = everything(client, index_name)
    report = delete_documents(index_name, ids, options(engine_url, tmp_path))
    assert report.absent == tuple(doc_id for doc_id in ids if doc_id != "doc1")
    assert report.documents == len(ids) - len(report.absent)
    assert (everything(client, index_name) == before) == (not report.documents)
    again = delete_documents(index_name, ids, options(engine_url, tmp_path))
    assert (again.documents, again.absent) == (0, tuple(ids))


def test_no_id_is_an_error(index_name: str, engine_url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document to delete was named"):
        delete_documents(index_name, [], options(engine_url, tmp_path))


def test_a_missing_index_is_an_error(engine_url: str, tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="nothing was deleted"):
        delete_documents("not-there", ["a"], options(engine_url, tmp_path))


def test_cached_vectors_go_unless_another_document_has_the_text(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_index(client, index_name, documents())
    settings = options(engine_url, tmp_path)
    gone = ["Plant number3.", f"Plant number3. {SHARED}", f"Title 3. Plant number3. {SHARED}"]
    stays = [SHARED, "Plant number5.", "Something else."]
    cache = VectorCache(tmp_path / "vectors" / "m-1.sqlite")
    cache.add({key_of("", text): CachedVector(b"1234", False) for text in [*gone, *stays]})
    report = delete_documents(index_name, ["doc3"], settings)
    assert report.vectors == len(gone)
    assert not cache.fetch([key_of("", text) for text in gone])
    assert len(cache.fetch([key_of("", text) for text in stays])) == len(stays)


def test_cached_replies_to_requests_that_showed_it_go(
    client: OpenSearch, index_name: str, engine_url: str, tmp_path: Path
) -> None:
    build_index(client, index_name, documents())
    replies = ReplyCache(tmp_path / "replies", server="s")

    def request(text: str) -> ChatRequest:
        line = orjson.dumps({"id": "e1", "text": text}).decode()
        return ChatRequest((ChatMessage("user", line),), ChatParameters("m"), None, "answer@1")

    shown = request("The plant number2 grows by the river in spring.")
    others = [request("The plant number6 grows by the river in spring."), request(SHARED)]
    for asked in (shown, *others):
        replies.keep(asked, ChatReply("It grows.", "m", None, "stop"))
    report = delete_documents(index_name, ["doc2", "doc3"], options(engine_url, tmp_path))
    assert report.replies == 1
    assert replies.fetch(shown) is None
    assert all(replies.fetch(asked) for asked in others)


@pytest.mark.usefixtures("on_engine")
def test_the_command(
    client: OpenSearch, index_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCRAG_ENCODER__CACHE_FOLDER", str(tmp_path))
    build_index(client, index_name, documents())
    done = CliRunner().invoke(app, ["index", "--index", index_name, "--delete", "doc1, doc2"])
    assert done.exit_code == 0, done.output
    assert f"ccrag-{index_name}-documents: 2 taken out" in done.stdout
    assert f"{index_name}: 2 documents deleted, with 0 cached vectors" in done.stdout
    found = CliRunner().invoke(app, ["search", "plant number1", "--index", index_name, "--all"])
    assert found.exit_code == 0
    assert "doc3" in found.stdout
    assert "doc1" not in found.stdout
    again = CliRunner().invoke(app, ["index", "--index", index_name, "--delete", "doc1"])
    assert again.exit_code == 0, again.output
    assert f"not in {index_name}, deleted before or never there: doc1" in again.stdout
    assert CliRunner().invoke(app, ["index", "--index", index_name]).exit_code == 2
