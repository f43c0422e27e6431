"""Windows over a tokenised text that is longer than a model reads. Pure; no model is needed."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence


def token_windows(
    word_of: Sequence[int | None], *, max_tokens: int, overlap: int
) -> list[tuple[int, int]]:
    """
    Return half-open token ranges of at most `max_tokens` that cover the text, in order.

    A range begins and ends between words; a word longer than a window is split. The next range
    begins up to `overlap` tokens before the end of the one before it, as far as its next word fits.
    No token: one empty range.

    Args:
        word_of: the word each token is of, as a fast tokenizer numbers them.

    Raises:
        ValueError: max_tokens < 1.
    """
    if max_tokens < 1:
        raise ValueError(f"a window needs room for at least one token, got {max_tokens}")
    count = len(word_of)
    bounds = [at for at in range(1, count) if word_of[at] != word_of[at - 1]]
    bounds.append(count)
    ranges: list[tuple[int, int]] = []
    start = 0
    while True:
        end = _end(bounds, start, max_tokens)
        ranges.append((start, end))
        if end >= count:
            return ranges
        start = _next_start(bounds, start, end, max_tokens=max_tokens, overlap=overlap)


def _end(bounds: Sequence[int], start: int, max_tokens: int) -> int:
    """
    Return the last word boundary that a window from `start` reaches; inside a word that is longer.
    """
    reach = min(start + max_tokens, bounds[-1])
    last = bisect_right(bounds, reach) - 1
    return bounds[last] if last >= 0 and bounds[last] > start else reach


def _next_start(
    bounds: Sequence[int], start: int, end: int, *, max_tokens: int, overlap: int
) -> int:
    """
    Return the earliest word boundary that repeats at most `overlap` and leaves room for a new word.
    """
    word_end = bounds[bisect_right(bounds, end)]
    earliest = max(end - overlap, word_end - max_tokens, start + 1)
    if earliest >= end:
        return end
    return min(bounds[bisect_left(bounds, earliest)], end)
