"""Citation edges of a collection that changes, without looking at what stays. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from ccrag.types import DocId

Targets = Mapping[DocId, Collection[DocId]]
"""For each document, those it links to or cites, in the collection or not."""


def edge_changes(
    before: Targets,
    after: Targets,
    *,
    known_before: Collection[DocId],
    known_after: Collection[DocId],
) -> dict[DocId, int]:
    """
    Return by how much the number of edges that touch a document changes, where it does.

    An edge leads from one document of the collection to another and counts once; it touches both.

    Args:
        before: the documents of the collection whose edges may change, as they were: those that
            changed, those that go, and those that lead to one that comes or goes.
        after: the same as they become, with those that come.
        known_before: those documents, and of all their targets, that the collection held.
        known_after: likewise, that it holds now.
    """
    old, new = set(_edges(before, known_before)), set(_edges(after, known_after))
    changes: Counter[DocId] = Counter()
    for edge in new - old:
        changes.update(edge)
    for edge in old - new:
        changes.subtract(edge)
    return {doc_id: change for doc_id, change in changes.items() if change}


def _edges(targets: Targets, known: Collection[DocId]) -> Iterator[tuple[DocId, DocId]]:
    for citing, cited in targets.items():
        if citing in known:
            yield from ((citing, other) for other in cited if other != citing and other in known)
