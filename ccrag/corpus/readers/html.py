"""
HTML pages as Markdown, through lxml. What a page says stays in its order; what surrounds it on a
site (navigation, scripts, forms) goes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from lxml import etree, html

from ccrag.corpus.readers.page import Page
from ccrag.corpus.records import RecordError

_MAIN = "//main | //*[@role='main'] | //article"
_LEFT_OUT = frozenset(
    ("script", "style", "nav", "aside", "form", "button", "noscript", "template", "svg", "head")
)
_LEFT_OUT_CLASSES = re.compile(
    r"(?:^|\s)(?:headerlink|anchor|sphinxsidebar|navheader|navfooter|navigation|breadcrumbs?"
    r"|related|toc|menu|linenos)(?:\s|$)"
)
_LEFT_OUT_ROLES = frozenset(("navigation", "search", "banner", "contentinfo"))
_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
     "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "header", "hr", "html",
     "li", "main", "ol", "p", "section", "summary", "ul")
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
MAX_SPAN = 1_000
"""Columns or rows a cell may cover, as HTML has it."""
_SPACE = re.compile(r"\s+")
_CELL_BAR = re.compile(r"\|")
_TEX = ".//*[local-name()='annotation'][contains(@encoding,'tex') or contains(@encoding,'TeX')]"


def read_html(data: bytes) -> Page:
    """
    A page's main part as Markdown.

    Raises:
        RecordError: there is nothing to read in it.
    """
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(encoding=_declared(data)))
    except (etree.ParserError, ValueError, LookupError) as error:
        raise RecordError("syntax", f"not HTML that can be read: {error}") from error
    return page_of(root)


def page_of(root: html.HtmlElement) -> Page:
    """
    A parsed page's main part as Markdown.

    Raises:
        RecordError: there is nothing to read in it.
    """
    parts = [element for element in _found(root, _MAIN) if _is_outermost(element)]
    writer = _Writer()
    for element in parts or [root]:
        writer.block(element)
    text = writer.text()
    if not text.strip():
        raise RecordError("field", "the page holds no text; is it made by a script?")
    return Page(_title(parts, root), text)


def _declared(data: bytes) -> str | None:
    """UTF-8 where the bytes are; else what the page declares, which the parser finds out."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _title(parts: Sequence[html.HtmlElement], root: html.HtmlElement) -> str:
    """The first heading of the first rank, the main part's before others, else the window's."""
    headings = (found for element in (*parts, root) for found in _found(element, ".//h1"))
    for element in (*headings, *_found(root, ".//title")):
        title = _SPACE.sub(" ", "".join(_content(element))).strip()
        if title:
            return title
    return ""


def _found(element: html.HtmlElement, path: str) -> list[html.HtmlElement]:
    """The elements at an XPath; lxml's own type allows for paths that name other things."""
    return cast(list[html.HtmlElement], element.xpath(path))


def _is_outermost(element: html.HtmlElement) -> bool:
    return not any(
        parent.tag in ("main", "article") or parent.get("role") == "main"
        for parent in element.iterancestors()
    )


def _is_left_out(element: html.HtmlElement) -> bool:
    return (
        not isinstance(element.tag, str)
        or element.tag in _LEFT_OUT
        or element.get("role") in _LEFT_OUT_ROLES
        or element.get("hidden") is not None
        or _LEFT_OUT_CLASSES.search(element.get("class", "")) is not None
    )


