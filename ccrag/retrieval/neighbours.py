"""Passages beside the selected ones, inside the same section of the same document. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ccrag.types import DocId, Passage

PassagePosition = tuple[DocId, int]
"""A document and an ordinal in it."""


def neighbour_ordinals(selected: Sequence[Passage], *, width: int) -> dict[DocId, set[int]]:
    """
    Return the ordinals to fetch per document: up to `width` each side, without those selected.

    The last of a document may not exist; asking for it finds nothing. Documents without a
    neighbour to fetch are left out.
    """
    have = {_place(passage) for passage in selected}
    wanted: defaultdict[DocId, set[int]] = defaultdict(set)
    for passage in selected:
        first = max(0, passage.ordinal - width)
        for ordinal in range(first, passage.ordinal + width + 1):
            if (passage.doc_id, ordinal) not in have:
                wanted[passage.doc_id].add(ordinal)
    return dict(wanted)


def with_neighbours(
    selected: Sequence[Passage], neighbours: Iterable[Passage], *, width: int
) -> tuple[Passage, ...]:
    """
    Return the selected passages in their order, each between its neighbours, none twice.

    A neighbour is at most `width` ordinals away with no other section between. Passages of other
    documents or sections are not inserted, whatever `neighbours` holds. A selected passage next to
    an earlier selected one stands there.
    """
    known = {_place(passage): passage for passage in (*neighbours, *selected)}
    ordered: dict[PassagePosition, Passage] = {}
    for passage in selected:
        before = list(_walk(passage, known, step=-1, width=width))
        after = _walk(passage, known, step=1, width=width)
        for near in (*reversed(before), passage, *after):
            ordered.setdefault(_place(near), near)
    return tuple(ordered.values())


def _walk(
    start: Passage, known: Mapping[PassagePosition, Passage], *, step: int, width: int
) -> Iterator[Passage]:
    """Yield passages away from `start` until one is unknown or of another section."""
    for distance in range(1, width + 1):
        near = known.get((start.doc_id, start.ordinal + step * distance))
        if near is None or near.section != start.section:
            return
        yield near


def _place(passage: Passage) -> PassagePosition:
    return passage.doc_id, passage.ordinal
