"""Near-duplicate passages: found by word shingles, left unread, and named. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import isclose

from ccrag.retrieval.analysis import normalise, words
from ccrag.retrieval.lookup import passages_of
from ccrag.types import Hit, Note, Passage, PassageId

SHINGLE_WORDS = 3

Shingle = tuple[str, ...]


def drop_near_duplicates(
    hits: Iterable[Hit], passages: Mapping[PassageId, Passage], *, threshold: float
) -> tuple[tuple[Hit, ...], tuple[Note, ...]]:
    """
    Return the hits worth reading, in their order, and a note for each one dropped.

    A hit is dropped when its word 3-shingles overlap with those of an earlier kept one by at least
    `threshold` (Jaccard, 0 to 1); a passage of fewer than three words only when its normalised text
    is the same. Of the same text in two documents the better ranked stays; the other is not read,
    but remains in its ranking.

    Raises:
        InvariantError: a hit is missing from `passages`.
    """
    hits = tuple(hits)
    kept: list[Hit] = []
    notes: list[Note] = []
    seen = _Seen(threshold)
    for hit, passage in zip(hits, passages_of(hits, passages), strict=True):
        twin = seen.twin_or_add(passage)
        if twin is None:
            kept.append(hit)
        else:
            message = f"passage {hit.passage_id!r} not read: near-duplicate of {twin!r}"
            notes.append(Note("select", message))
    return tuple(kept), tuple(notes)


class _Seen:
    """The kept passages by shingle, so that a new one meets only those it shares a shingle with."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._ids: list[PassageId] = []
        self._sizes: list[int] = []
        self._holders: defaultdict[Shingle, list[int]] = defaultdict(list)

    def twin_or_add(self, passage: Passage) -> PassageId | None:
        """Return the first kept passage that `passage` repeats; if none does, keep it."""
        shingles = _shingles(passage.text)
        shared = Counter(at for shingle in shingles for at in self._holders.get(shingle, ()))
        for at in sorted(shared):
            union = len(shingles) + self._sizes[at] - shared[at]
            if _reaches(shared[at] / union, self._threshold):
                return self._ids[at]
        for shingle in shingles:
            self._holders[shingle].append(len(self._ids))
        self._ids.append(passage.passage_id)
        self._sizes.append(len(shingles))
        return None


def _shingles(text: str) -> frozenset[Shingle]:
    found = words(text)
    if len(found) < SHINGLE_WORDS:
        return frozenset([(normalise(text),)])
    return frozenset(
        tuple(found[at : at + SHINGLE_WORDS]) for at in range(len(found) - SHINGLE_WORDS + 1)
    )


def _reaches(overlap: float, threshold: float) -> bool:
    return overlap > threshold or isclose(overlap, threshold)