class _Writer:
    """Blocks of Markdown, one after the other."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._prefix = ""

    def text(self) -> str:
        """All that was written."""
        self._end_block()
        return "\n\n".join(self._blocks) + ("\n" if self._blocks else "")

    def block(self, element: html.HtmlElement) -> None:
        """Write an element and what is in it, as blocks."""
        if _is_left_out(element):
            return
        tag = element.tag
        if tag in _HEADINGS:
            title = _SPACE.sub(" ", "".join(_inline(element))).strip()
            self._add(f"{'#' * _HEADINGS[tag]} {title}" if title else "")
        elif tag == "pre":
            self._add(f"```\n{_raw(element)}\n```")
        elif tag == "table":
            self._table(element)
        else:
            self._prefix = {"li": "- ", "dt": "", "dd": ""}.get(tag, self._prefix)
            self._inside(element)

    def _inside(self, element: html.HtmlElement) -> None:
        self._words.append(element.text or "")
        for child in element:
            if _is_block(child):
                self._end_block()
                self.block(child)
                self._end_block()
            elif not _is_left_out(child):
                self._words.extend(_inline(child))
            self._words.append(child.tail or "")
        if element.tag in _BLOCKS:
            self._end_block()

    def _table(self, table: html.HtmlElement) -> None:
        """A table as rows of cells; one that only lays out a page as what its cells hold."""
        if _found(table, ".//table | .//h1 | .//h2 | .//h3 | .//ul | .//pre"):
            for cell in _own_cells(table):
                self._inside(cell)
                self._end_block()
            return
        for caption in _found(table, "./caption"):
            self._add(_SPACE.sub(" ", "".join(_inline(caption))).strip())
        rows = _grid(table)
        self._add("\n".join(f"| {' | '.join(row)} |" for row in rows if any(row)))

    def _end_block(self) -> None:
        words = _SPACE.sub(" ", "".join(self._words)).strip()
        self._words = []
        if words:
            self._blocks.append(self._prefix + words)
            self._prefix = ""

    def _add(self, block: str) -> None:
        self._end_block()
        if block.strip():
            self._blocks.append(block)


def _is_block(element: html.HtmlElement) -> bool:
    """Whether an element starts on a line of its own, or holds one that does."""
    if not isinstance(element.tag, str):
        return False
    if element.tag in _BLOCKS or element.tag in _HEADINGS or element.tag in ("pre", "table"):
        return True
    return any(
        isinstance(inner.tag, str) and (inner.tag in _BLOCKS or inner.tag in ("pre", "table"))
        for inner in element.iterdescendants()
    )


def _grid(table: html.HtmlElement) -> Iterator[list[str]]:
    """
    Rows of cells, each below its column's head: a cell over several rows is said in each of them,
    one over several columns in the first.
    """
    hanging: dict[int, tuple[int, str]] = {}
    for tr in table.iter("tr"):
        row: list[str] = []
        for cell in _found(tr, "./td | ./th"):
            _hang(row, hanging)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for said in (_cell(cell), *[""] * (width - 1)):
                if height > 1:
                    hanging[len(row)] = (height - 1, said)
                row.append(said)
        _hang(row, hanging)
        yield row


def _hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Fill in the cells of rows above that reach down to the next places of `row`."""
    while len(row) in hanging:
        left, said = hanging.pop(len(row))
        if left > 1:
            hanging[len(row)] = (left - 1, said)
        row.append(said)


def _span(cell: html.HtmlElement, name: str) -> int:
    """Columns or rows of a cell; browsers, too, take what is no number for one."""
    said = cell.get(name, "1").strip()
    return min(max(int(said), 1), MAX_SPAN) if said.isascii() and said.isdecimal() else 1


def _own_cells(table: html.HtmlElement) -> list[html.HtmlElement]:
    """The cells of a table, without those of tables inside them."""
    cells = _found(table, ".//td | .//th")
    return [cell for cell in cells if next(cell.iterancestors("table")) is table]


def _cell(cell: html.HtmlElement) -> str:
    return _CELL_BAR.sub("\\\\|", _SPACE.sub(" ", "".join(_inline(cell))).strip())


def _raw(element: html.HtmlElement) -> str:
    return "".join(str(piece) for piece in element.itertext()).strip("\n")


def _inline(element: html.HtmlElement) -> Iterator[str]:
    """The words of an element; sub- and superscripts and formulas as in TeX."""
    if _is_left_out(element):
        return
    tag = str(element.tag).rpartition("}")[2]
    if tag == "math":
        yield f"${_formula(element)}$"
    elif tag == "img":
        if element.get("alt", "").strip():
            yield f"![{element.get('alt')}]()"
    elif tag == "br":
        yield "\n"
    elif tag in ("sub", "sup"):
        yield from _script("_" if tag == "sub" else "^", _content(element))
    else:
        yield from _content(element)


def _content(element: html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield from _inline(child)
        yield child.tail or ""


def _script(mark: str, words: Iterable[str]) -> Iterator[str]:
    inner = _SPACE.sub(" ", "".join(words)).strip()
    if inner:
        yield f"{mark}{inner}" if inner.isalnum() else f"{mark}{{{inner}}}"


def _formula(element: html.HtmlElement) -> str:
    for annotation in _found(element, _TEX):
        if annotation.text:
            return str(annotation.text).strip()
    spoken = element.get("alttext") or "".join(map(str, element.itertext()))
    return _SPACE.sub(" ", spoken).strip()
