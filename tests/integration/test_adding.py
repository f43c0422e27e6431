"""An index that grows, changes and shrinks is the index built anew from the same documents."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from opensearchpy import OpenSearch

from ccrag.config import Settings
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.engine import bodies
from ccrag.engine.indexes import drop_index
from ccrag.engine.stored import leftovers, stored_indices
from ccrag.errors import EngineError, IndexMismatchError, IndexMissingError, InputError
from ccrag.indexing.build import add_corpus, index_corpus, open_files
from ccrag.indexing.delete import delete_documents
from ccrag.library import Library
from ccrag.types import Candidates, Document, WeightedText
from tests.fakes import HashEncoder
from tests.integration.building import opened
from tests.support import engine_settings

WORDS = ("river", "stone", "heron", "reed", "alder", "mud", "flood")
IDS = tuple(f"d{n}" for n in range(7))
RECIPES: tuple[dict[str, Any], ...] = (
    {},
    {"chunking": {"method": "blocks", "max_chars": 80}},
    {"vectors": {"mode": "exact"}, "select": {"read": "units"}},
    {"chunking": {"max_words": 8}, "bm25": {"k1": 0.9, "b": 0.4}},
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(
    lambda words: ". ".join(" ".join(words[at : at + 5]).capitalize() for at in range(0, 30, 5))
)
documents = st.builds(
    Document,
    doc_id=st.sampled_from(IDS),
    title=st.sampled_from(WORDS),
    text=texts,
    date=st.sampled_from([None, "2020"]),
    links=st.lists(st.sampled_from((*IDS, "nowhere")), max_size=3).map(tuple),
    collection=st.sampled_from([None, "wet", "dry"]),
)
steps = st.lists(
    st.one_of(
        st.lists(documents, min_size=1, max_size=4, unique_by=lambda d: d.doc_id),
        st.sets(st.sampled_from(IDS), min_size=1, max_size=2),
    ),
    min_size=2,
    max_size=4,
)


@pytest.fixture
def engine(engine_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Settings of the test engine; encoders are stand-ins."""
    monkeypatch.setattr("ccrag.indexing.build.load_encoder", lambda *_: HashEncoder())
    return {
        "engine": engine_settings(engine_url),
        "encoder": {"cache_folder": tmp_path / "vectors"},
        "provider": {"cache_folder": tmp_path / "replies"},
    }


def built(engine: dict[str, Any], name: str, held: Sequence[Document]) -> None:
    for spec in RECIPES:
        chosen = Settings.model_validate({**engine, **spec})
        index_corpus(lambda: InMemoryCorpus(held), name, chosen)


def added(engine: dict[str, Any], name: str, more: Sequence[Document]) -> Any:
    chosen = [Settings.model_validate({**engine, **spec}) for spec in RECIPES]
    return add_corpus(lambda: InMemoryCorpus(more), name, chosen).updated


def without(held: dict[str, Document], gone: set[str]) -> dict[str, Document]:
    return {
        doc_id: replace(found, links=tuple(link for link in found.links if link not in gone))
        for doc_id, found in held.items()
        if doc_id not in gone
    }


def everything(client: OpenSearch, name: str) -> bytes:
    """Facts, stored items, and answers to searches: all that a reader of an index can see."""
    seen: dict[str, Any] = {}
    asked = [
        bodies.bm25_body(
            [WeightedText(text, 1.0)], Candidates.whole_index(), depth=50, title_weight=0.5
        )
        for text in ("river stone", "heron in the reed", "flood", "alder mud river")
    ]
    [vector] = HashEncoder().encode_queries(["river stone"]).vectors
    for item in stored_indices(client, name):
        kind = item.alias.removeprefix(f"ccrag-{name}-")
        found = client.search(index=item.index, body={"size": 500})["hits"]["hits"]
        meta = {key: value for key, value in item.meta.items() if key != "built_by"}
        seen[kind] = [meta, sorted((hit["_id"], hit["_source"]) for hit in found)]
        searches = list(asked) if item.kind == "passages" else []
        if "exact" in kind:
            searches.append(bodies.exact_body(vector, Candidates.whole_index(), depth=50))
        for body in searches:
            hits = client.search(index=item.index, body=body)["hits"]["hits"]
            seen[kind].append([(hit["_id"], hit["_score"]) for hit in hits])
        assert item.index.endswith(item.meta["fingerprint"])
    return orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(first=st.lists(documents, min_size=2, max_size=5, unique_by=lambda d: d.doc_id), then=steps)
