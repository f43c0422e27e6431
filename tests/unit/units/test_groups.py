"""Groups of linked documents: what always holds, and what is decided by hand."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.units.groups import LinkGraph

Linked = dict[str, tuple[int, list[str]]]
"""Tokens and links by document."""

NAMES = [f"d{n}" for n in range(12)]
collections = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.integers(0, 60), st.lists(st.sampled_from([*NAMES, "outside"]), max_size=5)),
    min_size=1,
)
versions = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["v", "w"]))


def grouped(
    documents: Linked, *, max_tokens: int = 50, versions: dict[str, str] | None = None
) -> list[tuple[str, ...]]:
    graph = LinkGraph()
    for doc_id, (tokens, links) in documents.items():
        version_of = (versions or {}).get(doc_id)
        graph.add(doc_id, tokens=tokens, links=links, version_of=version_of)
    return graph.group(max_tokens=max_tokens)


@given(collections, versions)
def test_groups_are_disjoint_in_budget_and_separate_versions(
    documents: Linked, versions: dict[str, str]
) -> None:
    groups = grouped(documents, versions=versions)
    assert sorted(doc_id for group in groups for doc_id in group) == sorted(documents)
    for group in groups:
        assert len(group) == 1 or sum(documents[doc_id][0] for doc_id in group) <= 50
        kept = [versions[doc_id] for doc_id in group if doc_id in versions]
        assert len(kept) == len(set(kept))


@given(collections, st.randoms())
def test_order_of_documents_and_links_changes_nothing(
    documents: Linked, chance: random.Random
) -> None:
    shuffled = {
        doc_id: (
            documents[doc_id][0],
            chance.sample(documents[doc_id][1], len(documents[doc_id][1])),
        )
        for doc_id in chance.sample(sorted(documents), len(documents))
    }
    assert grouped(shuffled) == grouped(documents)


@given(collections)
def test_linked_groups_that_fit_together_are_together(documents: Linked) -> None:
    groups = grouped(documents)
    size = {group: sum(documents[doc_id][0] for doc_id in group) for group in groups}
    group_of = {doc_id: group for group in groups for doc_id in group}
    for doc_id, (_, links) in documents.items():
        for target in links:
            a, b = group_of[doc_id], group_of.get(target)
            assert b is None or a == b or size[a] + size[b] > 50


@given(collections)
def test_documents_without_links_stay_alone(documents: Linked) -> None:
    touched = {doc_id for doc_id, (_, links) in documents.items() if set(links) & set(documents)}
    touched |= {target for _, links in documents.values() for target in links}
    for group in grouped(documents, max_tokens=10_000):
        assert len(group) == 1 or set(group) <= touched


def test_more_links_are_stronger() -> None:
    documents: Linked = {"a": (30, ["b", "c"]), "b": (20, []), "c": (20, ["a"])}
    assert grouped(documents) == [("a", "c"), ("b",)]


def test_links_of_merged_groups_add_up() -> None:
    documents: Linked = {
        "a": (10, ["b", "c", "d"]),
        "b": (10, ["a", "c"]),
        "c": (30, []),
        "d": (30, ["c"]),
    }
    assert grouped(documents) == [("a", "b", "c"), ("d",)], "a and b together link to c twice"


def test_of_equal_links_the_least_linked_documents_come_first() -> None:
    documents: Linked = {
        "hub": (40, []),
        "a": (10, ["hub", "z"]),
        "b": (10, ["hub"]),
        "z": (45, []),
    }
    assert grouped(documents) == [("a",), ("b", "hub"), ("z",)]


def test_the_most_linked_inside_the_group_stand_first() -> None:
    documents: Linked = {"a": (1, ["m"]), "m": (1, ["b"]), "b": (1, []), "c": (1, ["m"])}
    assert grouped(documents) == [("m", "a", "b", "c")]


def test_an_oversized_document_is_a_group_of_its_own() -> None:
    assert grouped({"big": (51, ["empty"]), "empty": (0, [])}) == [("big",), ("empty",)]


def test_links_inside_the_collection_are_counted() -> None:
    graph = LinkGraph()
    graph.add("a", tokens=1, links=["b", "b", "a", "outside"])
    graph.add("b", tokens=1, links=["a"])
    assert list(graph.links()) == [("a", "b"), ("b", "a")]


PROGRAM = """
import random
from ccrag.units.groups import LinkGraph
chance = random.Random(3)
made = [("d%d" % n, chance.randint(1, 90), ["d%d" % chance.randint(0, 400) for _ in range(4)])
        for n in range(400)]
random.Random({shuffle}).shuffle(made)
graph = LinkGraph()
for doc_id, tokens, links in made:
    graph.add(doc_id, tokens=tokens, links=set(links), version_of=doc_id[-2:])
print(graph.group(max_tokens=300))
"""


def test_five_hash_seeds_and_shuffled_input_give_the_same_groups() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(shuffle=seed)],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in range(5)
    }
    assert len(said) == 1
    assert len(said.pop()) > 1_000


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one(count: int) -> None:
    documents: Linked = {f"d{n}": (1, []) for n in range(count)}
    assert grouped(documents) == [(doc_id,) for doc_id in documents]
