"""Units on a real engine: stored or made of the candidates, read whole or linked, never leaking."""

import json
import random
from typing import Any

import pytest
from opensearchpy import OpenSearch

from ccrag.config import PipelineSettings
from ccrag.errors import IndexMissingError
from ccrag.pipeline.state import Failure
from ccrag.retrieval.budget import count_tokens
from ccrag.text.tokens import estimate_tokens
from ccrag.types import Candidates, Document, Query, Result
from tests.fakes import HashEncoder, QuotingLlm, ScriptedLlm
from tests.integration.building import build_index, opened, pipeline
from tests.integration.test_closure import seen_documents
from tests.support import query

RULE = "Badgers dig a new burrow when the old one floods. It takes them a whole night."
MORE = "A burrow has several doors. Nobody counts them in winter. The deepest room is for sleeping."
DOCUMENTS = [
    Document(
        "rule", "The burrow rule", f"# First\n\n{RULE}\n\n# Second\n\n{MORE}", links=("doors",)
    ),
    Document("doors", "Doors", f"Doors of a burrow face south. {MORE}", links=("secret",)),
    Document("secret", "Hidden", "The hidden burrow is where badgers really sleep at night."),
    Document("old", "Law 1", "The law lets badgers dig a burrow.", "2001", version_of="law"),
    Document("new", "Law 2", "The law lets badgers dig two.", "2020", ("old",), version_of="law"),
    Document("other", "Weather", "Rain is common. Floods follow rain. A burrow may flood."),
]
QUESTION = "When do badgers dig a new burrow, and where do the doors face?"
BASE: dict[str, Any] = {
    "chunking": {"max_words": 12, "overlap_sentences": 0},
    "variants": {"use": ["original"]},
    "feedback": {"enabled": False},
    "rerank": {"method": "none"},
    "evidence": {"sentences_per_passage": 50},
}


def made(**changes: Any) -> PipelineSettings:
    """Reads units, with `section__key` changed."""
    settings = {name: dict(section) for name, section in BASE.items()}
    settings |= {"select": {"read": "units"}, "units": {"max_tokens": 200}}
    settings["linked"] = {"scorer": "lexical"}
    for path, value in changes.items():
        section, key = path.split("__")
        settings.setdefault(section, {})[key] = value
    return PipelineSettings.model_validate(settings)


@pytest.fixture(scope="module")
def corpus(client: OpenSearch) -> str:
    name = "test-unit-reading"
    build_index(client, name, DOCUMENTS, made(), corpus="badgers")
    return name


def asked(client: OpenSearch, name: str, *doc_ids: str, **changes: Any) -> Result:
    encoder = HashEncoder() if changes.get("linked__scorer") == "fused" else None
    chosen = pipeline(client, name, made(**changes), encoder=encoder)
    return chosen.answer(query(QUESTION, *doc_ids))


def read_documents(result: Result) -> list[str]:
    return list(dict.fromkeys(result.passages[pid].doc_id for pid in result.read))


def units(result: Result) -> list[list[str]]:
    return [[part.doc_id for part in unit.parts] for unit in result.units]


def notes(result: Result) -> str:
    return "\n".join(note.message for note in result.trace.notes if note.stage == "units")


def test_a_unit_is_read_whole_as_its_documents_stand(client: OpenSearch, corpus: str) -> None:
    result = asked(client, corpus, "rule", "doors", "other", units__count=1)
    assert units(result) == [["doors", "rule"]]
    texts = {d.doc_id: d.text for d in DOCUMENTS}
    for doc_id in ("rule", "doors"):
        own = [result.passages[pid] for pid in result.read if result.passages[pid].doc_id == doc_id]
        assert " ".join(p.text for p in own).split() == texts[doc_id].split()
        assert [p.ordinal for p in own] == sorted(p.ordinal for p in own)
    assert "is read: 'doors', 'rule'" in notes(result)
    assert set(result.selected) <= {hit.passage_id for hit in result.ranking}
    for evidence in result.answer.evidence:
        assert texts[evidence.doc_id][evidence.start : evidence.end] == evidence.text


def test_units_of_the_index_are_cut_to_the_candidates(client: OpenSearch, corpus: str) -> None:
    """In the index `doors` stands between `rule` and `secret`, which nobody here may see."""
    whole = pipeline(client, corpus, made()).answer(Query("q", QUESTION, Candidates.whole_index()))
    assert ["doors", "rule", "secret"] in [sorted(unit) for unit in units(whole)]
    stored = asked(client, corpus, "rule", "secret", "other", units__within="index")
    assert ["rule", "secret"] in [sorted(unit) for unit in units(stored)]
    anew = asked(client, corpus, "rule", "secret", "other", units__within="candidates")
    assert ["rule"] in units(anew)
    assert ["secret"] in units(anew)


