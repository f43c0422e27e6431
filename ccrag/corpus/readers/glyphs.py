"""
The characters and drawings of a PDF's page, as pdfium gives them.

The work of a page is bounded: see the limits. Text that runs upwards, downwards or upside down is
turned upright, so that what makes lines of it needs to know one direction only.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

import pypdfium2.raw as raw

from ccrag.corpus.readers.lines import Glyph
from ccrag.corpus.readers.ruled import Rule

MAX_OBJECTS = 50_000
"""Drawings of one page that are looked at; tables are then found by blanks alone."""
MAX_RULES = 1_000
"""More horizontal lines on a page are a drawing, not tables."""
MAX_FORM_DEPTH = 5
"""Drawings inside of drawings."""
MAX_POINTS = 20_000.0
"""The largest coordinate: PDF's own limit is 14,400, and broken files have infinite ones."""
MAX_RULE_HEIGHT = 2.5
MIN_RULE_WIDTH = 60.0
"""In points; shorter ones are fractions, axes and marks."""
_FONT_NAME_BYTES = 256
_BOLD = re.compile(r"bold|black|heavy|-bd|cmbx|sfbx|medi$", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|consol", re.IGNORECASE)
_SHOWN = (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE)
_PARTED = 2
"""The code pdfium gives to a hyphen that divides a word at a line's end."""


class _Font(NamedTuple):
    """The type in which the characters of a word are set."""

    size: float
    bold: bool
    mono: bool
    turn: int
    """Quarter turns to the left that the text is turned by."""


class PageText(NamedTuple):
    """The characters of a page in the order in which they were set."""

    glyphs: list[Glyph]
    turn: int
    """Quarter turns to the left of most of its words."""


class Drawings(NamedTuple):
    """The rules and pictures of a page."""

    rules: list[Rule]
    objects: int
    """Pictures and paths."""
    picture_share: float
    """The largest picture's share of the page's area."""


def read_glyphs(textpage: raw.FPDF_TEXTPAGE, count: int) -> PageText:
    """
    Return the `count` characters of a page, each with its place.

    Those without ink, such as line ends, have no width.
    """
    names: dict[bytes, tuple[bool, bool]] = {}
    turns = Counter[int]()
    boxes = [ctypes.c_double() for _ in range(6)]
    left, right, bottom, top, x, y = boxes
    # `byref` once and functions by local names: this loop is most of the time of reading.
    at_left, at_right, at_bottom, at_top, at_x, at_y = map(ctypes.byref, boxes)
    unicode, box, origin = (
        raw.FPDFText_GetUnicode,
        raw.FPDFText_GetCharBox,
        raw.FPDFText_GetCharOrigin,
    )
    glyphs: list[Glyph] = []
    font = _Font(1.0, bold=False, mono=False, turn=0)
    showing: int | None = None
    """The address of the text object that `font` is of: all of its characters are set alike."""
    between_words = True
    high = 0
    for at in range(count):
        code = unicode(textpage, at)
        if 0xD800 <= code < 0xDC00:  # pdfium counts in UTF-16: its other half comes next
            high = code
            continue
        character = _character(high, code) if high or 0xDC00 <= code < 0xE000 else chr(code)
        high = 0
        box(textpage, at, at_left, at_right, at_bottom, at_top)
        origin(textpage, at, at_x, at_y)
        if between_words:  # a font seldom changes inside a word, and asking for it takes time
            shown = ctypes.cast(raw.FPDFText_GetTextObject(textpage, at), ctypes.c_void_p).value
            if shown is None or shown != showing:
                font = _font(textpage, at, names)
                showing = shown
            turns[font.turn] += 1
        between_words = character.isspace()
        start, end, baseline = left.value, right.value, y.value
        usual = -MAX_POINTS <= start <= end <= MAX_POINTS and -MAX_POINTS <= baseline <= MAX_POINTS
        if font.turn or not usual:
            start, end, baseline = _upright(
                font.turn, (start, bottom.value, end, top.value), (x.value, baseline)
            )
        glyphs.append(
            Glyph(
                character,
                font.size,
                font.bold,
                font.mono,
                start,
                end,
                baseline,
                code == _PARTED and raw.FPDFText_IsHyphen(textpage, at) == 1,
                end > start and not between_words,
            )
        )
    return PageText(glyphs, turns.most_common(1)[0][0] if turns else 0)


def _character(high: int, code: int) -> str:
    """Return the character of a code unit, or of two."""
    if 0xDC00 <= code < 0xE000:
        return chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)) if high else "\ufffd"
    return chr(code)


