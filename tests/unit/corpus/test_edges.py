"""Edges counted by their change are those counted anew."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ccrag.corpus.digests import changed_digest, collection_digest
from ccrag.corpus.edges import edge_changes

IDS = "abcdef"
collections = st.dictionaries(
    st.sampled_from(IDS), st.frozensets(st.sampled_from(IDS), max_size=4), max_size=6
)


def counted(held: dict[str, frozenset[str]]) -> Counter[str]:
    edges = {(a, b) for a, to in held.items() for b in to if a != b and b in held}
    return Counter(end for edge in edges for end in edge)


@given(collections, collections)
def test_changes_are_the_difference_of_the_counts(
    before: dict[str, frozenset[str]], after: dict[str, frozenset[str]]
) -> None:
    changes = edge_changes(before, after, known_before=before.keys(), known_after=after.keys())
    old, new = counted(before), counted(after)
    assert changes == {d: new[d] - old[d] for d in old | new if new[d] != old[d]}


@given(st.lists(st.integers(0, 2**128 - 1)), st.lists(st.integers(0, 2**128 - 1)))
def test_a_changed_digest_is_that_of_what_is_left(stay: list[int], go: list[int]) -> None:
    before = collection_digest([*go, *stay])
    assert changed_digest(before, gone=go, come=[7]) == collection_digest([*stay, 7])