def test_links_of_parts_end_at_the_candidates(client: OpenSearch, corpus: str) -> None:
    index = opened(client, corpus, made())
    [parts] = index.unit_parts([(query("x", "rule", "doors"), None)])
    assert isinstance(parts, list)
    assert {part.doc_id: part.links for part in parts} == {"rule": ("doors",), "doors": ()}


@pytest.mark.parametrize("read", ["units", "linked"])
@pytest.mark.parametrize("within", ["index", "candidates"])
def test_nothing_outside_the_candidates_is_seen_anywhere(
    client: OpenSearch, corpus: str, read: str, within: str
) -> None:
    chance = random.Random(11)
    ids = [document.doc_id for document in DOCUMENTS]
    answer = {"generator": "llm", "prompt": "answer-units", "shows": "sentences"}
    settings = made(select__read=read, units__within=within, units__newest=True).model_copy(
        update={"answer": PipelineSettings.model_validate({"answer": answer}).answer}
    )
    llm = ScriptedLlm(*['{"answerable": false, "sentences": []}'] * 40)
    queries = [
        Query(f"q{n}", QUESTION, Candidates.of(chance.sample(ids, k=1 + n % 5), query_id=f"q{n}"))
        for n in range(40)
    ]
    outcomes = list(pipeline(client, corpus, settings, llm=llm).run(queries))
    assert not any(isinstance(outcome, Failure) for outcome in outcomes)
    for outcome in outcomes:
        assert isinstance(outcome, Result)
        allowed = set(outcome.query.candidates.doc_ids or ())
        assert seen_documents(outcome) <= allowed
        assert {doc_id for unit in units(outcome) for doc_id in unit} <= allowed
        told = json.dumps([note.message for note in outcome.trace.notes])
        assert not any(f"{doc_id!r}" in told for doc_id in set(ids) - allowed)
    for prompt, outcome in _prompts(llm, outcomes):
        for document in DOCUMENTS:
            if document.doc_id not in (outcome.query.candidates.doc_ids or ()):
                assert document.title not in prompt
                assert f'"{document.doc_id}"' not in prompt


def _prompts(llm: ScriptedLlm, outcomes: list[Any]) -> list[tuple[str, Result]]:
    """Each prompt with the result it was written for: told by the digest of the call."""
    by_digest = {r.digest: r.messages[-1].content for r in llm.requests}
    found = [(by_digest[call.digest], o) for o in outcomes for call in o.trace.calls]
    assert len(found) >= 30
    return found


def test_a_model_sees_documents_under_headers_and_cites_exactly(
    client: OpenSearch, corpus: str
) -> None:
    answer = {"generator": "llm", "prompt": "answer-units", "shows": "paragraphs"}
    settings = made().model_copy(
        update={"answer": PipelineSettings.model_validate({"answer": answer}).answer}
    )
    llm = QuotingLlm()
    result = pipeline(client, corpus, settings, llm=llm).answer(
        query("May badgers dig two burrows by law?", "new", "old", "other")
    )
    [sentence] = result.answer.sentences
    [cited] = result.answer.evidence_of(sentence)
    text = next(d.text for d in DOCUMENTS if d.doc_id == cited.doc_id)
    assert text[cited.start : cited.end] == cited.text == sentence.text
    shown = ScriptedLlm('{"answerable": false, "sentences": []}')
    pipeline(client, corpus, settings, llm=shown).answer(
        query("May badgers dig two burrows by law?", "new", "old")
    )
    lines = shown.requests[0].messages[-1].content.split("\n")
    headers = [json.loads(line) for line in lines if line.startswith('{"document"')]
    assert {"document": "old", "title": "Law 1", "date": "2001"} in headers
    pieces = [json.loads(line) for line in lines if line.startswith('{"id"')]
    assert [piece["id"] for piece in pieces] == [f"e{n}" for n in range(1, len(pieces) + 1)]


def test_versions_are_apart_and_the_newest_is_read_if_wanted(
    client: OpenSearch, corpus: str
) -> None:
    both = asked(client, corpus, "old", "new")
    assert sorted(units(both)) == [["new"], ["old"]]
    for within in ("index", "candidates"):
        newest = asked(client, corpus, "old", "new", units__newest=True, units__within=within)
        assert read_documents(newest) == ["new"]
        assert "'old' not read: 'new' is newer" in notes(newest)
    assert read_documents(asked(client, corpus, "old", units__newest=True)) == ["old"]


