"""Invariants 1 and 2 on a real engine: closure, and an order that nothing physical changes."""

import random

import pytest
from opensearchpy import OpenSearch

from ccrag.config import (
    Bm25Settings,
    EngineSettings,
    FeedbackSettings,
    PipelineSettings,
    RetrievalSettings,
    SelectSettings,
    VariantSettings,
)
from ccrag.errors import CcragError, UnknownDocumentError
from ccrag.pipeline.state import Failure
from ccrag.types import Candidates, Document, Query, Result, WeightedText
from tests.integration.building import build_index, opened, pipeline
from tests.support import document, query

DECOY = (
    "The zebra migration of the northern plains follows the rain. Zebra herds migrate each year."
)
RELEVANT = "Some animals move with the seasons. A zebra may be among them, as the rain decides."
SETTINGS = [
    PipelineSettings(),
    PipelineSettings(bm25=Bm25Settings(statistics="candidates")),
    PipelineSettings(select=SelectSettings(neighbours=2)),
    PipelineSettings(
        retrieval=RetrievalSettings(lists=("candidate-order",)),
        variants=VariantSettings(use=("original",)),
        feedback=FeedbackSettings(enabled=False),
    ),
]


@pytest.fixture(scope="module")
def decoys(client: OpenSearch) -> str:
    """1,000 documents that match better than the three that may answer."""
    name = "test-decoys"
    documents = [document(f"decoy{n}", f"{DECOY} Variant {n}.") for n in range(1_000)]
    documents += [document(f"c{n}", f"{RELEVANT} Note {n}.") for n in range(3)]
    build_index(client, name, documents)
    return name


@pytest.mark.parametrize("settings", SETTINGS)
def test_decoys_never_come_through_and_candidates_are_not_crowded_out(
    client: OpenSearch, decoys: str, settings: PipelineSettings
) -> None:
    asked = query("zebra migration with the rain", "c0", "c1", "c2")
    result = pipeline(client, decoys, settings).answer(asked)
    assert {hit.doc_id for hit in result.ranking} == {"c0", "c1", "c2"}
    assert seen_documents(result) <= {"c0", "c1", "c2"}


def seen_documents(result: Result) -> set[str]:
    """Every document id anywhere in a result."""
    seen = {hit.doc_id for ranking in result.trace.rankings for hit in ranking}
    seen |= {passage.doc_id for passage in result.passages.values()}
    seen |= {evidence.doc_id for evidence in result.answer.evidence}
    return seen | set(result.answer.references)


def test_random_candidate_sets_stay_closed(client: OpenSearch, decoys: str) -> None:
    chance = random.Random(7)
    ids = [f"decoy{n}" for n in range(1_000)] + ["c0", "c1", "c2"]
    queries = [
        Query(
            f"q{n}",
            chance.choice([DECOY, RELEVANT, "rain", "herds of zebra in 2020"]),
            Candidates.of(chance.sample(ids, chance.randint(1, 40)), query_id=f"q{n}"),
        )
        for n in range(60)
    ]
    for settings in SETTINGS:
        for asked, outcome in zip(
            queries, pipeline(client, decoys, settings).run(queries), strict=True
        ):
            assert isinstance(outcome, Result)
            assert outcome.query.query_id == asked.query_id
            assert seen_documents(outcome) <= set(asked.candidates.doc_ids or ())


def test_unknown_candidates_are_refused_or_noted_and_lose_no_other_query(
    client: OpenSearch, decoys: str
) -> None:
    queries = [
        query("zebra", "c0", query_id="good"),
        query("zebra", "c0", "nope", query_id="bad"),
        query("zebra", "nope", query_id="worse"),
    ]
    good, bad, worse = pipeline(client, decoys).run(queries)
    assert isinstance(good, Result)
    assert isinstance(bad, Failure)
    assert isinstance(bad.error, UnknownDocumentError)
    assert isinstance(worse, Failure)
    tolerant = PipelineSettings.model_validate({"candidates": {"unknown": "warn"}})
    good, noted, still_bad = pipeline(client, decoys, tolerant).run(queries)
    assert isinstance(noted, Result)
    assert "left out: 'nope'" in noted.trace.notes[0].message
    assert isinstance(still_bad, Failure)


