"""
What a page shows, and which parts of it are left out on purpose: navigation, controls, what is
hidden. Counted here from the tree alone, apart from how the text is written. Pure.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from lxml import etree, html

from ccrag.corpus.readers.html_source import BLOCKS, name_of
from ccrag.corpus.readers.page import Loss
from ccrag.corpus.words import passage_words

UNSEEN = frozenset(("script", "style", "head", "link", "meta", "base", "param"))
"""Elements without words: they count as parts."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
MIN_OUTSIDE_WORDS = 50
"""Fewer words outside a page's main part are never a reason to read them."""
MIN_OUTSIDE_SHARE = 0.25
"""Share of the main part's characters that text outside it must have to be read as well."""
MIN_LINKED = 0.5
"""Share of a list's or menu's characters that are links where it only leads elsewhere."""
MAX_NAV_CHARS = 300
"""Characters outside links from which on a navigation part with few links is read as text."""
_FURNITURE = re.compile(r"(?:^|\s)(?:sphinxsidebar|navheader|navfooter)(?:\s|$)")
_MENU = re.compile(
    r"(?:^|\s)(?:navigation|breadcrumbs?|related|toc|menu|sidebar|contents topic|topic contents)"
    r"(?:\s|$)"
)
_PERMALINK = re.compile(r"(?:^|\s)(?:headerlink|anchor(?:js)?-?(?:link)?|permalink)(?:\s|$)")
_NUMBERS = re.compile(r"(?:^|\s)(?:linenos|linenodiv|lineno)(?:\s|$)")
_RENDERED = re.compile(r"(?:^|\s)katex-html(?:\s|$)")
"""A formula drawn with letters, beside the same formula in TeX."""
_NOTE = re.compile(
    r"(?:^|\s)(?:admonition|note|warning|tip|caution|important|danger|callout|alert|hint|attention"
    r"|error|seealso|topic|notice|infobox)(?:\s|-|$)",
    re.IGNORECASE,
)
_NAV_ROLES = frozenset(("navigation", "search", "banner", "contentinfo"))
_ASIDES = frozenset(("aside", "blockquote", "details", "figure", "dialog"))
_CONTROLS = frozenset(("button", "select", "datalist"))
_HIDDEN_NAMES = frozenset(("iframe", "defs", "symbol", "rp", "title", "desc"))
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_LAYOUT = frozenset(("table", "pre"))
_LAYOUT_WITHOUT_HEADS = frozenset(("h1", "h2", "h3", "ul", "ol", "dl"))
_SOFT_HYPHEN = "\u00ad"


@dataclass(slots=True)
class _Part:
    """An element that may be left out, or decides how others are read."""

    element: html.HtmlElement
    kind: str
    """Why it may be left out; "main", "table", "aside" for the others."""
    start: int
    """Where its text begins among all pieces."""
    chars: int
    linked: int
    headings: int
    end: int = 0
    layout: bool = False
    heads: bool = False
    lists: bool = False


@dataclass(slots=True)
class Survey:
    """What the writer of a page has to know of its elements before it begins."""

    left_out: set[html.HtmlElement] = field(default_factory=set)
    layout_tables: set[html.HtmlElement] = field(default_factory=set)
    asides: set[html.HtmlElement] = field(default_factory=set)
    """Parts whose headings open no section."""
    roots: list[html.HtmlElement] = field(default_factory=list)
    """What is read, in order: the main part, or the whole page."""
    words: int = 0
    """Words a person sees, with those that are left out on purpose."""
    losses: tuple[Loss, ...] = ()


def survey(root: html.HtmlElement) -> Survey:
    """Return what a page shows and which of it is read."""
    seen = _Seen()
    seen.walk(root)
    return _decided(root, seen)


