"""
PDF files as Markdown with page numbers, through pypdfium2.

pdfium gives characters in the order in which they were set, which for typeset papers is the order
of reading, column after column. Lines, headings, tables and paragraphs are found here by size,
weight and place: see `layout`. What a page shows in form fields and annotations is read with it.

Nothing is left out silently: what is not in the text is counted as a `Loss`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from threading import Lock

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.glyphs import Drawings, read_drawings, read_glyphs
from ccrag.corpus.readers.layout import write_pages
from ccrag.corpus.readers.lines import Glyph, Line, from_top, has_meaning, tidy, without_numbers
from ccrag.corpus.readers.page import Loss, ReadPage
from ccrag.corpus.readers.page_tree import pages_in_tree
from ccrag.corpus.readers.ruled import lines_with_tables
from ccrag.corpus.readers.running_heads import part_running_heads
from ccrag.corpus.readers.source import PageSource
from ccrag.text.words import passage_words

MAX_PAGES = 20_000
MAX_PAGE_CHARS = 1_000_000
"""Characters of one page; a page of small print has some 20,000."""
MAX_FILE_CHARS = 50_000_000
"""Characters of one file; a manual of 4,000 pages has some 10 million."""
MAX_UNPACKED = 100
"""Characters a byte of the file may unpack to; typeset text has less than 10, tables up to 40."""
MIN_UNPACKED = 500_000
"""Characters from which a file is held to `MAX_UNPACKED`."""
MAX_STAMP_CHARS = 60
"""Characters on a page-wide picture that are a stamp or a page number, not the page's text."""
PAGE_WIDE = 0.7
"""Share of a page's area that a picture of the whole page covers."""
MAX_RANGES = 10
"""Ranges of pages that a loss names."""
_PDFIUM = Lock()
"""pdfium is not made for several threads."""
_LINE_END_HYPHEN = re.compile(r"\x02\s*")
_NO_COMMENT = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_POPUP)
"""Annotations whose words a page shows, or that have none."""


@dataclass(slots=True)
class _File:
    """The pages of a file, and what was lost in reading them."""

    size: int
    """Bytes."""
    pages: list[list[Line]] = field(default_factory=list)
    words: int = 0
    chars: int = 0
    unread: dict[int, str] = field(default_factory=dict)
    """Pages that cannot be read, counted from 0, with pdfium's reason."""
    without_text: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    """Pages of one picture that bear a few words beside it: a stamp, a title, a page number."""
    first_seen: dict[str, int] = field(default_factory=dict)
    """Texts of the pages, as pdfium gives them, and their words."""
    repeated: dict[int, int] = field(default_factory=dict)
    """Words of pages that repeat another one."""
    meaningless: dict[int, int] = field(default_factory=dict)
    """Characters of each page that its fonts name no character for."""
    comments: dict[int, int] = field(default_factory=dict)
    """Notes and comments of each page."""


def read_pdf(source: PageSource) -> ReadPage:
    """
    Read a PDF as one document.

    Raises:
        RecordError: it is locked or broken, holds no text, or more than the limits allow.
    """
    data = source.data
    file = _File(len(data))
    with _PDFIUM:
        document = _open(data)
        try:
            title = _title(document)
            parts = [_hidden_pages(data, len(document)), *_parts(document)]
            _read_pages(document, file)
        finally:
            document.close()
    pages = without_numbers(file.pages)
    numbers = _words_of(file.pages) - _words_of(pages)

    bare, heads = part_running_heads(pages)
    if _words_of(bare):
        pages = bare
    else:
        heads = []  # lines that are all there is, such as those of numbered labels, are the text
    text, starts = write_pages(pages)
    _refuse_textless(file, text)
    losses = [
        *_page_losses(file),
        Loss("line numbers", numbers, "words", intended=True),
        Loss("running heads", _words_of(heads), "words", intended=True),
        *parts,
    ]
    return ReadPage(
        title, text, starts, file.words, tuple(loss for loss in losses if loss.count > 0)
    )