@pytest.mark.parametrize(
    "text",
    [
        "zebra AND (rain OR",
        'text:zebra^5 "rain~2" +must -not && || ! { } [ ] ? : \\ /',
        "*",
        "órgãos {x} / ' \" zebra",
        "the of and",
        "\u200d",
        "斑马迁徙",
        "zebra " * 3_000,
    ],
)
@pytest.mark.parametrize("settings", SETTINGS[:2])
def test_queries_are_words_whatever_they_hold(
    client: OpenSearch, decoys: str, text: str, settings: PipelineSettings
) -> None:
    result = pipeline(client, decoys, settings).answer(query(text, "c0", "c1"))
    assert ("zebra" in text) == bool(len(result.ranking))


def test_a_candidate_set_beyond_the_terms_limit_is_searched_whole(
    client: OpenSearch, decoys: str
) -> None:
    tolerant = PipelineSettings.model_validate({"candidates": {"unknown": "warn"}})
    ids = ["c2", *(f"absent{n}" for n in range(70_000)), "c0"]
    index = opened(client, decoys, tolerant)
    from ccrag.engine import bodies, hits
    from ccrag.engine.search import Slot

    asked = query("zebra rain", *ids)
    slot: Slot
    [slot] = index.search(
        [
            bodies.bm25_body(
                [WeightedText(asked.text, 1.0)], asked.candidates, depth=10, title_weight=0
            )
        ]
    )
    assert not isinstance(slot, CcragError)
    ranking = hits.parse_ranking(asked, "bm25", slot)
    assert {hit.doc_id for hit in ranking} == {"c0", "c2"}


def test_passages_that_match_nothing_are_no_hits_and_lead_to_an_abstention(
    client: OpenSearch, decoys: str
) -> None:
    result = pipeline(client, decoys).answer(query("quantum chromodynamics", "c0", "c1"))
    assert [len(ranking) for ranking in result.trace.rankings] == [0] * len(result.trace.rankings)
    assert result.answer.abstained
    assert result.answer.references == ()


def test_empty_documents_lead_to_an_abstention(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, [document("e1", ""), document("e2", " \n ")])
    for settings in SETTINGS:
        result = pipeline(client, index_name, settings).answer(query("anything", "e1", "e2"))
        assert result.answer.abstained


TIED = [document(f"t{n:02}", "The same few words about a comet and its tail.") for n in range(30)]


@pytest.mark.parametrize("shards", [1, 3])
def test_ties_are_cut_by_passage_id_on_any_shard_count_and_any_order_of_indexing(
    client: OpenSearch, index_name: str, shards: int
) -> None:
    shuffled: list[Document] = random.Random(shards).sample(TIED, len(TIED))
    build_index(client, index_name, shuffled, engine=EngineSettings(shards=shards))
    shallow = PipelineSettings(
        retrieval=RetrievalSettings(depth=5), feedback=FeedbackSettings(enabled=False)
    )
    result = pipeline(client, index_name, shallow).answer(
        query("comet tail", *(d.doc_id for d in TIED))
    )
    first = result.trace.rankings[0]
    assert [hit.doc_id for hit in first] == ["t00", "t01", "t02", "t03", "t04"]


def test_three_shards_score_as_one(client: OpenSearch, index_name: str) -> None:
    documents = [document(f"d{n}", f"{RELEVANT} {'zebra ' * (n % 7)}Note {n}.") for n in range(90)]
    asked = query("zebra rain note 7", *(doc.doc_id for doc in documents))
    outcomes = []
    for shards in (1, 3):
        build_index(
            client, index_name, documents, corpus=f"s{shards}", engine=EngineSettings(shards=shards)
        )
        result = pipeline(client, index_name).answer(asked)
        outcomes.append((result.ranking, result.answer))
    assert outcomes[0] == outcomes[1]


def test_the_same_text_in_two_documents_is_kept_twice(client: OpenSearch, index_name: str) -> None:
    build_index(client, index_name, [document("a", RELEVANT), document("b", RELEVANT)])
    result = pipeline(client, index_name).answer(query("zebra", "b", "a"))
    assert [hit.doc_id for hit in result.ranking] == ["a", "b"]
    assert result.answer.references == ("a",)


def test_each_sentence_cites_the_document_that_holds_it(
    client: OpenSearch, index_name: str
) -> None:
    info = {
        "copper": "The copper mine was opened in the year 1888 by two brothers.",
        "ferry": "The old ferry crosses the lake twice a day in every season.",
        "school": "The village school has kept its bell since the great fire.",
    }
    build_index(client, index_name, [document(doc_id, text) for doc_id, text in info.items()])
    asked = query("copper mine opened, ferry crosses lake, school bell", *info)
    answer = pipeline(client, index_name).answer(asked).answer
    assert len(answer.sentences) == 3
    for sentence in answer.sentences:
        [citation] = sentence.citations
        assert info[answer.references[citation]] == sentence.text