class _Seen:
    """One walk over a page: all its text, and the parts that matter."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.parts: list[_Part] = []
        self.unseen = 0
        self._open: list[_Part] = []
        self._tables: list[_Part] = []
        self._chars = 0
        self._linked = 0
        self._headings = 0
        self._links = 0

    def walk(self, root: html.HtmlElement) -> None:
        walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walker:
            if event == "start":
                name = name_of(element)
                if name in UNSEEN:
                    self.unseen += name in ("script", "style")
                    walker.skip_subtree()
                    continue
                self._start(element, name)
            elif event == "end":
                name = name_of(element)
                if name not in UNSEEN:
                    self._end(element, name)
                if element is not root:
                    self._text(element.tail)
            else:
                self._text(element.tail)

    def _text(self, text: str | None) -> None:
        if text:
            self.pieces.append(text)
            chars = len(text) if text[:1] not in " \n\t\r" else len(text.strip())
            self._chars += chars
            if self._links:
                self._linked += chars

    def _start(self, element: html.HtmlElement, name: str) -> None:
        if name in BLOCKS or name in _SPACED:
            self.pieces.append(" ")
        if name in HEADINGS:
            self._headings += 1
        elif name == "a":
            self._links += element.get("href") is not None
        if self._tables:
            self._see_in_table(name)
        if kind := _kind(element, name):
            part = _Part(
                element, kind, len(self.pieces), self._chars, self._linked, self._headings
            )
            self._open.append(part)
            self.parts.append(part)
            if name == "table":
                self._tables.append(part)
        if name == "img":
            self._text(element.get("alt"))
        self._text(element.text)

    def _see_in_table(self, name: str) -> None:
        table = self._tables[-1]
        table.layout |= name in _LAYOUT
        table.lists |= name in _LAYOUT_WITHOUT_HEADS
        table.heads |= name == "th"

    def _end(self, element: html.HtmlElement, name: str) -> None:
        if name == "a" and element.get("href") is not None:
            self._links -= 1
        if self._open and self._open[-1].element is element:
            part = self._open.pop()
            part.end = len(self.pieces)
            part.chars = self._chars - part.chars
            part.linked = self._linked - part.linked
            part.headings = self._headings - part.headings
            if name == "table":
                self._tables.pop()
        if name in BLOCKS or name in _SPACED:
            self.pieces.append(" ")


_SPACED = frozenset(("br", "text", "tspan", "rt", "rp", "ruby", "img", "math"))
"""Elements that stand apart from the words around them, though in one line."""


def _kind(element: html.HtmlElement, name: str) -> str:
    """Why an element is looked at; "" if there is no reason."""
    if name == "table":
        return "table"
    said = element.attrib
    if said:
        if kind := _kind_by_attributes(element, name):
            return kind
    if name in _CONTROLS:
        return "" if name == "button" and _in_heading(element) else "form controls"
    if name in _HIDDEN_NAMES or (name == "template" and not element.get("shadowrootmode")):
        return "hidden"
    if name == "noscript":
        return "for browsers without scripts"
    if name in ("main", "article"):
        return name
    if name == "nav":
        return "navigation"
    return "aside" if name in _ASIDES else ""


def _kind_by_attributes(element: html.HtmlElement, name: str) -> str:
    role, classes = element.get("role", ""), element.get("class", "")
    if _is_hidden(element, role, classes):
        return "hidden"
    if role == "main":
        return "main"
    if role in _NAV_ROLES or (classes and _FURNITURE.search(classes)):
        return "navigation"
    if not classes or name in ("html", "body", "main", "article"):
        return "aside" if role == "note" else ""
    if name in ("a", "span", "button") and _PERMALINK.search(classes):
        return "permalinks"
    if _NUMBERS.search(classes):
        return "line numbers"
    if name in BLOCKS and name not in HEADINGS:
        if _MENU.search(classes):
            return "menu"
        if role == "note" or _NOTE.search(classes):
            return "aside"
    return ""


def _is_hidden(element: html.HtmlElement, role: str, classes: str) -> bool:
    """Whether an element is never shown; panels behind tabs are, one after the other."""
    if role == "tabpanel":
        return False
    if element.get("hidden") is not None and element.get("hidden") != "until-found":
        return True
    if element.get("aria-hidden") == "true" and _RENDERED.search(classes):
        return True
    style = element.get("style")
    return style is not None and _HIDDEN_STYLE.search(style) is not None


def _in_heading(element: html.HtmlElement) -> bool:
    """Whether a control is what a heading says, as in pages that fold."""
    parent = element.getparent()
    return parent is not None and (name_of(parent) in HEADINGS or name_of(parent) == "summary")


def _decided(root: html.HtmlElement, seen: _Seen) -> Survey:
    """What is read of a page whose parts are known."""
    text = seen.pieces
    total = sum(len(piece.strip()) for piece in text)
    found = Survey(words=_words(text, 0, len(text)))
    out = [part for part in seen.parts if _goes(part, text)]
    if not _rest(text, _outermost(out), 0, len(text)):
        out = []  # all there is lies in parts that would go
    elif _hides_most(text, out):
        out = [part for part in out if part.kind != "hidden"]
    mains = _mains(seen.parts, text, out)
    found.roots = [part.element for part in mains] or [root]
    found.left_out = {part.element for part in out}
    found.layout_tables = {
        part.element for part in seen.parts
        if part.kind == "table" and (part.layout or (part.lists and not part.heads))
    }  # fmt: skip
    found.asides = {
        part.element for part in seen.parts
        if part.kind in ("aside", "menu")
        and not (part.headings > 2 and 2 * part.chars > total)
    }  # fmt: skip
    found.losses = tuple(_losses(seen, mains, out))
    return found


def _goes(part: _Part, text: list[str]) -> bool:
    """Whether a part is left out, for what it holds."""
    match part.kind:
        case "table" | "main" | "article":
            return False
        case "permalinks":
            said = "".join(text[part.start : part.end]) if part.chars <= 9 else "text"
            return not any(map(str.isalnum, said))
        case "navigation":
            bare = part.chars - part.linked
            return bare <= MAX_NAV_CHARS or part.linked > MIN_LINKED * part.chars
        case "menu":
            return part.chars > 0 and part.linked > MIN_LINKED * part.chars
        case "aside":
            return _leads_elsewhere(part)
        case _:
            return True


def _leads_elsewhere(part: _Part) -> bool:
    """Whether an `<aside>` is a list of links; a footnote may be one link."""
    return (
        name_of(part.element) == "aside"
        and not part.element.get("role", "").startswith("doc-")
        and "footnote" not in part.element.get("class", "")
        and part.chars >= 60
        and part.linked > 0.8 * part.chars
    )


def _outermost(parts: list[_Part]) -> list[_Part]:
    """The parts that lie in no other of them, in the order of the page."""
    kept: list[_Part] = []
    for part in sorted(parts, key=attrgetter("start")):
        if not kept or part.start >= kept[-1].end:
            kept.append(part)
    return kept


def _rest(text: list[str], out: list[_Part], start: int, end: int) -> int:
    """The words between two places, without those of parts that go."""
    pieces: list[str] = []
    at = start
    for part in islice(out, bisect_right(out, start, key=attrgetter("end")), None):
        if part.start >= end:
            break
        pieces += text[at : max(part.start, at)]
        at = max(at, part.end)
    return passage_words("".join([*pieces, *text[at:end]]).replace(_SOFT_HYPHEN, ""))


def _words(text: list[str], start: int, end: int) -> int:
    return _rest(text, [], start, end)


def _hides_most(text: list[str], out: list[_Part]) -> bool:
    """Whether more is hidden than shown: a page that a script unfolds."""
    hidden = _outermost([part for part in out if part.kind == "hidden"])
    words = sum(_words(text, part.start, part.end) for part in hidden)
    return words >= MIN_OUTSIDE_WORDS and words > _rest(text, _outermost(out), 0, len(text))


def _mains(parts: list[_Part], text: list[str], out: list[_Part]) -> list[_Part]:
    """
    The parts that a page says are its main ones, unless much stands outside them.

    Several `<article>`s without a `<main>` are a list whose heading belongs to it: no main part.
    """
    shown = _outermost(out)
    mains = _outermost([part for part in parts if part.kind == "main"])
    if not mains:
        mains = _outermost([part for part in parts if part.kind == "article"])
        mains = mains if len(mains) == 1 else []
    mains = [part for part in mains if not _covered(part, shown)]
    inside = sum(_rest(text, shown, part.start, part.end) for part in mains)
    outside = _rest(text, shown, 0, len(text)) - inside
    much = outside >= MIN_OUTSIDE_WORDS and outside >= MIN_OUTSIDE_SHARE * inside
    return [] if much or not inside else mains


def _covered(part: _Part, out: list[_Part]) -> bool:
    """Whether a part lies in one of `out`, which do not overlap."""
    before = bisect_right(out, part.start, key=attrgetter("start"))
    return before > 0 and part.end <= out[before - 1].end


def _losses(seen: _Seen, mains: list[_Part], out: list[_Part]) -> Iterator[Loss]:
    """What is left out on purpose, by kind; words of the main part's surroundings last."""
    counts: Counter[str] = Counter()
    shown = _outermost(out)
    for part in shown:
        kind = "navigation" if part.kind in ("menu", "aside") else part.kind
        counts[kind] += _words(seen.pieces, part.start, part.end)
    if mains:
        everything = _rest(seen.pieces, shown, 0, len(seen.pieces))
        inside = sum(_rest(seen.pieces, shown, part.start, part.end) for part in mains)
        counts["outside the main part"] = everything - inside
    for kind, words in counts.items():
        if words:
            yield Loss(kind, words, "words", intended=True)
    if seen.unseen:
        yield Loss("scripts and styles", seen.unseen, "parts", intended=True)