def _open(data: bytes) -> pdfium.PdfDocument:
    """
    Open a file; the empty password is tried by pdfium.

    Raises:
        RecordError: it cannot be opened, or has no pages or too many.
    """
    try:
        document = pdfium.PdfDocument(data)
        document.init_forms()  # before pages are counted; it makes the looks that fields lack
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            problem = "locked: unlock it first (e.g. qpdf --decrypt --password=… in.pdf out.pdf)"
        elif error.err_code == raw.FPDF_ERR_SECURITY:
            problem = "locked by an unknown method: save it without protection first"
        else:
            problem = f"not a PDF that can be read (is it incomplete?): {error}"
        raise RecordError("syntax", problem) from error
    pages = len(document)
    if 0 < pages <= MAX_PAGES:
        return document
    document.close()
    if pages:
        raise RecordError("field", f"{pages:,} pages, at most {MAX_PAGES:,} are read: split it")
    raise RecordError(
        "syntax", "the PDF has no pages that can be found: repair it (e.g. with qpdf)"
    )


def _title(document: pdfium.PdfDocument) -> str:
    title = tidy(str(document.get_metadata_value("Title")))
    return "".join(character for character in title if has_meaning(character))


def _hidden_pages(data: bytes, shown: int) -> Loss:
    """Return pages of the tree that its `/Count` leaves out, as no viewer by pdfium shows them."""
    held = pages_in_tree(data)
    hidden = 0 if held is None else max(held - shown, 0)
    return Loss("pages beyond the number the file states", hidden, "pages", "repair it with qpdf")


def _parts(document: pdfium.PdfDocument) -> Iterator[Loss]:
    """Yield what a file holds beside its pages."""
    yield Loss("embedded files", document.count_attachments(), "parts")
    if document.get_formtype() in (raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND):
        yield Loss("XFA forms", 1, "parts")


def _read_pages(document: pdfium.PdfDocument, file: _File) -> None:
    for number in range(len(document)):
        file.pages.append([])
        try:
            page = _open_page(document, number, file)
            try:
                _read_page(page, number, file)
            finally:
                page.close()
        except pdfium.PdfiumError as error:
            file.unread[number] = str(error)


def _open_page(document: pdfium.PdfDocument, number: int, file: _File) -> pdfium.PdfPage:
    """Open a page, made to show its form fields and annotations as its own text."""
    page = document[number]
    kinds = list(_annotations(page, makes_looks=document.formenv is not None))
    comments = sum(comment for _, comment in kinds)
    if comments:
        file.comments[number] = comments
    if all(kind == raw.FPDF_ANNOT_LINK for kind, _ in kinds):
        return page
    try:
        raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    finally:
        page.close()
    return document[number]  # opened again: the old one does not know what was added


def _annotations(page: pdfium.PdfPage, *, makes_looks: bool) -> Iterator[tuple[int, bool]]:
    """
    Yield the kind of each annotation, and whether it holds words that the page does not show.

    In a file with forms, pdfium makes the looks that annotations lack (`makes_looks`).
    """
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, at)
        if annotation:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            # The length in bytes of UTF-16 with a zero at its end: 2 is an empty text.
            held = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0) > 2
            has_look = makes_looks or raw.FPDFAnnot_HasKey(annotation, b"AP")
            is_shown = kind == raw.FPDF_ANNOT_FREETEXT and has_look
            raw.FPDFPage_CloseAnnot(annotation)
            yield kind, held and kind not in _NO_COMMENT and not is_shown


