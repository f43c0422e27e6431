"""Common to all chunkers: sentences by section, split at the cap, and passages of them. Pure."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ccrag.text.sections import find_headings, sections_below, skip_space
from ccrag.text.sentences import split_sentences
from ccrag.text.words import RUN_WORD, WordSums, count_tokens, token_pattern, token_words
from ccrag.types import Document, Passage, SectionPath, Span, make_passage_id

_WIDEST_WORD = 30
"""
The most characters that count as one word: ruled lines, padding and emoji hold no words, and would
never reach a cap on words.
"""
_CLAUSE_END = re.compile(r"[;:,]\s+|[；：，、]\s*")
_SPACES = re.compile(r"\s+")
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")


class SentenceChunker:
    """Compare the sentences of one text with a cap on words, and split those above it."""

    def __init__(self, text: str, *, max_words: int) -> None:
        self._text = text
        self._max_words = max_words
        self._sums = WordSums.of(text)

    @cached_property
    def _tokens(self) -> re.Pattern[str]:
        return token_pattern(self._text)

    def holds(self, sentences: Sequence[Span]) -> bool:
        """Tell whether these consecutive sentences fit the cap together."""
        start, end = sentences[0].start, sentences[-1].end
        short = end - start <= self._max_words * _WIDEST_WORD
        return short and self._whole_weight(start, end) <= self._max_words

    def chunks(self, sentences: Iterable[Span]) -> Iterator[tuple[Span, int]]:
        """Yield each sentence, or the chunks that tile it, with its weight."""
        for sentence in sentences:
            weight = self._whole_weight(*sentence)
            if weight <= self._max_words:
                yield sentence, weight
            else:
                *chunks, last = self._split(*sentence)
                # A full weight each: two parts of one word may count more together than apart.
                yield from ((chunk, self._max_words) for chunk in chunks)
                yield last, self._weight(*last)

    def _whole_weight(self, start: int, end: int) -> int:
        """Return `_weight` of a span whose ends lie between words."""
        if self._sums is None:
            return self._weight(start, end)
        return max(self._sums.between(start, end), -(-(end - start) // _WIDEST_WORD))

    def _weight(self, start: int, end: int) -> int:
        """Return what a span takes of the cap: its words, or more where it is nearly wordless."""
        words = count_tokens(self._tokens.findall(self._text, start, end))
        return max(words, -(-(end - start) // _WIDEST_WORD))

    def _split(self, start: int, end: int) -> Iterator[Span]:
        """
        Split a sentence into chunks of at most the cap; they tile it.

        White space at a split belongs to the chunk before it, whatever its length.
        """
        begin = min(skip_space(self._text, start), end)
        while True:
            reach = self._reach(begin, end)
            split = end
            if reach < end:
                split = min(skip_space(self._text, split_before(self._text, begin, reach)), end)
            yield Span(start, split)
            if split == end:
                return
            start = begin = split

    def _reach(self, start: int, end: int) -> int:
        """
        Return the furthest end of a chunk that begins at `start`, before or inside a word.
        """
        furthest = min(end, start + self._max_words * _WIDEST_WORD)
        words = 0
        for token in self._tokens.finditer(self._text, start, furthest):
            words += token_words(token.end() - token.start())
            if words > self._max_words:
                inside = token.start() == start
                return start + self._max_words * RUN_WORD if inside else token.start()
        return furthest


def split_before(text: str, start: int, reach: int) -> int:
    """
    Return where to split the later half of `text[start:reach]`: after a clause, a word, or
    anywhere.

    A split inside a word leaves a letter and its marks together, unless they are very many.
    """
    middle = (start + reach) // 2
    for boundary in (_CLAUSE_END, _SPACES):
        ends = [found.end() for found in boundary.finditer(text, middle, reach)]
        if ends:
            return ends[-1]
    for split in range(reach, max(middle, reach - RUN_WORD), -1):
        after = text[split]
        joined = text[split - 1] in _JOINERS or after in _JOINERS
        if not joined and unicodedata.category(after)[0] != "M":
            return split
    return reach


def sentences_by_section(text: str) -> Iterator[tuple[SectionPath, list[Span]]]:
    """Yield each section's path and sentences, in order; nothing for a text of white space."""
    if not text or text.isspace():
        return
    headings = find_headings(text)
    sentences = split_sentences(text, headings=headings)
    if not headings:
        yield (), sentences
        return
    first = 0
    for section in sections_below(text, headings):
        last = first
        while last < len(sentences) and sentences[last].end <= section.end:
            last += 1
        yield section.path, sentences[first:last]
        first = last


def _trimmed(text: str, sentences: Sequence[Span]) -> tuple[Span, ...]:
    """Return the same sentences without the white space at both ends."""
    start, end = sentences[0].start, sentences[-1].end
    body = text[start:end]
    start += len(body) - len(body.lstrip())
    end -= len(body) - len(body.rstrip())
    # Only the outer ends move: the sentences still tile the passage.
    if len(sentences) == 1:
        return (Span(start, end),)
    return (
        Span(start, sentences[0].end),
        *sentences[1:-1],
        Span(sentences[-1].start, end),
    )


def passages_of(
    document: Document, runs: Iterable[tuple[SectionPath, Sequence[Span]]], *, edges: int
) -> list[Passage]:
    """
    Return one passage per run of consecutive sentences, in order, without the white space at its
    ends.

    Args:
        runs: the sentences of each passage, none empty, and the path of the section they lie in.
        edges: citation edges that touch the document, copied to each passage.
    """
    return [
        _passage(document, path, sentences, ordinal=ordinal, edges=edges)
        for ordinal, (path, sentences) in enumerate(runs)
    ]


def _passage(
    document: Document, path: SectionPath, sentences: Sequence[Span], *, ordinal: int, edges: int
) -> Passage:
    spans = _trimmed(document.text, sentences)
    span = Span(spans[0].start, spans[-1].end)
    content = document.text[span.start : span.end]
    return Passage(
        passage_id=make_passage_id(document.doc_id, span, content),
        doc_id=document.doc_id,
        section=path,
        ordinal=ordinal,
        start=span.start,
        end=span.end,
        sentences=spans,
        text=content,
        title=document.title,
        date=document.date,
        edges=edges,
        collection=document.collection,
        page=bisect_right(document.pages, span.start) or None,
    )