def test_any_sequence_of_changes_equals_building_anew(
    client: OpenSearch,
    engine: dict[str, Any],
    first: list[Document],
    then: list[list[Document] | set[str]],
) -> None:
    name = f"test-{uuid.uuid4().hex[:12]}"
    held = {document.doc_id: document for document in first}
    try:
        built(engine, name, first)
        for step in then:
            if isinstance(step, list):
                added(engine, name, step)
                held |= {document.doc_id: document for document in step}
            elif held.keys() - step:  # nothing can be built anew of no documents
                delete_documents(name, sorted(step), Settings.model_validate(engine))
                held = without(held, step & held.keys())
        built(engine, f"{name}-anew", list(held.values()))
        assert everything(client, name) == everything(client, f"{name}-anew").replace(
            f"{name}-anew".encode(), name.encode()
        )
        assert leftovers(client, name) == []
    finally:
        drop_index(client, name)
        drop_index(client, f"{name}-anew")


HELD = [Document(f"d{n}", "Reeds", f"The heron number{n} stands by the river.") for n in range(12)]
NAMED = ("d0", "d1", "d2", "d3", "d4")


def info(client: OpenSearch, name: str) -> set[str]:
    """The concrete indices that serve a name."""
    return {item.index for item in stored_indices(client, name)}


@pytest.mark.parametrize("given", [HELD[:1], [*HELD, replace(HELD[0], doc_id="more")], HELD[6:]])
def test_other_documents_replace_only_on_request(
    client: OpenSearch, engine: dict[str, Any], index_name: str, given: list[Document]
) -> None:
    chosen = Settings.model_validate(engine)
    index_corpus(lambda: InMemoryCorpus(HELD), index_name, chosen)
    before = info(client, index_name)
    gone = len(HELD) - len({d.doc_id for d in given} & {d.doc_id for d in HELD})
    with pytest.raises(InputError, match=r"serves other documents: 12 now, .*--replace") as raised:
        index_corpus(lambda: InMemoryCorpus(given), index_name, chosen)
    assert f"12 now, {len(given)} in what is given" in str(raised.value)
    assert (f"{gone} of them would go (d" if gone else "none of them would go") in str(raised.value)
    assert info(client, index_name) == before
    index_corpus(lambda: InMemoryCorpus(given), index_name, chosen, replace=True)
    assert opened(client, index_name).info.documents == len(given)
    again = index_corpus(lambda: InMemoryCorpus(given), index_name, chosen)
    assert again.built.unchanged


def test_another_spec_of_the_same_documents_needs_no_replace(
    engine: dict[str, Any], client: OpenSearch, index_name: str
) -> None:
    built(engine, index_name, HELD)
    assert len(info(client, index_name)) == 1 + len(RECIPES) + 1


def test_adding_counts_what_it_did_and_nothing_costs_nothing(
    client: OpenSearch, engine: dict[str, Any], index_name: str
) -> None:
    built(engine, index_name, HELD)
    more = [HELD[0], replace(HELD[1], title="Other"), replace(HELD[2], doc_id="new", links=("d3",))]
    done = added(engine, index_name, more)
    assert (done.documents, done.added, done.changed, done.unchanged, done.touched) == (
        13,
        1,
        1,
        1,
        1,
    )
    before = info(client, index_name)
    done = added(engine, index_name, more)
    assert (done.added, done.changed, done.unchanged, done.items) == (0, 0, 3, {})
    assert info(client, index_name) == before


def test_a_table_of_citations_counts_as_in_a_new_build(
    client: OpenSearch, engine: dict[str, Any], index_name: str, tmp_path: Path
) -> None:
    def files(name: str, held: Sequence[Document], rows: str) -> Any:
        path, table = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.csv"
        lines = (orjson.dumps({"id": d.doc_id, "text": d.text}) for d in held)
        path.write_bytes(b"\n".join(lines))
        table.write_text(f"citing_doc_id,cited_doc_id\n{rows}")
        return open_files([path], citations=table)

    chosen = Settings.model_validate(engine)
    index_corpus(files("a", HELD[:4], "d0,d1\nd0,d9\n"), index_name, chosen)
    add_corpus(files("b", HELD[4:], "d1,d5\n"), index_name, [chosen])
    anew = f"{index_name}-anew"
    try:
        index_corpus(files("c", HELD, "d0,d1\nd0,d9\nd1,d5\n"), anew, chosen)
        assert everything(client, index_name) == everything(client, anew)
        assert opened(client, index_name).info.max_edges == 2
    finally:
        drop_index(client, anew)


