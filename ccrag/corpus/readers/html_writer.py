"""The elements of a page as blocks of Markdown, in one pass. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from lxml import etree

from ccrag.corpus.readers.html_survey import Survey
from ccrag.corpus.readers.html_tables import Repeats, TableGrid, span
from ccrag.corpus.readers.html_tokens import BLOCKS, HEADINGS, Token, tag_at
from ccrag.text.words import WIDE

MAX_SCRIPTS = 4
"""Sub- and superscripts inside each other that are marked as such; deeper ones are plain text."""
_INLINE = frozenset(("br", "img", "sub", "sup", "ruby", "rt", "text", "tspan"))
"""Elements inside a line whose start says something."""
_RAW = frozenset(("pre", "listing", "xmp", "plaintext", "textarea"))
_WIDE_LINE_END = re.compile(rf"(?<=[{WIDE}])[^\S\n]*\n\s*(?=[{WIDE}])")
_MARK = re.compile(r"#{1,6}\s|`{3}|~{3}|\|")
"""The beginning of a line that makes it a block of another kind in Markdown."""
_FENCE = re.compile(r"^[^\S\n]*(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight|highlight-source)-|brush:\s*|sourceCode\s+)"
    r"(?!default\b|none\b|text\b|source\b)([\w+#.-]+)"
)
_TEX = ".//*[local-name()='annotation'][contains(@encoding,'tex') or contains(@encoding,'TeX')]"


def tidy(text: str) -> str:
    """
    Return `text` in one line: white space as single blanks, soft hyphens gone.

    A line of the source that ends between two ideographs or kana leaves no blank.
    """
    if not text.isascii():
        text = _WIDE_LINE_END.sub("", text.replace("\u00ad", ""))
    return " ".join(text.split())


@dataclass(slots=True)
class _Capture:
    """An element whose words are gathered before they are written as one."""

    start: int
    """The place of its tag."""
    kind: str
    words: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _List:
    """A list that is open: where its numbers are, None for bullets."""

    start: int
    """The place of its tag."""
    number: int | None
    step: int = 1


class MarkdownWriter:
    """Blocks of Markdown, one after the other."""

    def __init__(self, tokens: Sequence[Token], survey: Survey, repeats: Repeats) -> None:
        self.title = ""
        """The first heading of the first rank."""
        self._tokens = tokens
        self._survey = survey
        self._repeats = repeats
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._sink = self._words
        """Where words go: those of the innermost capture, or of the paragraph."""
        self._captures: list[_Capture] = []
        self._lists: list[_List] = []
        self._grid: TableGrid | None = None
        self._prefix = ""
        self._asides: list[int] = []
        self._scripts = 0
        self._rubies = 0
        self._readings: list[str] = []
        """Readings of the words in a `<ruby>`; they follow it in parentheses."""

    def text(self) -> str:
        """Return all that was written."""
        self._end_block()
        return "\n\n".join(self._blocks) + ("\n" if self._blocks else "")

    def write(self, start: int, end: int) -> None:
        """Write the tokens from one tag to another, both included."""
        if not self._captures:
            self._end_block()
        at, tokens, left_out = start, self._tokens, self._survey.left_out
        while at <= end:
            token = tokens[at]
            if isinstance(token, str):
                self._sink.append(token)
            elif isinstance(token, int):
                self._end(token, tag_at(tokens, token).name)
            elif token.kind and at in left_out:
                at = left_out[at]
            elif token.name == "math":
                self._sink.append(f"${_formula(token.element)}$")
                at = self._end_of(at)
            else:
                if token.kind and at in self._survey.asides:
                    self._asides.append(at)
                self._start(token.element, token.name, at)
            at += 1

    def inline(self, start: int) -> str:
        """Return the words of the element at a place in one line; nothing is written."""
        if start in self._survey.left_out:
            return ""
        self._capture(start, "title")
        self.write(start, self._end_of(start))
        return tidy("".join(self._release().words))

    def _end_of(self, start: int) -> int:
        """Return the place where the element that begins at `start` ends."""
        return next(at for at in range(start, len(self._tokens)) if self._tokens[at] == start)

    def _start(self, element: etree._Element, name: str, at: int) -> None:
        if name in BLOCKS:
            self._start_block(element, name, at)
        elif name not in _INLINE:
            return
        elif name == "br":
            self._sink.append("\n" if self._in_raw() else " ")
        elif name == "img":
            alt = tidy(element.get("alt", ""))
            self._sink.append(f"![{alt}]()" if alt else "")
        elif name in ("sub", "sup"):
            self._scripts += 1
            if self._scripts <= MAX_SCRIPTS and not self._in_raw():
                self._capture(at, name)
        elif name == "ruby":
            self._rubies += 1
        elif name == "rt" and self._rubies:
            self._capture(at, name)
        elif name in ("text", "tspan"):
            self._sink.append(" ")

    def _start_block(self, element: etree._Element, name: str, at: int) -> None:
        if self._captures:
            self._break()
            return
        if self._grid is not None and self._start_in_table(at, name):
            return
        self._end_block()
        if name in HEADINGS or name in _RAW:
            self._capture(at, name)
        elif name == "table" and at not in self._survey.layout_tables:
            self._grid = TableGrid(self._repeats)
        elif name in ("ol", "ul", "menu", "dir"):
            self._lists.append(_list(at, element, name))
        elif name == "li":
            self._prefix = self._mark(element)
        elif name in ("dt", "dd"):
            self._prefix = ""

    def _start_in_table(self, at: int, name: str) -> bool:
        """Begin a row, a cell or a caption of the open table; False for other elements."""
        if name == "tr" and self._grid is not None:
            self._end_block()
            self._grid.row()
        elif name in ("td", "th", "caption"):
            self._end_block()
            self._capture(at, name)
        return name in ("tr", "td", "th", "caption", "thead", "tbody", "tfoot")

    def _end(self, start: int, name: str) -> None:
        if name in ("sub", "sup"):
            self._scripts -= 1
        if self._captures and self._captures[-1].start == start:
            if self._captures[-1].kind != "title":
                self._end_capture(self._release(), name)
        elif name in BLOCKS:
            self._end_of_block(start, name)
        elif name == "ruby":
            self._rubies -= 1
            if self._readings:
                self._sink.append(f"({''.join(self._readings)})")
                self._readings = []
        elif name in ("text", "tspan"):
            self._sink.append(" ")
        if self._asides and self._asides[-1] == start:
            self._asides.pop()

    def _end_of_block(self, start: int, name: str) -> None:
        if self._captures:
            self._break()
            return
        if self._grid is not None and name in ("tr", "thead", "tbody", "tfoot", "td", "th"):
            return
        self._end_block()
        if name == "table" and self._grid is not None:
            self._add(self._grid.text())
            self._grid = None
        elif self._lists and self._lists[-1].start == start:
            self._lists.pop()
        elif name == "li":
            self._prefix = ""

    def _end_capture(self, capture: _Capture, name: str) -> None:
        raw = "".join(capture.words)
        if name == "rt":
            self._readings.append(tidy(raw))
        elif name in ("sub", "sup"):
            self._sink.append(_script("_" if name == "sub" else "^", tidy(raw)))
        elif name in _RAW:
            self._add(_code(raw, _language(tag_at(self._tokens, capture.start).element)))
        elif name in HEADINGS:
            self._add_heading(tidy(raw), name)
        elif name == "caption" or self._grid is None:
            self._add(_escaped(tidy(raw)))
        else:
            cell = tag_at(self._tokens, capture.start).element
            columns, rows = span(cell.get("colspan")), span(cell.get("rowspan"))
            self._grid.cell(tidy(raw), columns=columns, rows=rows)

    def _add_heading(self, title: str, name: str) -> None:
        if not title:
            return
        number = self._prefix if self._prefix != "- " else ""
        self._prefix = ""
        if self._asides:
            self._add(f"{number}**{title}**")
            return
        if name == "h1" and not self.title:
            self.title = title
        self._add(f"{'#' * HEADINGS[name]} {number}{title}")

    def _capture(self, start: int, kind: str) -> None:
        self._captures.append(_Capture(start, kind))
        self._sink = self._captures[-1].words

    def _release(self) -> _Capture:
        capture = self._captures.pop()
        self._sink = self._captures[-1].words if self._captures else self._words
        return capture

    def _in_raw(self) -> bool:
        return bool(self._captures) and self._captures[-1].kind in _RAW

    def _break(self) -> None:
        """Part the words before and after a block that stands in a heading, a cell or code."""
        words = self._captures[-1].words
        if not self._in_raw():
            words.append(" ")
        elif words and not words[-1].endswith("\n"):
            words.append("\n")

    def _mark(self, item: etree._Element) -> str:
        """Return what a list's item begins with."""
        if not self._lists or self._lists[-1].number is None:
            return "- "
        within = self._lists[-1]
        within.number = _whole(item.get("value"), within.number or 0)
        mark = f"{within.number}. "
        within.number += within.step
        return mark

    def _end_block(self) -> None:
        if not self._words:
            return
        words = tidy("".join(self._words))
        self._words.clear()
        if words:
            self._blocks.append((self._prefix or "") + _escaped(words))
            self._prefix = ""

    def _add(self, block: str) -> None:
        """Add a block that is no paragraph; the number of its list item stands before it."""
        self._end_block()
        if block.strip():
            if self._prefix not in ("", "- "):
                self._blocks.append(self._prefix.strip())
            self._prefix = ""
            self._blocks.append(block)


