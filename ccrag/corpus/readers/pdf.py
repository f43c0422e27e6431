"""
PDF files as Markdown with page numbers, through pypdfium2.

pdfium gives characters in the order in which they were set, which for typeset papers is the order
of reading, column after column. Lines, headings, tables and paragraphs are found here by size,
weight and place: see `layout`. There is no text in a scanned file.
"""

import ctypes
import re
from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ccrag.corpus.readers.layout import write_pages
from ccrag.corpus.readers.lines import Glyph, Line
from ccrag.corpus.readers.page import Page
from ccrag.corpus.readers.ruled import Rule, lines_with_tables
from ccrag.corpus.records import RecordError

_PDFIUM = Lock()
"""pdfium is not made for several threads."""
_FONT_NAME_BYTES = 256
MAX_RULE_HEIGHT = 2.5
MIN_RULE_WIDTH = 60.0
"""In points; shorter ones are fractions, axes and marks."""
_BOLD = re.compile(r"bold|black|heavy|-bd|cmbx|sfbx|medi$", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|consol", re.IGNORECASE)


def read_pdf(data: bytes) -> Page:
    """
    A PDF as one document.

    Raises:
        RecordError: it cannot be opened, or holds no text.
    """
    with _PDFIUM:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise RecordError("syntax", f"not a PDF that can be read: {error}") from error
        try:
            title = str(document.get_metadata_value("Title")).strip()
            pages = [_lines(document[number]) for number in range(len(document))]
        finally:
            document.close()
    text, starts = write_pages(pages)
    if not text.strip():
        raise RecordError("field", "the PDF holds no text; is it scanned? recognise its text first")
    return Page(title, text, starts)


def _lines(page: pdfium.PdfPage) -> list[Line]:
    textpage = page.get_textpage()
    try:
        return lines_with_tables(list(_glyphs(textpage)), list(_rules(page)))
    finally:
        textpage.close()
        page.close()


def _rules(page: pdfium.PdfPage) -> Iterator[Rule]:
    """The horizontal lines of a page: drawn, filled, or pictures of one."""
    for drawn in page.get_objects(filter=(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE)):
        left, bottom, right, top = drawn.get_bounds()
        if top - bottom <= MAX_RULE_HEIGHT and right - left >= MIN_RULE_WIDTH:
            yield Rule(left, right, (top + bottom) / 2)


def _glyphs(textpage: pdfium.PdfTextPage) -> Iterator[Glyph]:
    """Every character with its place; those without ink, such as line ends, have no width."""
    left, right, bottom, top, origin, baseline = (ctypes.c_double() for _ in range(6))
    handle = textpage.raw
    font = _Font(1.0, bold=False, mono=False)
    between_words = True
    high = 0
    for at in range(textpage.count_chars()):
        code = raw.FPDFText_GetUnicode(handle, at)
        if 0xD800 <= code < 0xDC00:  # pdfium counts in UTF-16: its other half comes next
            high = code
            continue
        character = _character(high, code)
        high = 0
        raw.FPDFText_GetCharBox(handle, at, left, right, bottom, top)
        raw.FPDFText_GetCharOrigin(handle, at, origin, baseline)
        if between_words:  # a font seldom changes inside a word, and asking for it takes time
            font = _font(handle, at)
        between_words = character.isspace()
        yield Glyph(
            character,
            font.size,
            font.bold,
            font.mono,
            left.value,
            right.value,
            baseline.value,
            raw.FPDFText_IsHyphen(handle, at) == 1,
        )


def _character(high: int, code: int) -> str:
    """The character of a code unit, or of two."""
    if 0xDC00 <= code < 0xE000:
        return chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)) if high else "\ufffd"
    return chr(code)


class _Font(NamedTuple):
    """How a character is set."""

    size: float
    bold: bool
    mono: bool


def _font(handle: raw.FPDF_TEXTPAGE, at: int) -> _Font:
    buffer = ctypes.create_string_buffer(_FONT_NAME_BYTES)
    raw.FPDFText_GetFontInfo(handle, at, buffer, _FONT_NAME_BYTES, ctypes.c_int())
    name = buffer.value.decode("utf-8", "replace")
    size = raw.FPDFText_GetFontSize(handle, at) * _scale(handle, at)
    return _Font(size, bold=bool(_BOLD.search(name)), mono=bool(_MONO.search(name)))


def _scale(handle: raw.FPDF_TEXTPAGE, at: int) -> float:
    """What the page makes of a font's nominal size."""
    matrix = raw.FS_MATRIX()
    if not raw.FPDFText_GetMatrix(handle, at, matrix):
        return 1.0
    return float((matrix.c**2 + matrix.d**2) ** 0.5) or 1.0