def _read_page(page: pdfium.PdfPage, number: int, file: _File) -> None:
    textpage = page.get_textpage()
    try:
        chars = textpage.count_chars()
        shown = textpage.get_text_range() if chars else ""
        # A page whose text occurred before is read once; its words count as an intended loss.
        if shown in file.first_seen:
            file.repeated[number] = file.first_seen[shown]
            file.words += file.first_seen[shown]
            return
        _refuse_huge(chars, number, file)
        words = passage_words(_LINE_END_HYPHEN.sub("", shown))
        file.words += words
        if words:
            file.first_seen[shown] = words
        glyphs, turn = read_glyphs(textpage.raw, chars)
    finally:
        textpage.close()
    drawings = read_drawings(page.raw, turn)
    lines = lines_with_tables(glyphs, drawings.rules)
    # pdfium sorts what begins at one height of the page as shown from the left: lines that run down
    # the page, as on a page shown turned to the right, then come last first.
    turned_right = (turn - page.get_rotation() // 90) % 4 == 3
    file.pages[-1] = from_top(lines) if turned_right else lines
    _look_for_losses(glyphs, drawings, number, file)


def _refuse_huge(chars: int, number: int, file: _File) -> None:
    """Count the characters of a page, before the work of reading them is done."""
    file.chars += chars
    if chars > MAX_PAGE_CHARS:
        problem = f"page {number + 1} has {chars:,} characters, at most {MAX_PAGE_CHARS:,} are read"
    elif file.chars > MAX_FILE_CHARS:
        problem = f"more than {MAX_FILE_CHARS:,} characters: split it"
    elif file.chars > max(MIN_UNPACKED, MAX_UNPACKED * file.size):
        problem = (
            f"{file.size:,} bytes unpack to more than {file.chars:,} characters; is it a bomb?"
        )
    else:
        return
    raise RecordError("field", problem)


def _look_for_losses(glyphs: Iterable[Glyph], drawings: Drawings, number: int, file: _File) -> None:
    inked = Counter(glyph.character for glyph in glyphs if glyph.inked)
    meaningless = sum(times for shown, times in inked.items() if not has_meaning(shown))
    if meaningless:
        file.meaningless[number] = meaningless
    is_picture = drawings.picture_share >= PAGE_WIDE and inked.total() <= MAX_STAMP_CHARS
    if drawings.objects and not inked:
        file.without_text.append(number)
    elif is_picture:
        file.pictures.append(number)


def _refuse_textless(file: _File, text: str) -> None:
    """
    Refuse a file that holds nothing to be found.

    Raises:
        RecordError: always for such a file; it says why.
    """
    if len(file.unread) == len(file.pages):
        reason = next(iter(file.unread.values()))
        raise RecordError("syntax", f"none of its pages can be read ({reason}): repair it first")
    if any(character.isalnum() for character in text):
        return
    if file.meaningless:
        problem = "the fonts of the PDF do not say which characters they show;"
    else:
        problem = "the PDF holds no text; is it scanned?"
    raise RecordError("no text", f"{problem} recognise its text first (OCR)")


def _page_losses(file: _File) -> Iterator[Loss]:
    """Yield what is lost of pages."""
    yield _pages_lost("pages that cannot be read", file.unread)
    yield _pages_lost("pages without text", file.without_text)
    yield _pages_lost("pages with only a few words beside a picture", file.pictures)
    bad, where = sum(file.meaningless.values()), _where(file.meaningless)
    yield Loss("characters without meaning", bad, "characters", where)
    yield Loss("comments", sum(file.comments.values()), "parts", _where(file.comments))
    again = sum(file.repeated.values())
    yield Loss("repeated pages", again, "words", _where(file.repeated), intended=True)


def _pages_lost(kind: str, numbers: Iterable[int]) -> Loss:
    numbers = sorted(numbers)
    return Loss(kind, len(numbers), "pages", _where(numbers))


def _where(numbers: Iterable[int]) -> str:
    """Return pages, counted from 0, as a reader names them: "pages 2-9, 12"."""
    runs = [
        [number + 1 for number, _ in run]
        for _, run in groupby(zip(sorted(numbers), count()), key=lambda item: item[0] - item[1])
    ]
    named = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:MAX_RANGES]]
    more = sum(map(len, runs[MAX_RANGES:]))
    first = "page " if len(runs) == 1 == len(runs[0]) else "pages "
    return first + ", ".join(named) + (f" and {more:,} more" if more else "") if runs else ""


def _words_of(pages: Sequence[Sequence[Line]]) -> int:
    return sum(passage_words(line.text) for lines in pages for line in lines)
