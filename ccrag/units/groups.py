"""
Documents into groups by their links, under a budget of tokens. Pure: no I/O, no settings.

Groups begin with one document each. As long as two linked groups fit together they are merged:
first those with the most links between them, among these the least linked to others (a page that
leads to one place only belongs there; LongRAG, Jiang et al. 2024, begins with them too), then by
id. Neither the order of the input nor the hash seed changes anything.
"""

import heapq
from array import array
from collections.abc import Iterable, Iterator

from ccrag.types import DocId

Group = tuple[DocId, ...]
"""Documents read together: the most linked inside the group first, then by id."""


class LinkGraph:
    """
    The sizes, links and versions of a collection, from which groups are made; no texts.

    Fill it with `add`, in any order. A link from one document to another counts once; links to
    documents that are never added, and to the document itself, do not count.
    """

    def __init__(self) -> None:
        self._number: dict[DocId, int] = {}
        self._tokens: dict[int, int] = {}
        self._versions: dict[int, str] = {}
        self._from = array("q")
        self._to = array("q")

    def __len__(self) -> int:
        return len(self._tokens)

    def add(
        self, doc_id: DocId, *, tokens: int, links: Iterable[DocId], version_of: str | None = None
    ) -> None:
        """
        Note one document.

        Args:
            version_of: documents with the same are never grouped together.
        """
        number = self._numbered(doc_id)
        self._tokens[number] = tokens
        if version_of is not None:
            self._versions[number] = version_of
        for target in dict.fromkeys(links):
            self._from.append(number)
            self._to.append(self._numbered(target))

    def _numbered(self, doc_id: DocId) -> int:
        return self._number.setdefault(doc_id, len(self._number))

    def group(self, *, max_tokens: int) -> list[Group]:
        """
        Group all documents; each is in exactly one group, groups in order of their first id.

        No group holds more than `max_tokens`, unless one document alone does; it stays alone.
        Documents without links stay alone.
        """
        ids = sorted(doc_id for doc_id, number in self._number.items() if number in self._tokens)
        place = {self._number[doc_id]: at for at, doc_id in enumerate(ids)}
        tokens = [self._tokens[self._number[doc_id]] for doc_id in ids]
        versions = [self._versions.get(self._number[doc_id]) for doc_id in ids]
        groups = _Groups(tokens, versions, self._strengths(place), max_tokens)
        groups.merge()
        found = list(groups.members())
        inside = self._links_inside(place, found)
        ordered = (sorted(group, key=lambda at: (-inside[at], at)) for group in found)
        return [tuple(ids[at] for at in group) for group in sorted(ordered, key=min)]

    def links(self) -> Iterator[tuple[DocId, DocId]]:
        """Yield every link between two documents that were added."""
        ids = {number: doc_id for doc_id, number in self._number.items()}
        for number, target in zip(self._from, self._to, strict=True):
            if number != target and target in self._tokens:
                yield ids[number], ids[target]

    def _strengths(self, place: dict[int, int]) -> list[dict[int, int]]:
        """
        Return for each document, by place: its neighbours, and the links there and back (1 or 2).
        """
        near: list[dict[int, int]] = [{} for _ in place]
        for number, target in zip(self._from, self._to, strict=True):
            a, b = place[number], place.get(target)
            if b is not None and a != b:
                near[a][b] = near[b][a] = near[a].get(b, 0) + 1
        return near

    def _links_inside(self, place: dict[int, int], groups: list[list[int]]) -> list[int]:
        """Return how many links each document, by place, has with others of its group."""
        group_of = [0] * len(place)
        for name, group in enumerate(groups):
            for at in group:
                group_of[at] = name
        inside = [0] * len(place)
        for number, target in zip(self._from, self._to, strict=True):
            a, b = place[number], place.get(target)
            if b is not None and a != b and group_of[a] == group_of[b]:
                inside[a] += 1
                inside[b] += 1
        return inside


class _Groups:
    """Groups that grow; a group is named by one of its members."""

    def __init__(
        self,
        tokens: list[int],
        versions: list[str | None],
        near: list[dict[int, int]],
        max_tokens: int,
    ) -> None:
        self._near = near
        """For each group: its neighbours, and the links between them; changes as groups grow."""
        self._max_tokens = max_tokens
        self._tokens = tokens
        self._members: list[list[int]] = [[at] for at in range(len(tokens))]
        self._versions = {at: {name} for at, name in enumerate(versions) if name is not None}

    def members(self) -> Iterator[list[int]]:
        """Return the members of each group, in no order."""
        return (members for members in self._members if members)

    def merge(self) -> None:
        """Merge linked groups that fit together until none are left."""
        heap = [
            self._pair(a, b, strength)
            for a, others in enumerate(self._near)
            for b, strength in others.items()
            if a < b
        ]
        heapq.heapify(heap)
        # Pairs that changed are pushed anew and not removed: an outdated one is skipped below.
        while heap:
            strength, _, a, b = heapq.heappop(heap)
            # Otherwise one of them has been merged since, or their links have become more.
            is_current = self._near[a].get(b) == -strength
            fit = self._tokens[a] + self._tokens[b] <= self._max_tokens
            versions = self._versions.get(a, set())
            if is_current and fit and versions.isdisjoint(self._versions.get(b, ())):
                for pair in self._merge(a, b):
                    heapq.heappush(heap, pair)

    def _pair(self, a: int, b: int, strength: int) -> tuple[int, int, int, int]:
        """Return a pair as it is ordered, lowest first: strong, little linked, low ids."""
        linked = len(self._near[a]) + len(self._near[b])
        return -strength, linked, min(a, b), max(a, b)

    def _merge(self, a: int, b: int) -> Iterator[tuple[int, int, int, int]]:
        """Make one group of two; yield the pairs whose strength is new."""
        into, other = (a, b) if len(self._near[a]) >= len(self._near[b]) else (b, a)
        self._members[into] += self._members[other]
        self._members[other] = []
        self._tokens[into] += self._tokens[other]
        if other in self._versions:
            self._versions.setdefault(into, set()).update(self._versions.pop(other))
        gained, self._near[other] = self._near[other], {}
        for third, strength in gained.items():
            del self._near[third][other]
            if third != into:
                total = self._near[into].get(third, 0) + strength
                self._near[into][third] = self._near[third][into] = total
        for third in gained:
            if third != into and self._tokens[into] + self._tokens[third] <= self._max_tokens:
                yield self._pair(into, third, self._near[into][third])