def _upright(
    turn: int, box: tuple[float, float, float, float], origin: tuple[float, float]
) -> tuple[float, float, float]:
    """Return left, right and baseline of a character after its text is turned upright."""
    left, bottom, right, top = box
    x, y = origin
    match turn:
        case 0:
            places = left, right, y
        case 1:
            places = bottom, top, -x
        case 2:
            places = -right, -left, -y
        case _:
            places = -top, -bottom, x
    start, end, baseline = map(_bounded, places)
    return start, end, baseline


def _bounded(value: float) -> float:
    return max(-MAX_POINTS, min(MAX_POINTS, value)) if isfinite(value) else 0.0


def _font(textpage: raw.FPDF_TEXTPAGE, at: int, names: dict[bytes, tuple[bool, bool]]) -> _Font:
    """Return the type of the character `at`; `names` caches the style of each font name."""
    buffer = ctypes.create_string_buffer(_FONT_NAME_BYTES)
    raw.FPDFText_GetFontInfo(textpage, at, buffer, _FONT_NAME_BYTES, ctypes.c_int())
    style = names.get(buffer.value)
    if style is None:
        name = buffer.value.decode("utf-8", "replace")
        style = bool(_BOLD.search(name)), bool(_MONO.search(name))
        names[buffer.value] = style
    scale, turn = 1.0, 0
    matrix = raw.FS_MATRIX()
    if raw.FPDFText_GetMatrix(textpage, at, matrix):
        scale = float((matrix.c**2 + matrix.d**2) ** 0.5) or 1.0
        # The baseline runs along (a, b); text is taken as turned by whole quarters.
        if abs(matrix.a) >= abs(matrix.b):
            turn = 0 if matrix.a >= 0 else 2
        else:
            turn = 1 if matrix.b > 0 else 3
    size = abs(_bounded(raw.FPDFText_GetFontSize(textpage, at) * scale))
    return _Font(size, *style, turn)


def read_drawings(page: raw.FPDF_PAGE, turn: int) -> Drawings:
    """Return the pictures and horizontal lines of a page: drawn, filled, or pictures of one."""
    area = raw.FPDF_GetPageWidthF(page) * raw.FPDF_GetPageHeightF(page)
    rules: list[Rule] = []
    objects = 0
    largest = 0.0
    for kind, box in _drawn(page):
        objects += 1
        left, bottom, right, top = box
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            largest = max(largest, (right - left) * (top - bottom))
        start, end, low = _upright(turn, box, (left, bottom))
        high = _upright(turn, box, (right, top))[2]
        if abs(high - low) <= MAX_RULE_HEIGHT and end - start >= MIN_RULE_WIDTH:
            rules.append(Rule(start, end, (low + high) / 2))
    few = rules if len(rules) <= MAX_RULES else []
    return Drawings(few, objects, largest / area if area > 0 else 0.0)


_Bounds = tuple[float, float, float, float]


def _drawn(page: raw.FPDF_PAGE) -> Iterator[tuple[int, _Bounds]]:
    """Yield kind and bounds of the first `MAX_OBJECTS` pictures and paths."""
    bounds = [ctypes.c_float() for _ in range(4)]
    # Forms are put on the stack with their depth; a form's own objects come after those around it.
    waiting = [(page, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, 0)]
    seen = 0
    while waiting:
        parent, count, get, depth = waiting.pop()
        for at in range(count(parent)):
            seen += 1
            if seen > MAX_OBJECTS:
                return
            drawn = get(parent, at)
            kind = raw.FPDFPageObj_GetType(drawn)
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_FORM_DEPTH:
                inner = raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject
                waiting.append((drawn, *inner, depth + 1))
            elif kind in _SHOWN and raw.FPDFPageObj_GetBounds(drawn, *bounds):
                left, bottom, right, top = (_bounded(bound.value) for bound in bounds)
                yield kind, (left, bottom, right, top)