@pytest.mark.parametrize("read", ["passages", "units", "linked"])
@pytest.mark.parametrize("budget", [5, 20, 45, 1_000])
def test_no_way_of_reading_goes_over_the_budget(
    client: OpenSearch, corpus: str, read: str, budget: int
) -> None:
    ids = [document.doc_id for document in DOCUMENTS]
    result = asked(client, corpus, *ids, select__read=read, budget__max_tokens=budget)
    passages = [result.passages[pid] for pid in result.read]
    assert count_tokens(passages, estimate_tokens) <= budget
    assert bool(passages) == (budget > 5)


def test_a_unit_that_does_not_fit_is_cut_and_that_is_said(client: OpenSearch, corpus: str) -> None:
    result = asked(client, corpus, "rule", "doors", budget__max_tokens=22)
    assert "does not fit and is cut: rule to " in notes(result)
    assert "not read: 'doors'" in notes(result)
    assert read_documents(result) == ["rule"]


def test_linked_reading_spreads_over_the_documents_of_the_unit(
    client: OpenSearch, corpus: str
) -> None:
    result = asked(
        client, corpus, "rule", "doors", "other", select__read="linked", budget__max_tokens=40
    )
    assert {"rule", "doors"} <= set(read_documents(result))
    assert "tokens read by document: " in notes(result)
    texts = {d.doc_id: d.text for d in DOCUMENTS}
    for passage_id in result.read:
        passage = result.passages[passage_id]
        assert passage.text == texts[passage.doc_id][passage.start : passage.end]


@pytest.mark.parametrize(
    "changes",
    [
        {"units__count": 1},
        {"units__max_tokens": 10},
        {"units__within": "index"},
        {"units__order": "ends"},
        {"units__newest": True},
        {"budget__max_tokens": 30},
    ],
)
def test_settings_of_units_are_heard(
    client: OpenSearch, index_name: str, corpus: str, changes: dict[str, Any]
) -> None:
    ids = [d.doc_id for d in DOCUMENTS if d.doc_id != "doors"]
    if "units__max_tokens" in changes:
        ids = [d.doc_id for d in DOCUMENTS]
        build_index(client, index_name, DOCUMENTS, made(**changes), corpus="badgers")
    name = index_name if "units__max_tokens" in changes else corpus
    changed = asked(client, name, *ids, **changes)
    assert (changed.read, units(changed)) != (
        (usual := asked(client, corpus, *ids)).read,
        units(usual),
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"linked__window": 1},
        {"linked__spread": 3.0},
        {"linked__bonus": 0.0},
        {"linked__max_share": 0.3},
        {"linked__rrf_k": 1},
        {"linked__scorer": "fused"},
        {"linked__scorer": "fused", "linked__mention": 9.0},
        {"units__order": "ends"},
    ],
)
def test_settings_of_linked_reading_are_heard(
    client: OpenSearch, corpus: str, changes: dict[str, Any]
) -> None:
    ids = [document.doc_id for document in DOCUMENTS]
    base: dict[str, Any] = {
        "select__read": "linked",
        "budget__max_tokens": 60,
        "linked__window": 0,
    }
    if "linked__mention" in changes:
        base["linked__scorer"] = "fused"
    usual = asked(client, corpus, *ids, **base)
    assert asked(client, corpus, *ids, **(base | changes)).read != usual.read


def test_the_way_units_are_scored_is_heard(client: OpenSearch, index_name: str) -> None:
    poor = "Only one burrow is in this long sentence about many other quite different things."
    good = "Badgers dig a burrow in the night when they are many and hungry indeed."
    documents = [
        Document("peak", "P", f"Badgers dig a burrow at night. {poor} {poor} {poor}"),
        Document("broad", "B", " ".join(good.replace("hungry", w) for w in ("old", "wet", "ill"))),
    ]
    build_index(client, index_name, documents, made(), corpus="scores")
    question = query("Do badgers dig a burrow in the night?", "peak", "broad")
    best = pipeline(client, index_name, made(units__count=1)).answer(question)
    assert read_documents(best) == ["peak"]
    by_three = made(units__count=1, units__score="best-three")
    assert read_documents(pipeline(client, index_name, by_three).answer(question)) == ["broad"]


def test_an_index_without_its_units_says_which_command_to_run(
    client: OpenSearch, index_name: str
) -> None:
    without = made(select__read="passages")
    build_index(client, index_name, DOCUMENTS, without, corpus="badgers")
    with pytest.raises(IndexMissingError, match=f"ccrag index PATH... --index {index_name}"):
        opened(client, index_name, made())
    built = build_index(client, index_name, DOCUMENTS, made(), corpus="badgers")
    assert not built.unchanged
    assert build_index(client, index_name, DOCUMENTS, made(), corpus="badgers").unchanged
    build_index(client, index_name, DOCUMENTS[:2], without, corpus="fewer")
    with pytest.raises(IndexMissingError, match=f"ccrag index PATH... --index {index_name}"):
        opened(client, index_name, made())