def test_a_killed_add_leaves_the_old_state_and_is_repeated(
    client: OpenSearch, engine: dict[str, Any], index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(engine, index_name, HELD[:6])
    before = info(client, index_name)

    def killed(*_: object) -> None:
        raise EngineError("killed before the switch")

    with monkeypatch.context() as patch:
        patch.setattr("ccrag.indexing.update.switch", killed)
        with pytest.raises(EngineError, match="killed"):
            added(engine, index_name, HELD[4:])
    assert info(client, index_name) == before
    assert leftovers(client, index_name)
    assert opened(client, index_name).info.documents == 6
    assert added(engine, index_name, HELD[4:]).added == 6
    assert leftovers(client, index_name) == []
    assert opened(client, index_name).info.documents == 12


def test_a_deletion_clears_what_interrupted_loads_left(
    client: OpenSearch, engine: dict[str, Any], index_name: str
) -> None:
    chosen = Settings.model_validate(engine)
    index_corpus(lambda: InMemoryCorpus(HELD), index_name, chosen)
    [serving] = [i for i in info(client, index_name) if "passages" in i]
    left = f"{serving[:-12]}0123456789ab"
    client.indices.create(index=left)
    client.index(index=left, id="d3#x", body={"doc_id": "d3", "text": "number3"}, refresh=True)
    copy = {"source": {"index": serving}, "dest": {"index": left}}
    client.reindex(
        body=copy, params={"wait_for_completion": "false", "requests_per_second": "0.01"}
    )
    delete_documents(index_name, ["d3"], chosen)
    assert leftovers(client, index_name) == []
    hits = client.search(index=f"ccrag-{index_name}-*", body={"size": 500})["hits"]["hits"]
    assert "number3" not in orjson.dumps(hits).decode()
    tasks = client.tasks.list(params={"actions": "*reindex", "detailed": "true"})
    assert index_name not in str(tasks)


def test_an_index_of_another_version_is_not_changed(
    client: OpenSearch, engine: dict[str, Any], index_name: str
) -> None:
    chosen = Settings.model_validate(engine)
    index_corpus(lambda: InMemoryCorpus(HELD), index_name, chosen)
    item = stored_indices(client, index_name)[0]
    client.indices.put_mapping(
        index=item.index, body={"_meta": {**item.meta, "fingerprint": "000000000000"}}
    )
    for change in (
        lambda: add_corpus(lambda: InMemoryCorpus(HELD[:1]), index_name, [chosen]),
        lambda: delete_documents(index_name, ["d1"], chosen),
    ):
        with pytest.raises(IndexMismatchError, match=f"--index {index_name} --replace"):
            change()


def test_adding_to_nothing_names_the_command(engine: dict[str, Any], index_name: str) -> None:
    chosen = Settings.model_validate(engine)
    with pytest.raises(IndexMissingError, match=f"ccrag index PATH... --index {index_name}"):
        add_corpus(lambda: InMemoryCorpus(HELD), index_name, [chosen])


def test_vectors_of_another_encoder_are_not_mixed(
    engine: dict[str, Any], index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(engine, index_name, HELD[:3])
    monkeypatch.setattr("ccrag.indexing.build.load_encoder", lambda *_: HashEncoder(revision="2"))
    with pytest.raises(IndexMismatchError, match="were encoded by 'hash'"):
        added(engine, index_name, HELD)


@pytest.mark.usefixtures("engine", "on_engine")
def test_the_library_adds(index_name: str) -> None:
    Library.build(index_name, HELD[:6])
    with pytest.raises(InputError, match="replace=True"):
        Library.build(index_name, HELD)
    library = Library.add(index_name, HELD)
    assert library.pipeline.index.info.documents == 12
    assert Library.build(index_name, HELD[:2], replace=True).pipeline.index.info.documents == 2
