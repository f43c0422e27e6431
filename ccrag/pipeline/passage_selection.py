"""Select the passages that are read: the best of the shortlist, their neighbours, in a budget."""

from collections import defaultdict

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.index import Index
from ccrag.errors import EngineError
from ccrag.pipeline.state import QueryState
from ccrag.query.variants import has_temporal_intent
from ccrag.retrieval.budget import within_budget
from ccrag.retrieval.neighbours import neighbour_ordinals, with_neighbours
from ccrag.retrieval.select import select
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Passage


class PassageSelector:
    """Choose what each query reads among its ranked passages, step by step."""

    def __init__(self, settings: PipelineSettings, index: Index, count: TokenCounter) -> None:
        self._settings = settings
        self._index = index
        self._count = count

    def select(self, states: list[QueryState]) -> None:
        settings = self._settings.select
        for state in states:
            state.selected, notes = select(
                state.current().top(self._settings.rerank.shortlist),
                passages=state.passages,
                max_passages=settings.passages,
                max_per_document=settings.max_per_document,
                near_duplicate=settings.near_duplicate,
                temporal_coverage=settings.temporal_coverage
                and has_temporal_intent(state.question),
                max_words=settings.max_words,
            )
            state.notes += notes
            state.read = tuple(state.passages[hit.passage_id] for hit in state.selected)

    def widen(self, states: list[QueryState]) -> None:
        """Add neighbours to what was selected, and keep what fits into the budget."""
        self._add_neighbours(states)
        self._keep_budget([state for state in states if state.error is None])

    def _add_neighbours(self, states: list[QueryState]) -> None:
        """Passages beside the selected ones, inside their sections: one request for all queries."""
        width = self._settings.select.neighbours
        if not width:
            return
        wanted = [(state, *item) for state in states for item in _wanted_neighbours(state, width)]
        slots = self._index.search([bodies.ordinals_body(doc, at) for _, doc, at in wanted])
        for (state, _, _), slot in zip(wanted, slots, strict=True):
            if isinstance(slot, EngineError):
                state.error = slot
                continue
            found = hits.parse_passages(state.query, slot)
            state.passages |= {passage.passage_id: passage for passage in found}
        for state in states:
            state.read = with_neighbours(state.read, tuple(state.passages.values()), width=width)

    def _keep_budget(self, states: list[QueryState]) -> None:
        """Of selected passages with their neighbours, those that fit."""
        budget = self._settings.budget.max_tokens
        if budget is None or self._settings.answer.shows == "runs":
            return  # runs of sentences fill the budget, from all passages
        width = self._settings.select.neighbours
        for state in states:
            of_document: defaultdict[DocId, list[Passage]] = defaultdict(list)
            for passage in state.read:
                of_document[passage.doc_id].append(passage)
            groups = [
                (
                    hit.passage_id,
                    with_neighbours(
                        (state.passages[hit.passage_id],), of_document[hit.doc_id], width=width
                    ),
                )
                for hit in state.selected
            ]
            chosen, read, notes = within_budget(groups, max_tokens=budget, count=self._count)
            state.selected = tuple(hit for hit in state.selected if hit.passage_id in chosen)
            state.read = tuple(p for p in state.read if p.passage_id in read)
            state.notes += notes


def _wanted_neighbours(state: QueryState, width: int) -> list[tuple[DocId, set[int]]]:
    """Return documents and ordinals that are not read yet, in a stable order."""
    wanted: dict[DocId, set[int]] = neighbour_ordinals(state.read, width=width)
    return sorted(wanted.items(), key=lambda item: item[0])
