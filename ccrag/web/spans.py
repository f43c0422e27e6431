"""A text in parts, some of them highlighted. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ccrag.types import Span
from ccrag.web.problems import ProblemError

MAX_SPANS = 200
_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a document; all parts together are its text from the first to the last."""

    start: int
    end: int
    text: str
    highlighted: bool


def read_spans(values: Iterable[str]) -> list[Span]:
    """
    Return spans written as `START-END`, in code points, in the order given.

    Raises:
        ProblemError: one is written in another way, or they are too many.
    """
    written = list(values)
    if len(written) > MAX_SPANS:
        raise ProblemError("too_large", f"at most {MAX_SPANS} spans can be highlighted")
    found = [_SPAN.fullmatch(value) for value in written]
    if not all(found):
        raise ProblemError("invalid_request", "a span is written START-END, e.g. span=120-184")
    return [Span(int(match[1]), int(match[2])) for match in found if match]


def parted(
    text: str, spans: Iterable[Span], *, start: int = 0, end: int | None = None
) -> list[TextPart]:
    """
    Return `text[start:end]` in consecutive parts; those inside a span are highlighted.

    Overlapping and touching spans become one part; what of a span lies outside is left out.
    """
    last = len(text) if end is None else min(end, len(text))
    parts: list[TextPart] = []
    at = start
    for low, high in _merged(spans, start, last):
        if at < low:
            parts.append(TextPart(at, low, text[at:low], highlighted=False))
        parts.append(TextPart(low, high, text[low:high], highlighted=True))
        at = high
    if at < last:
        parts.append(TextPart(at, last, text[at:last], highlighted=False))
    return parts


def _merged(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    merged: list[Span] = []
    for low, high in sorted(spans):
        low, high = max(low, start), min(high, end)
        if low >= high:
            continue
        if merged and low <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(high, merged[-1].end))
        else:
            merged.append(Span(low, high))
    return merged
