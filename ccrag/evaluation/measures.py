"""Measure a run's citations and evidence, query by query. Pure: values in, values out."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ccrag.errors import InputError
from ccrag.evaluation.quotes import FoldedText, covered, widened
from ccrag.types import DocId, Span


class Located(Protocol):
    """Anything that lies in a document: `Evidence`, `Passage`."""

    @property
    def doc_id(self) -> DocId: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CitedDocuments:
    """One query's references against its judgements; unjudged ones count neither way."""

    relevant_cited: int
    judged_cited: int
    unjudged_cited: int
    relevant: int

    @property
    def precision(self) -> float | None:
        """
        Return the share of relevant among the judged references; None when no judged one is cited.
        """
        return _share(self.relevant_cited, self.judged_cited)

    @property
    def recall(self) -> float | None:
        """Return the share of the relevant documents that are cited; None when none is known."""
        return _share(self.relevant_cited, self.relevant)


def cited_precision_recall(
    references: Sequence[DocId], relevant: Collection[DocId], judged: Collection[DocId]
) -> CitedDocuments:
    """
    Compare the documents an answer cites with those judged; a repeated reference counts once.

    Raises:
        InputError: a relevant document is not among the judged ones.
    """
    wanted, known, cited = set(relevant), set(judged), set(references)
    if not wanted <= known:
        raise InputError(f"relevant but not judged: {sorted(wanted - known)}; mend the judgements")
    return CitedDocuments(
        relevant_cited=len(cited & wanted),
        judged_cited=len(cited & known),
        unjudged_cited=len(cited - known),
        relevant=len(wanted),
    )


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Counts of one query's gold quotes that were shown, and that were in the passages read."""

    quotes: int
    """Those that some document holds; unknown ones are left out."""
    in_evidence: int
    in_passages: int
    unknown: tuple[str, ...]
    """Quotes that no document holds word for word: a fault of the gold, not a miss."""

    @property
    def evidence_share(self) -> float | None:
        """
        Return the share of known quotes covered by the evidence shown; None when none is known.
        """
        return _share(self.in_evidence, self.quotes)

    @property
    def passage_share(self) -> float | None:
        """Return the share of known quotes that the passages read cover; None: none is known."""
        return _share(self.in_passages, self.quotes)


def evidence_found(
    quotes: Sequence[str],
    *,
    texts: Mapping[DocId, str],
    evidence: Iterable[Located],
    passages: Iterable[Located],
) -> EvidenceFound:
    """
    Look for each gold quote in the spans shown and in the spans read.

    A quote is found when the union of a document's spans covers one of its occurrences; white
    space between two spans is no gap. `texts` are the documents the quotes were taken from.
    """
    folded = {doc_id: FoldedText.of(text) for doc_id, text in texts.items()}
    places = {quote: _places(quote, folded) for quote in quotes}
    known = [quote for quote in quotes if places[quote]]
    shown, read = _spans(evidence, texts), _spans(passages, texts)
    return EvidenceFound(
        quotes=len(known),
        in_evidence=sum(_found(places[quote], shown) for quote in known),
        in_passages=sum(_found(places[quote], read) for quote in known),
        unknown=tuple(quote for quote in quotes if not places[quote]),
    )


def _places(quote: str, folded: Mapping[DocId, FoldedText]) -> list[tuple[DocId, Span]]:
    return [(doc_id, span) for doc_id, text in folded.items() for span in text.spans(quote)]


def _spans(located: Iterable[Located], texts: Mapping[DocId, str]) -> dict[DocId, list[Span]]:
    spans: dict[DocId, list[Span]] = {}
    for item in located:
        if item.doc_id in texts:
            span = widened(texts[item.doc_id], Span(item.start, item.end))
            spans.setdefault(item.doc_id, []).append(span)
    return spans


def _found(places: Iterable[tuple[DocId, Span]], spans: Mapping[DocId, Sequence[Span]]) -> bool:
    return any(covered(span, spans.get(doc_id, ())) for doc_id, span in places)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
