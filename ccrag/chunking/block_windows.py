"""
Block windows: passages of whole blocks under a cap of characters. Pure: no I/O, no settings.

For papers and manuals, where a table, its caption and a formula say something only as a whole, and
where the bibliography holds everybody's words but answers nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ccrag.chunking.blocks import Block, BlockKind, find_blocks
from ccrag.chunking.chunks import passages_of, split_before
from ccrag.text.sections import find_headings, sections_below
from ccrag.text.sentences import split_sentences
from ccrag.types import Document, Passage, SectionPath, Span

BLOCK_WINDOWS_VERSION = 1
"""Part of an index's fingerprint: raise it when the same text would give other passages."""

_ROW_END = re.compile(r"</tr>\s*|\n\s*", re.IGNORECASE)


class _Group(NamedTuple):
    """Sentences that should stay together."""

    sentences: Sequence[Span]
    whole: bool
    """A table or figure with its caption: split only above the larger cap."""

    @property
    def start(self) -> int:
        return self.sentences[0].start

    @property
    def end(self) -> int:
        return self.sentences[-1].end


def block_passages(
    document: Document,
    *,
    max_chars: int,
    overlap_chars: int = 0,
    max_table_chars: int = 4_000,
    edges: int = 0,
) -> list[Passage]:
    """
    Return consecutive blocks of `document` up to `max_chars`, never across a section.

    A block that does not fit begins the next passage. A longer block is split between sentences,
    and a longer sentence at a clause or word. A table with its caption stays whole up to
    `max_table_chars`; a longer one is split between rows. Headings are not part of a passage (they
    are in its `section`), and the bibliography is in none.

    Args:
        overlap_chars: a passage begins with the sentences that end the one before it in the same
            section, as far as they are no longer than this and fit.
        edges: citation edges that touch the document, copied to each passage.
    """
    text = document.text
    runs = (
        (path, window)
        for path, groups in _groups_by_section(text, max_chars, max_table_chars)
        for window in _windows(groups, max_chars=max_chars, overlap_chars=overlap_chars)
    )
    return passages_of(document, runs, edges=edges)


def _groups_by_section(
    text: str, max_chars: int, max_table_chars: int
) -> Iterator[tuple[SectionPath, list[_Group]]]:
    headings = find_headings(text)
    blocks = find_blocks(text, headings)
    first = 0
    for section in sections_below(text, headings):
        last = first
        while last < len(blocks) and blocks[last].end <= section.end:
            last += 1
        own = [b for b in blocks[first:last] if b.kind not in ("heading", "reference")]
        yield section.path, list(_groups(text, own, max_chars, max_table_chars))
        first = last


def _groups(
    text: str, blocks: Sequence[Block], max_chars: int, max_table_chars: int
) -> Iterator[_Group]:
    for together in _with_captions(blocks):
        whole = len(together) > 1 or together[0].kind in ("table", "figure")
        cap = max_table_chars if whole else max_chars
        sentences = [
            chunk
            for block in together
            for sentence in _sentences(text, block)
            for chunk in _split(text, sentence, max_chars=cap)
        ]
        if whole and sentences[-1].end - sentences[0].start <= cap:
            yield _Group(sentences, whole=True)
        else:
            yield from (_Group(run, whole=False) for run in _packed(sentences, max_chars))


def _with_captions(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield each block alone, but a table or figure together with the caption right beside it."""
    together: list[Block] = []
    for block in blocks:
        if together and not _belongs([b.kind for b in together], block.kind):
            yield together
            together = []
        together = [*together, block]
    if together:
        yield together


def _belongs(kinds: Sequence[BlockKind], kind: BlockKind) -> bool:
    """
    Tell whether a block of `kind` goes with those before it: one caption, and what it is about.
    """
    shown = ("table", "figure")
    if "caption" in kinds:
        return kinds == ["caption"] and kind in shown
    return kinds[-1] in shown and (kind == "caption" or kinds[-1] == kind == "figure")


def _sentences(text: str, block: Block) -> Iterator[Span]:
    """Return the sentences of a block, or the rows of a table; they tile it."""
    content = text[block.start : block.end]
    if block.kind == "table":
        ends = sorted({*(row.end() for row in _ROW_END.finditer(content)), len(content)})
        spans: Iterable[Span] = map(Span, [0, *ends[:-1]], ends)
    elif block.kind in ("formula", "figure"):
        spans = [Span(0, len(content))]
    else:
        spans = split_sentences(content, headings=())
    return (Span(block.start + start, block.start + end) for start, end in spans)


def _split(text: str, sentence: Span, *, max_chars: int) -> Iterator[Span]:
    """Yield the sentence, or chunks of at most `max_chars` that tile it."""
    start, end = sentence
    while end - start > max_chars and text[start + max_chars : end].strip():
        split = split_before(text, start, start + max_chars)
        yield Span(start, split)
        start = split
    yield Span(start, end)


def _packed(sentences: Sequence[Span], max_chars: int) -> Iterator[list[Span]]:
    """Yield consecutive sentences, as many as fit."""
    run: list[Span] = []
    for sentence in sentences:
        if run and sentence.end - run[0].start > max_chars:
            yield run
            run = []
        run.append(sentence)
    yield run


def _windows(
    groups: Iterable[_Group], *, max_chars: int, overlap_chars: int
) -> Iterator[list[Span]]:
    """Yield the passages of one section, each the sentences of consecutive groups."""
    window: list[Span] = []
    for group in groups:
        if window and group.end - window[0].start > max_chars:
            yield window
            # The next passage repeats the sentences before it that are short enough and fit.
            first = max(group.end - max_chars, group.start - overlap_chars)
            window = [sentence for sentence in window if sentence.start >= first]
        window = [*window, *group.sentences]
    if window:
        yield window
