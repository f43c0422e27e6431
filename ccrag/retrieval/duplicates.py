"""Near-duplicate passages: found by word shingles, left unread, and named. Pure."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from ccrag.retrieval.lookup import passages_of
from ccrag.text.analysis import normalise, words
from ccrag.types import Hit, Note, Passage, PassageId

SHINGLE_WORDS = 3
ROUNDING = 1e-9
"""An overlap that is the threshold on paper must reach it in floating point."""

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
    seen = _KeptPassages(threshold)
    for hit, passage in zip(hits, passages_of(hits, passages), strict=True):
        twin = seen.twin_or_add(passage)
        if twin is None:
            kept.append(hit)
        else:
            message = f"passage {hit.passage_id!r} not read: near-duplicate of {twin!r}"
            notes.append(Note("select", message))
    return tuple(kept), tuple(notes)


class _KeptPassages:
    """The kept passages with their shingles."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._kept: list[tuple[PassageId, frozenset[Shingle]]] = []

    def twin_or_add(self, passage: Passage) -> PassageId | None:
        """Return the first kept passage that `passage` repeats; if none does, keep it."""
        shingles = _shingles(passage.text)
        for passage_id, other in self._kept:
            if self._repeats(shingles, other):
                return passage_id
        self._kept.append((passage.passage_id, shingles))
        return None

    def _repeats(self, one: frozenset[Shingle], other: frozenset[Shingle]) -> bool:
        sizes = len(one), len(other)
        if min(sizes) < self._threshold * max(sizes) - ROUNDING:
            return False  # even if one held the other whole
        shared = len(one & other)
        return shared >= self._threshold * (sum(sizes) - shared) - ROUNDING


@lru_cache(maxsize=1_024)  # the same passages are found for query after query
def _shingles(text: str) -> frozenset[Shingle]:
    found = words(text)
    if len(found) < SHINGLE_WORDS:
        return frozenset([(normalise(text),)])
    return frozenset(zip(*(found[at:] for at in range(SHINGLE_WORDS)), strict=False))
