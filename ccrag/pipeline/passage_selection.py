"""What is read passage by passage: the best of the shortlist, their neighbours, within a budget."""

from collections import defaultdict

from ccrag.config import PipelineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.index import Index
from ccrag.errors import EngineError
from ccrag.pipeline.state import Way
from ccrag.query.variants import has_temporal_intent
from ccrag.retrieval.budget import within_budget
from ccrag.retrieval.neighbours import neighbour_ordinals, with_neighbours
from ccrag.retrieval.select import select
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Passage


class PassageReading:
    """Chooses what each way reads among its ranked passages, step by step."""

    def __init__(self, settings: PipelineSettings, index: Index, count: TokenCounter) -> None:
        self._settings = settings
        self._index = index
        self._count = count

    def select(self, ways: list[Way]) -> None:
        settings = self._settings.select
        for way in ways:
            way.selected, notes = select(
                way.current().top(self._settings.rerank.shortlist),
                passages=way.passages,
                max_passages=settings.passages,
                max_per_document=settings.max_per_document,
                near_duplicate=settings.near_duplicate,
                temporal_coverage=settings.temporal_coverage and has_temporal_intent(way.question),
                max_words=settings.max_words,
            )
            way.notes += notes
            way.read = tuple(way.passages[hit.passage_id] for hit in way.selected)

    def widen(self, ways: list[Way]) -> None:
        """Add neighbours to what was selected, and keep what fits into the budget."""
        self._add_neighbours(ways)
        self._keep_budget([way for way in ways if way.error is None])

    def _add_neighbours(self, ways: list[Way]) -> None:
        """Passages beside the selected ones, inside their sections: one request for all queries."""
        width = self._settings.select.neighbours
        if not width:
            return
        wanted = [(way, *item) for way in ways for item in _wanted_neighbours(way, width)]
        slots = self._index.search([bodies.ordinals_body(doc, at) for _, doc, at in wanted])
        for (way, _, _), slot in zip(wanted, slots, strict=True):
            if isinstance(slot, EngineError):
                way.error = slot
                continue
            found = hits.parse_passages(way.query, slot)
            way.passages |= {passage.passage_id: passage for passage in found}
        for way in ways:
            way.read = with_neighbours(way.read, tuple(way.passages.values()), width=width)

    def _keep_budget(self, ways: list[Way]) -> None:
        """Of selected passages with their neighbours, those that fit."""
        budget = self._settings.budget.max_tokens
        if budget is None:
            return
        width = self._settings.select.neighbours
        for way in ways:
            of_document: defaultdict[DocId, list[Passage]] = defaultdict(list)
            for passage in way.read:
                of_document[passage.doc_id].append(passage)
            groups = [
                (
                    hit.passage_id,
                    with_neighbours(
                        (way.passages[hit.passage_id],), of_document[hit.doc_id], width=width
                    ),
                )
                for hit in way.selected
            ]
            chosen, read, notes = within_budget(groups, max_tokens=budget, count=self._count)
            way.selected = tuple(hit for hit in way.selected if hit.passage_id in chosen)
            way.read = tuple(p for p in way.read if p.passage_id in read)
            way.notes += notes


def _wanted_neighbours(way: Way, width: int) -> list[tuple[DocId, set[int]]]:
    """Return documents and ordinals that are not read yet, in a stable order."""
    wanted: dict[DocId, set[int]] = neighbour_ordinals(way.read, width=width)
    return sorted(wanted.items(), key=lambda item: item[0])
