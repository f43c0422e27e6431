"""A budget of tokens over passages that are read together. Pure."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Note, Passage, PassageId


def count_tokens(passages: Iterable[Passage], count: TokenCounter) -> int:
    """Count the tokens of passages read together; what overlaps counts once."""
    total = 0
    reached: dict[DocId, int] = {}
    for passage in sorted(passages, key=lambda p: (p.doc_id, p.start)):
        start = max(passage.start, min(reached.get(passage.doc_id, 0), passage.end))
        total += count(passage.text[start - passage.start :])
        reached[passage.doc_id] = max(reached.get(passage.doc_id, 0), passage.end)
    return total


def within_budget(
    groups: Sequence[tuple[PassageId, Sequence[Passage]]], *, max_tokens: int, count: TokenCounter
) -> tuple[frozenset[PassageId], frozenset[PassageId], tuple[Note, ...]]:
    """
    Return which groups are read, all passages of theirs, and notes on what does not fit.

    From the best down every group is taken that fits whole; a later, smaller one still may.

    Args:
        groups: best first: a selected passage's id, and what is read for it, itself included.
    """
    count = lru_cache(maxsize=None)(count)  # the same texts, again with each group
    read: dict[DocId, dict[PassageId, Passage]] = {}
    sizes: dict[DocId, int] = {}
    kept: list[PassageId] = []
    notes: list[Note] = []
    for name, passages in groups:
        more = {p.doc_id: dict(read.get(p.doc_id, {})) for p in passages}
        for passage in passages:
            more[passage.doc_id][passage.passage_id] = passage
        resized = {doc_id: count_tokens(held.values(), count) for doc_id, held in more.items()}
        needed = sum((sizes | resized).values())
        if needed > max_tokens:
            message = f"passage {name!r} not read: {needed} tokens with it, budget {max_tokens}"
            notes.append(Note("budget", message))
            continue
        read |= more
        sizes |= resized
        kept.append(name)
    everything = frozenset(passage_id for held in read.values() for passage_id in held)
    return frozenset(kept), everything, tuple(notes)
