"""Choose what a language model sees of what was read: all, or the best runs of sentences. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from ccrag.answering.evidence import IsHeading, says_something, trimmed_span
from ccrag.text.tokens import TokenCounter
from ccrag.types import Evidence, Passage, SentenceKey, Span

PARAGRAPH = "\n\n"


def everything(
    passages: Sequence[Passage],
    scores: Mapping[SentenceKey, float],
    *,
    paragraphs: bool,
    is_heading: IsHeading,
    only: Collection[SentenceKey] | None = None,
) -> tuple[Evidence, ...]:
    """
    Return all text of `passages` as evidence, `e1`, `e2`, … in reading order, each span once.

    A piece is a sentence or, with `paragraphs`, the sentences up to a blank line inside one
    passage; one that says nothing by itself, as a heading, is none. Its score is the best of its
    sentences', 0 where none has one.

    Args:
        only: the sentences that are shown; None: all.
    """
    seen: set[SentenceKey] = set()
    pieces: list[tuple[Passage, Span, float]] = []
    for passage in passages:
        for run in _runs(passage, seen, paragraphs=paragraphs):
            best = max((scores.get(key, 0.0) for key in _keys(passage, run)), default=0.0)
            if only is not None and not any(key in only for key in _keys(passage, run)):
                continue
            whole = trimmed_span(passage, Span(run[0].start, run[-1].end))
            if says_something(passage, whole, is_heading):
                pieces.append((passage, whole, best))
    return tuple(
        Evidence(
            evidence_id=f"e{number}",
            passage_id=passage.passage_id,
            doc_id=passage.doc_id,
            section=passage.section,
            start=span.start,
            end=span.end,
            text=passage.slice(span),
            score=score,
            collection=passage.collection,
        )
        for number, (passage, span, score) in enumerate(pieces, start=1)
    )


def best_runs(
    passages: Sequence[Passage],
    scores: Mapping[SentenceKey, float],
    *,
    window: int,
    max_tokens: int,
    count: TokenCounter,
) -> frozenset[SentenceKey]:
    """
    Return the sentences that fit into `max_tokens`, the best first, each with those around it.

    Args:
        window: sentences on each side, inside the passage.
        count: counts the tokens of a sentence.
    """
    place: dict[SentenceKey, tuple[Passage, int]] = {}
    for passage in passages:
        for at, key in enumerate(_keys(passage, passage.sentences)):
            place.setdefault(key, (passage, at))
    taken: set[SentenceKey] = set()
    room = max_tokens
    for key in sorted(scores.keys() & place.keys(), key=lambda k: (-scores[k], k)):
        passage, at = place[key]
        near = passage.sentences[max(0, at - window) : at + window + 1]
        keys = _keys(passage, near)
        new = [(k, s) for k, s in zip(keys, near, strict=True) if k not in taken]
        cost = sum(count(passage.slice(span)) for _, span in new)
        if cost <= room:
            room -= cost
            taken.update(k for k, _ in new)
    return frozenset(taken)


def _runs(passage: Passage, seen: set[SentenceKey], *, paragraphs: bool) -> Iterator[list[Span]]:
    """Yield sentences of `passage` that were not seen, in pieces; blank ones are left out."""
    run: list[Span] = []
    for span in passage.sentences:
        [key] = _keys(passage, [span])
        text = passage.slice(span)
        if key in seen or not text.strip():
            if run:
                yield run
            run = []
            continue
        seen.add(key)
        run.append(span)
        if not paragraphs or _ends_paragraph(text):
            yield run
            run = []
    if run:
        yield run


def _ends_paragraph(text: str) -> bool:
    space = text[len(text.rstrip()) :]
    return PARAGRAPH in space.replace("\r\n", "\n").replace(" ", "").replace("\t", "")


def _keys(passage: Passage, run: Sequence[Span]) -> list[SentenceKey]:
    """Return the keys scores are filed under: spans without the white space around them."""
    trimmed = (trimmed_span(passage, span) for span in run)
    return [(passage.doc_id, span.start, span.end) for span in trimmed]
