"""Dense lists on a real engine: all ways to keep vectors give one ranking, inside the filter."""

from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from ccrag.config import ChunkingSettings, EngineSettings, PipelineSettings, Settings
from ccrag.engine.build import ChunkedDocument
from ccrag.errors import IndexMismatchError, ModelError
from ccrag.indexing.passages import chunked_documents
from ccrag.pipeline.factory import check_encoder
from ccrag.pipeline.retrievers.dense import engine_score
from ccrag.types import Ranking, Result
from tests.fakes import HashEncoder
from tests.integration.building import build_index, opened, pipeline
from tests.support import document, query

DOCUMENTS = [document(f"d{n:03}", f"Passage {n} tells of stone and of wood.") for n in range(300)]
ASKED = query("What of stone?", *(f"d{n:03}" for n in range(0, 300, 7)))


def settings(mode: str, **more: Any) -> PipelineSettings:
    return PipelineSettings.model_validate(
        {
            "vectors": {"mode": mode},
            "retrieval": {"lists": ["dense"], "depth": 20},
            "feedback": {"enabled": False},
            "rerank": {"method": "none"},
            **more,
        }
    )


def dense_list(result: Result) -> Ranking:
    [ranking] = [r for r in result.trace.rankings if r.stage == "dense:original"]
    return ranking


def by_numpy(encoder: HashEncoder) -> list[tuple[str, float]]:
    """The candidates' documents by cosine, computed here."""
    allowed = [doc for doc in DOCUMENTS if doc.doc_id in ASKED.candidates]
    vectors = encoder.encode_passages([doc.text for doc in allowed]).vectors
    dots = vectors @ encoder.encode_queries([ASKED.text]).vectors[0]
    order = np.argsort(-dots)[:20]
    return [(allowed[at].doc_id, engine_score(float(dots[at]))) for at in order]


@pytest.mark.parametrize("mode", ["exact", "hnsw", "on-demand"])
@pytest.mark.parametrize("shards", [1, 3])
def test_every_mode_ranks_as_numpy_does(
    client: OpenSearch, index_name: str, mode: str, shards: int
) -> None:
    encoder = HashEncoder()
    engine = EngineSettings(shards=shards)
    build_index(client, index_name, DOCUMENTS, settings(mode), encoder=encoder, engine=engine)
    result = pipeline(client, index_name, settings(mode), encoder=encoder).answer(ASKED)
    found = [(hit.doc_id, hit.score) for hit in dense_list(result)]
    expected = by_numpy(encoder)
    assert [doc_id for doc_id, _ in found] == [doc_id for doc_id, _ in expected]
    scores = [score for _, score in expected]
    assert [score for _, score in found] == pytest.approx(scores, rel=1e-5)


@pytest.mark.parametrize("mode", ["exact", "hnsw", "on-demand"])
def test_candidates_behind_a_thousand_closer_decoys_all_come_back(
    client: OpenSearch, index_name: str, mode: str
) -> None:
    decoys = [document(f"x{n:04}", f"Decoy {n}.") for n in range(1_000)]
    three = [document(f"c{n}", f"Far away {n}.") for n in range(3)]
    encoder = HashEncoder(same=[["the question", *(doc.text for doc in decoys)]])
    build_index(client, index_name, [*decoys, *three], settings(mode), encoder=encoder)
    asked = query("the question", "c0", "c1", "c2")
    result = pipeline(client, index_name, settings(mode), encoder=encoder).answer(asked)
    assert {hit.doc_id for hit in dense_list(result)} == {"c0", "c1", "c2"}


@pytest.mark.parametrize("mode", ["exact", "hnsw", "on-demand"])
def test_dense_finds_texts_that_share_no_word_with_the_query(
    client: OpenSearch, index_name: str, mode: str
) -> None:
    meant = document("meant", "Felines sleep all day.")
    other = document("other", "The cat flap of the question is broken.")
    encoder = HashEncoder(same=[["Why is my cat so lazy?", meant.text]])
    hybrid = settings(mode, retrieval={"lists": ["bm25", "dense"]}, variants={"use": ["original"]})
    build_index(client, index_name, [meant, other], hybrid, encoder=encoder)
    asked = query("Why is my cat so lazy?", "meant", "other")
    result = pipeline(client, index_name, hybrid, encoder=encoder).answer(asked)
    assert [r.stage for r in result.trace.rankings] == ["bm25:original", "dense:original", "rrf"]
    assert dense_list(result).hits[0].doc_id == "meant"
    assert {hit.doc_id for hit in result.ranking} == {"meant", "other"}


def test_the_whole_index_is_searched_when_asked_for(client: OpenSearch, index_name: str) -> None:
    encoder = HashEncoder()
    for mode in ("exact", "hnsw"):
        build_index(client, index_name, DOCUMENTS, settings(mode), encoder=encoder)
        result = pipeline(client, index_name, settings(mode), encoder=encoder).answer(query("wood"))
        assert len(dense_list(result)) == 20


def test_texts_come_back_without_their_vectors(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, DOCUMENTS[:2], settings("exact"), encoder=HashEncoder())
    index = opened(client, index_name, settings("exact"))
    [passage] = index.candidate_passages(query("x", "d001"))
    assert index.passages([passage.passage_id]) == {passage.passage_id: passage}


def test_of_many_candidates_on_demand_encodes_the_bm25_list(
    client: OpenSearch, index_name: str
) -> None:
    few = settings("on-demand", vectors={"mode": "on-demand", "on_demand_passages": 5})
    encoder = HashEncoder()
    build_index(client, index_name, DOCUMENTS, few)
    result = pipeline(client, index_name, few, encoder=encoder).answer(ASKED)
    assert len(dense_list(result)) == 20
    assert "more than 5 candidate passages" in result.trace.notes[0].message


def test_a_query_of_another_encoder_is_refused(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, DOCUMENTS[:2], settings("exact"), encoder=HashEncoder())
    info = opened(client, index_name, settings("exact")).info
    check_encoder(HashEncoder(), info, Settings(name="dense"))
    with pytest.raises(IndexMismatchError, match=r"another encoder \(revision '1', here '2'\)"):
        check_encoder(HashEncoder(revision="2"), info, Settings(name="dense"))


@pytest.mark.parametrize("method", ["semantic", "topic-shift", "window"])
def test_a_missing_encoder_is_an_error_and_never_a_fallback(method: str) -> None:
    chunking = ChunkingSettings.model_validate({"method": method})
    with pytest.raises(ModelError, match="needs an encoder"):
        list(
            chunked_documents([ChunkedDocument(DOCUMENTS[0], 0)], chunking, None, with_vectors=True)
        )


def test_vector_and_plain_indexes_live_side_by_side(client: OpenSearch, index_name: str) -> None:
    encoder = HashEncoder()
    plain = PipelineSettings()
    build_index(client, index_name, DOCUMENTS[:9], plain)
    build_index(client, index_name, DOCUMENTS[:9], settings("exact"), encoder=encoder)
    assert opened(client, index_name, plain).info.spec.vectors is None
    assert opened(client, index_name, settings("exact")).info.spec.vectors == "exact"
