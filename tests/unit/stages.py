"""Values for the tests of the pure stages; passage `a` is of document `a` unless said."""

from collections.abc import Iterable

from ccrag.types import Evidence, Hit, Passage, Ranking, Span


def passage(
    passage_id: str,
    text: str = "",
    *,
    doc_id: str | None = None,
    sentences: Iterable[str] = (),
    section: tuple[str, ...] = (),
    ordinal: int = 0,
    start: int = 0,
    title: str = "",
    date: str | None = None,
    edges: int = 0,
) -> Passage:
    """A passage whose text is `text`, one sentence, or else the joined `sentences`."""
    pieces = list(sentences) or [text]
    spans: list[Span] = []
    at = start
    for piece in pieces:
        spans.append(Span(at, at + len(piece)))
        at += len(piece)
    return Passage(
        passage_id=passage_id,
        doc_id=passage_id if doc_id is None else doc_id,
        section=section,
        ordinal=ordinal,
        start=start,
        end=at,
        sentences=tuple(spans),
        text="".join(pieces),
        title=title,
        date=date,
        edges=edges,
    )


def by_id(*passages: Passage) -> dict[str, Passage]:
    return {p.passage_id: p for p in passages}


def ranking(*passage_ids: str, stage: str = "bm25", query_id: str = "q1") -> Ranking:
    """The passages in this order, scores falling to 1."""
    count = len(passage_ids)
    hits = (Hit(pid, pid, float(count - at)) for at, pid in enumerate(passage_ids))
    return Ranking.of(query_id, stage, hits)


def ids(hits: Iterable[Hit]) -> list[str]:
    return [hit.passage_id for hit in hits]


def evidence(evidence_id: str, text: str, *, doc_id: str = "a", score: float = 1.0) -> Evidence:
    return Evidence(evidence_id, f"{doc_id}#1", doc_id, (), 0, len(text), text, score)
