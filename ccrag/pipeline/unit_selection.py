"""From the ranking to what is read together: whole units, or linked runs of sentences."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from ccrag.config import PipelineSettings
from ccrag.engine.index import Index
from ccrag.errors import EngineError, some_ids
from ccrag.models.base import Encoder
from ccrag.pipeline.linked_selection import LinkedSelector
from ccrag.pipeline.state import QueryState
from ccrag.pipeline.unit_groups import UnitGrouping
from ccrag.retrieval.budget import count_tokens
from ccrag.retrieval.units import (
    STAGE,
    Chosen,
    ScoredUnit,
    best_at_both_ends,
    choose_units,
    cut_to_sections,
    holds,
    score_units,
)
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Passage, Unit

BEST_THREE = 3


class UnitSelector:
    """Choose what each query reads by units, as `select.read` says."""

    def __init__(
        self,
        settings: PipelineSettings,
        index: Index,
        encoder: Encoder | None,
        count: TokenCounter,
    ) -> None:
        self._settings = settings
        self._index = index
        self._count = count
        self._grouping = UnitGrouping(settings, index)
        self._linked = LinkedSelector(settings, encoder, count)

    def select(self, states: Sequence[QueryState]) -> None:
        """Give each query the passages it reads, in reading order, and the units they are of."""
        grouped = self._grouping.units(states)
        scored: dict[int, list[ScoredUnit]] = {}
        for state, units in zip(states, grouped, strict=True):
            if isinstance(units, EngineError):
                state.error = units
                continue
            shortlist = state.current().top(self._settings.rerank.shortlist)
            best = 1 if self._settings.units.score == "best" else BEST_THREE
            scored[id(state)] = score_units(units, shortlist, state.passages, best=best)
        alive = [state for state in states if state.error is None]
        if self._settings.select.read == "units":
            self._read_units(alive, [scored[id(state)] for state in alive])
        else:
            self._read_linked(alive, [scored[id(state)] for state in alive])

    def _read_units(self, states: Sequence[QueryState], scored: Sequence[list[ScoredUnit]]) -> None:
        settings = self._settings
        chosen = [
            choose_units(
                units,
                state.passages,
                count=settings.units.count,
                max_tokens=settings.budget.max_tokens,
            )
            for state, units in zip(states, scored, strict=True)
        ]
        texts = self._index.passages_of(
            [(state.query, _documents(units)) for state, units in zip(states, chosen, strict=True)]
        )
        for state, units, passages in zip(states, chosen, texts, strict=True):
            if isinstance(passages, EngineError):
                state.error = passages
            else:
                self._take(state, units, passages)

    def _take(
        self, state: QueryState, chosen: Sequence[Chosen], passages: Sequence[Passage]
    ) -> None:
        """Hand over the units, in the order that `units.order` names."""
        ranks = {hit.passage_id: rank for rank, hit in enumerate(state.current())}
        of_document: dict[DocId, list[Passage]] = {}
        for passage in sorted(passages, key=lambda p: (p.doc_id, p.ordinal)):
            of_document.setdefault(passage.doc_id, []).append(passage)
        read: list[list[Passage]] = []
        for item in chosen:
            kept: list[Passage] = []
            for part in item.parts:
                inside = [p for p in of_document.get(part.doc_id, ()) if holds(part, p.start)]
                if part is item.partly:
                    whole = len(inside)
                    inside = cut_to_sections(inside, ranks, room=item.room, count=self._count)
                    _note_cut(state, item, len(inside), whole)
                kept += inside
            read.append(kept)
            state.note(STAGE, _said(item, kept, self._count))
        state.units = tuple(replace(item.unit, parts=item.parts) for item in chosen)
        if self._settings.units.order == "ends":
            read = best_at_both_ends(read)
        _hand_over(state, [passage for unit in read for passage in unit])

    def _read_linked(
        self, states: Sequence[QueryState], scored: Sequence[list[ScoredUnit]]
    ) -> None:
        """The best passage opens its unit, whose documents' passages join the ranked ones."""
        opened = [units[0].unit if units else None for units in scored]
        wanted = [
            (state.query, sorted({p.doc_id for p in unit.parts}) if unit else [])
            for state, unit in zip(states, opened, strict=True)
        ]
        for state, unit, units, passages in zip(
            states, opened, scored, self._index.passages_of(wanted), strict=True
        ):
            if isinstance(passages, EngineError):
                state.error = passages
                continue
            readable = {part.doc_id for item in units for part in item.unit.parts}
            state.passages |= {passage.passage_id: passage for passage in passages}
            read = self._linked.read(state, readable, unit)
            state.units = _read_of([item.unit for item in units], {p.doc_id for p in read})
            _hand_over(state, read)


def _read_of(units: Sequence[Unit], doc_ids: Collection[DocId]) -> tuple[Unit, ...]:
    """Return the parts of `units` that are of documents that are read."""
    held = [
        replace(unit, parts=tuple(part for part in unit.parts if part.doc_id in doc_ids))
        for unit in units
    ]
    return tuple(unit for unit in held if unit.parts)


def _documents(chosen: Sequence[Chosen]) -> list[DocId]:
    return sorted({part.doc_id for item in chosen for part in item.parts})


def _note_cut(state: QueryState, item: Chosen, kept: int, whole: int) -> None:
    if item.partly is not None:
        left_out = f"; not read: {some_ids(item.left_out)}" if item.left_out else ""
        state.note(
            STAGE,
            f"{item.unit.unit_id} does not fit and is cut: {item.partly.doc_id} to {kept} of "
            f"{whole} passages{left_out}",
        )


def _said(item: Chosen, passages: Sequence[Passage], count: TokenCounter) -> str:
    documents = some_ids(dict.fromkeys(part.doc_id for part in item.parts))
    return f"{item.unit.unit_id} is read: {documents} ({count_tokens(passages, count)} tokens)"


def _hand_over(state: QueryState, read: Sequence[Passage]) -> None:
    """Make `read` what the query reads, and select the ranked hits whose text is in it."""
    state.read = tuple(read)
    state.passages |= {passage.passage_id: passage for passage in read}
    covered = {(p.doc_id, span) for p in read for span in p.sentences}
    state.selected = tuple(
        hit
        for hit in state.current()
        if (ranked := state.passages.get(hit.passage_id)) is not None
        and any((hit.doc_id, span) in covered for span in ranked.sentences)
    )