def _list(start: int, element: etree._Element, name: str) -> _List:
    if name != "ol":
        return _List(start, None)
    if element.get("reversed") is None:
        return _List(start, _whole(element.get("start"), 1))
    return _List(start, _whole(element.get("start"), len(element.findall("li"))), -1)


def _whole(value: str | None, otherwise: int) -> int:
    """Return a whole number, or `otherwise`, as browsers do, if the value is not one."""
    found = re.match(r"\s*([+-]?[0-9]{1,9})(?![0-9])", value or "")
    return int(found[1]) if found else otherwise


def _escaped(block: str) -> str:
    """
    Return a paragraph that Markdown would take for a heading, code or a table, marked as none.
    """
    return "\\" + block if _MARK.match(block) else block


def _code(raw: str, language: str) -> str:
    """Return lines between fences that are longer than those among the lines."""
    lines = raw.strip("\n")
    longest = max((len(found[1]) for found in _FENCE.finditer(lines)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines}\n{fence}" if lines.strip() else ""


def _language(element: etree._Element) -> str:
    """
    Return the language of a block of code, by its class or that of the element around it.
    """
    above = element.getparent()
    around = [] if above is None else [above, above.getparent()]
    for near in (element, next(iter(element), None), *around):
        found = None if near is None else _LANGUAGE.search(near.get("class") or "")
        if found:
            return found[1]
    return ""


def _script(mark: str, inner: str) -> str:
    """Return a sub- or superscript as in TeX."""
    if not inner:
        return ""
    return f"{mark}{inner}" if inner.isalnum() else f"{mark}{{{inner}}}"


def _formula(element: etree._Element) -> str:
    """Return a formula in TeX where the page has it, else its signs."""
    for annotation in cast(list[etree._Element], element.xpath(_TEX)):
        if annotation.text:
            return str(annotation.text).strip()
    return tidy(element.get("alttext") or " ".join(map(str, element.itertext())))
