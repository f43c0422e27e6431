from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from ccrag.config import Bm25Settings, ChunkingSettings, EngineSettings, PipelineSettings
from ccrag.engine.build import ChunkedDocument
from ccrag.engine.names import documents_alias, passages_alias
from ccrag.errors import BulkWriteError, IndexMismatchError, IndexMissingError
from ccrag.indexing.spec import index_spec
from ccrag.types import Candidates, Document
from tests.integration.building import build_index, cut, opened
from tests.support import document, query, whole_passages

DOCS = [document(f"d{n}", f"Passage number {n} speaks of apples. It is short.") for n in range(40)]
ALIAS = index_spec(PipelineSettings())


class KilledError(Exception):
    """Stands for a kill: nothing of ours catches it."""


def concrete(client: OpenSearch, alias: str) -> str:
    [index] = client.indices.get_alias(name=alias)
    return str(index)


def test_a_build_is_served_and_doing_it_again_does_nothing(
    client: OpenSearch, index_name: str
) -> None:
    first = build_index(client, index_name, DOCS)
    assert (first.documents, first.passages, first.resumed, first.unchanged) == (40, 40, 0, False)
    again = build_index(client, index_name, DOCS, items=iter([]))
    assert again.unchanged
    assert again.passages_index == first.passages_index
    assert opened(client, index_name).info.passages == 40


def test_documents_come_back_character_for_character(client: OpenSearch, index_name: str) -> None:
    text = "ä 😀 e\u0301 a\u200db\r\nNBSP:\u00a0end  \t\n"
    given = Document("d/1 ✓", "Ein Titel", text, "2020-05-01", ("d2", "d3"), "abstract")
    build_index(client, index_name, [given])
    index = opened(client, index_name)
    assert index.documents(Candidates.whole_index(), ["d/1 ✓"]) == {"d/1 ✓": given}


def test_other_texts_replace_the_old_index(client: OpenSearch, index_name: str) -> None:
    before = build_index(client, index_name, DOCS, corpus="c0")
    after = build_index(client, index_name, DOCS[:3], corpus="c1")
    assert after.passages_index != before.passages_index
    assert concrete(client, passages_alias(index_name, ALIAS)) == after.passages_index
    assert concrete(client, documents_alias(index_name)) == after.documents_index
    assert sorted(client.indices.get(index=f"ccrag-{index_name}-*")) == sorted(
        [after.passages_index, after.documents_index]
    )


def test_an_interrupted_build_serves_the_old_and_is_resumed(
    client: OpenSearch, index_name: str
) -> None:
    old = build_index(client, index_name, DOCS[:2], corpus="c0")
    settings = PipelineSettings()

    def killed_half_way() -> Iterator[ChunkedDocument]:
        yield from list(cut(DOCS, settings))[:20]
        raise KilledError

    small = EngineSettings(bulk_max_bytes=1024)
    with pytest.raises(KilledError):
        build_index(client, index_name, DOCS, corpus="c1", engine=small, items=killed_half_way())
    assert opened(client, index_name).info.passages_index == old.passages_index
    resumed = build_index(client, index_name, DOCS, corpus="c1")
    assert 0 < resumed.resumed <= 20
    assert resumed.passages == 40
    assert opened(client, index_name).info.passages_index == resumed.passages_index


def test_leftovers_of_another_interrupted_build_are_cleaned_up(
    client: OpenSearch, index_name: str
) -> None:
    def killed() -> Iterator[ChunkedDocument]:
        yield from whole_passages(DOCS[:1])
        raise KilledError

    with pytest.raises(KilledError):
        build_index(client, index_name, DOCS, corpus="lost", items=killed())
    built = build_index(client, index_name, DOCS, corpus="c1")
    assert sorted(client.indices.get(index=f"ccrag-{index_name}-*")) == sorted(
        [built.passages_index, built.documents_index]
    )


def test_another_chunking_shares_documents_not_passages(
    client: OpenSearch, index_name: str
) -> None:
    wide, narrow = PipelineSettings(), PipelineSettings(chunking=ChunkingSettings(max_words=8))
    first = build_index(client, index_name, DOCS, wide)
    second = build_index(client, index_name, DOCS, narrow)
    assert first.documents_index == second.documents_index
    assert opened(client, index_name, wide).info.passages == 40
    found = opened(client, index_name, narrow).candidate_passages(query("x", "d1"))
    assert len(found) == 2


def test_a_missing_index_names_the_command(client: OpenSearch, index_name: str) -> None:
    with pytest.raises(IndexMissingError, match=f"ccrag index PATH... --index {index_name}"):
        opened(client, index_name)


def test_passages_of_replaced_documents_go_with_them(client: OpenSearch, index_name: str) -> None:
    narrow = PipelineSettings(chunking=ChunkingSettings(max_words=8))
    build_index(client, index_name, DOCS, narrow, corpus="c0")
    build_index(client, index_name, DOCS[:3], corpus="c1")
    with pytest.raises(IndexMissingError, match=f"ccrag index PATH... --index {index_name}"):
        opened(client, index_name, narrow)
    assert len(client.indices.get(index=f"ccrag-{index_name}-*")) == 2


def test_an_index_of_another_version_is_refused(client: OpenSearch, index_name: str) -> None:
    built = build_index(client, index_name, DOCS[:1])
    meta = client.indices.get_mapping(index=built.passages_index)[built.passages_index]["mappings"][
        "_meta"
    ]
    client.indices.put_mapping(
        index=built.passages_index, body={"_meta": {**meta, "fingerprint": "000000000000"}}
    )
    with pytest.raises(IndexMismatchError, match="fingerprint 000000000000"):
        opened(client, index_name)


def test_every_refused_item_is_counted(client: OpenSearch, index_name: str) -> None:
    items = whole_passages(DOCS[:3])
    items[1] = items[1]._replace(edges=2**40)  # more edges than an integer field holds
    with pytest.raises(BulkWriteError, match="1 items could not be written, first 'd1'") as caught:
        build_index(client, index_name, DOCS[:3], items=items)
    assert list(caught.value.failed) == ["d1"]


def test_a_document_of_20_mb_is_indexed(client: OpenSearch, index_name: str) -> None:
    text = "A sentence of some words, to be repeated often. " * 430_000
    report = build_index(client, index_name, [document("big", text)])
    assert len(text) > 20_000_000
    assert report.passages > 10_000
    stored = opened(client, index_name).documents(Candidates.whole_index(), ["big"])
    assert stored["big"].text == text


def test_k1_and_b_are_the_indexs_own(client: OpenSearch, index_name: str) -> None:
    flat = PipelineSettings(bm25=Bm25Settings(k1=0.0, b=0.0))
    built = build_index(client, index_name, DOCS[:1], flat)
    settings = client.indices.get_settings(index=built.passages_index)
    similarity = settings[built.passages_index]["settings"]["index"]["similarity"]["default"]
    assert (float(similarity["k1"]), float(similarity["b"])) == (0.0, 0.0)
    with pytest.raises(IndexMissingError):
        opened(client, index_name)
