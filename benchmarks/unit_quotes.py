"""Whether a context holds all gold quotes of a question."""

from collections.abc import Iterable, Mapping, Sequence

from ccrag.evaluation.quotes import covered, quote_span, widened
from ccrag.types import DocId, Passage, QueryId, Span

Gold = Mapping[QueryId, Sequence[tuple[DocId, str]]]
"""Documents and quotes of each question."""


class QuotesFound:
    """Knows the quotes' places."""

    def __init__(self, gold: Gold, texts: Mapping[DocId, str]) -> None:
        self._texts = texts
        self._places: dict[QueryId, list[tuple[DocId, Span]]] = {
            query_id: [(doc_id, self._place(doc_id, quote)) for doc_id, quote in quotes]
            for query_id, quotes in gold.items()
        }

    def _place(self, doc_id: DocId, quote: str) -> Span:
        span = quote_span(self._texts[doc_id], quote)
        if span is None:
            raise ValueError(f"{doc_id} does not hold {quote!r}")
        return span

    def all_in(self, query_id: QueryId, read: Iterable[Passage]) -> float:
        """1 if the passages, what stands side by side read on as one, cover every quote; else 0."""
        spans: dict[DocId, list[Span]] = {}
        for passage in read:
            whole = widened(self._texts[passage.doc_id], Span(passage.start, passage.end))
            spans.setdefault(passage.doc_id, []).append(whole)
        return float(
            all(covered(place, spans.get(doc_id, ())) for doc_id, place in self._places[query_id])
        )
