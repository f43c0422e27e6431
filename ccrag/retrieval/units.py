"""Units scored by their passages, chosen under a budget of tokens, put in order. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import TypeVar

from ccrag.retrieval.budget import count_tokens
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Note, Passage, PassageId, Ranking, Unit, UnitPart

STAGE = "units"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit and what its passages make of it."""

    unit: Unit
    score: float
    passages: tuple[PassageId, ...]
    """The ranked passages in it, best first; at least one."""


def newest_only(parts: Sequence[UnitPart]) -> tuple[list[UnitPart], tuple[Note, ...]]:
    """
    Return the parts without those of older versions, and notes on what is left out.

    Of the documents that share `version_of` the newest stays: by date, then by version with its
    numbers read as numbers, then by id. A document without a date is older than one with.
    """
    newest: dict[str, UnitPart] = {}
    for part in parts:
        if part.version_of is not None:
            rival = newest.get(part.version_of, part)
            newest[part.version_of] = max(part, rival, key=_age)
    kept, notes = [], []
    for part in parts:
        winner = part if part.version_of is None else newest[part.version_of]
        if winner.doc_id == part.doc_id:
            kept.append(part)
        else:
            notes.append(Note(STAGE, f"{part.doc_id!r} not read: {winner.doc_id!r} is newer"))
    return kept, tuple(dict.fromkeys(notes))


def _age(part: UnitPart) -> tuple[str, tuple[tuple[int, int, str], ...], DocId]:
    runs = groupby(part.version or "", key=str.isdecimal)
    pieces = ((is_number, "".join(run)) for is_number, run in runs)
    numbered = tuple((1, int(p), "") if is_number else (0, 0, p) for is_number, p in pieces)
    return part.date or "", numbered, part.doc_id


def score_units(
    units: Iterable[Unit],
    ranking: Ranking,
    passages: Mapping[PassageId, Passage],
    *,
    best: int,
) -> list[ScoredUnit]:
    """
    Return the units that hold a ranked passage, best first, each once; ties by unit id.

    A unit's score is the mean of its `best` best passage scores, or of all if it has fewer; with 1
    that is MaxP. Scores are the ranking's, whatever it ranked by.

    Args:
        passages: at least those of `ranking`; a part of a document holds those that start in it.
    """
    by_document: dict[DocId, list[tuple[UnitPart, Unit]]] = {}
    for unit in units:
        for part in unit.parts:
            by_document.setdefault(part.doc_id, []).append((part, unit))
    found: dict[str, tuple[Unit, list[tuple[PassageId, float]]]] = {}
    for hit in ranking:
        start = passages[hit.passage_id].start
        for part, unit in by_document.get(hit.doc_id, ()):
            if holds(part, start):
                found.setdefault(unit.unit_id, (unit, []))[1].append((hit.passage_id, hit.score))
    scored = [
        ScoredUnit(unit, fmean([s for _, s in held[:best]]), tuple(pid for pid, _ in held))
        for unit, held in found.values()
    ]
    return sorted(scored, key=lambda item: (-item.score, item.unit.unit_id))


def holds(part: UnitPart, start: int) -> bool:
    """Tell whether what starts at `start` of the part's document belongs to the part."""
    return part.start <= start < part.end


@dataclass(frozen=True, slots=True)
class Chosen:
    """A unit, or what of it the budget lets through."""

    unit: Unit
    """The whole documents that are read, in the unit's order."""
    partly: UnitPart | None = None
    """A document that is read as far as `room` goes."""
    room: int = 0
    """Tokens left for it."""
    left_out: tuple[DocId, ...] = ()
    """Documents of the unit that are not read."""

    @property
    def parts(self) -> tuple[UnitPart, ...]:
        """Return all that is read of, whole or in part, in the unit's order."""
        partly = () if self.partly is None else (self.partly,)
        return tuple(sorted((*self.unit.parts, *partly), key=lambda p: (p.ordinal, p.start)))


def choose_units(
    scored: Sequence[ScoredUnit],
    passages: Mapping[PassageId, Passage],
    *,
    count: int,
    max_tokens: int | None,
) -> list[Chosen]:
    """
    Return the units to read, best first: whole ones, and at the end perhaps one that is cut.

    Units are taken while they fit. The first that does not is cut to whole documents, those with
    the best passages first; one more document is read in part. Nothing is taken after it.
    """
    chosen: list[Chosen] = []
    left = max_tokens
    for item in scored[:count]:
        if left is None or item.unit.tokens <= left:
            left = None if left is None else left - item.unit.tokens
            chosen.append(Chosen(item.unit))
            continue
        if left > 0:
            chosen.append(_cut(item, passages, room=left))
        break
    return chosen


def _cut(item: ScoredUnit, passages: Mapping[PassageId, Passage], *, room: int) -> Chosen:
    best: dict[tuple[DocId, int], int] = {}
    for rank, passage_id in enumerate(item.passages):
        passage = passages[passage_id]
        for part in item.unit.parts:
            if part.doc_id == passage.doc_id and holds(part, passage.start):
                best.setdefault((part.doc_id, part.start), rank)
    last = len(item.passages)
    by_best = sorted(
        item.unit.parts, key=lambda p: (best.get((p.doc_id, p.start), last), p.ordinal, p.start)
    )
    whole: list[UnitPart] = []
    for at, part in enumerate(by_best):
        if part.tokens > room:
            left_out = tuple(other.doc_id for other in by_best[at + 1 :])
            kept = tuple(p for p in item.unit.parts if p in whole)
            return Chosen(replace(item.unit, parts=kept), part, room, left_out)
        whole.append(part)
        room -= part.tokens
    return Chosen(item.unit)  # not reached for a unit that does not fit


def cut_to_sections(
    passages: Sequence[Passage], ranks: Mapping[PassageId, int], *, room: int, count: TokenCounter
) -> list[Passage]:
    """
    Return what fits of one document: whole sections, those with the best passages first.

    If not even the best section fits, its passages are taken, again the best first. Overlaps count
    once. The result is in the document's order; nothing fits: [].

    Args:
        passages: of one document, in its order.
        ranks: of ranked passages; the others follow in the document's order.
    """
    last = len(ranks)
    sections = [list(run) for _, run in groupby(passages, key=lambda p: p.section)]
    sections.sort(key=lambda run: (min(ranks.get(p.passage_id, last) for p in run), run[0].start))
    kept = _fitting(sections, room=room, count=count)
    if not kept and sections:
        single = sorted(([p] for p in sections[0]), key=lambda p: ranks.get(p[0].passage_id, last))
        kept = _fitting(single, room=room, count=count)
    return sorted(kept, key=lambda passage: passage.ordinal)


def _fitting(runs: Sequence[list[Passage]], *, room: int, count: TokenCounter) -> list[Passage]:
    """Return runs of passages in their order until one does not fit."""
    kept: list[Passage] = []
    for run in runs:
        if count_tokens([*kept, *run], count) > room:
            break
        kept += run
    return kept


def best_at_both_ends(best_first: Sequence[T]) -> list[T]:
    """Return the items so that the best stand first and last and the worst in the middle."""
    return [*best_first[::2], *reversed(best_first[1::2])]
