"""
The tags of a page that matter and its texts, in order, with the purpose of each part as far as its
own tag shows it. Pure.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from lxml import etree

from ccrag.errors import InvariantError

BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
     "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
     "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend",
     "li", "listing", "main", "menu", "nav", "noframes", "noscript", "ol", "optgroup", "option",
     "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "textarea",
     "tfoot", "th", "thead", "tr", "ul", "xmp")
)  # fmt: skip
"""Elements that start on a line of their own."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
SPACED = frozenset(("br", "button", "text", "tspan", "rt", "rp", "ruby", "img", "math"))
"""Elements that stand apart from the words around them, though in one line."""
UNSEEN = frozenset(("script", "style", "head", "link", "meta", "base", "param"))
"""Elements without words: they have no tokens."""
_MARKED = BLOCKS | SPACED | {"sub", "sup"}
"""Elements whose tags always matter."""
_FURNITURE = re.compile(r"(?:^|\s)(?:sphinxsidebar|navheader|navfooter)(?:\s|$)")
_MENU = re.compile(r"(?:^|\s)(?:navigation|breadcrumbs?|related|menu|sidebar)(?:\s|$)")
_CONTENTS = re.compile(r"(?:^|\s)(?:toc|contents topic|topic contents)(?:\s|$)")
_PERMALINK = re.compile(r"(?:^|\s)(?:headerlink|anchor(?:js)?-?(?:link)?|permalink)(?:\s|$)")
_NUMBERS = re.compile(r"(?:^|\s)(?:linenos|linenodiv|lineno)(?:\s|$)")
_RENDERED = re.compile(r"(?:^|\s)katex-html(?:\s|$)")
"""A formula drawn with letters, beside the same formula in TeX."""
_NOTE = re.compile(
    r"(?:^|\s)(?:admonition|note|warning|tip|caution|important|danger|callout|alert|hint|attention"
    r"|error|seealso|topic|notice|infobox)(?:\s|-|$)",
    re.IGNORECASE,
)
_ROLES = {
    **dict.fromkeys(("navigation", "search", "banner", "contentinfo"), "navigation"),
    "main": "main",
    "note": "aside",
}
_KINDS = {
    **dict.fromkeys(("button", "select", "datalist"), "form controls"),
    **dict.fromkeys(("iframe", "template", "defs", "symbol", "rp", "title", "desc"), "hidden"),
    **dict.fromkeys(("aside", "blockquote", "details", "figure", "dialog"), "aside"),
    "noscript": "for browsers without scripts",
    "main": "main",
    "article": "article",
    "nav": "navigation",
    "a": "link",
}
"""Elements that are looked at whatever their attributes are."""
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)


class HtmlTag(NamedTuple):
    """Where an element begins."""

    element: etree._Element
    name: str
    """Without the prefix of a namespace."""
    kind: str
    """Why it may be left out; "main", "article", "aside", "link", or "" if it is just read."""


Token = str | HtmlTag | int
"""A text, a tag that begins an element, or the place of the tag whose element ends here."""


def tokens_of(root: etree._Element) -> list[Token]:
    """
    Return the tags that matter and the texts of a page, in order; nothing of `UNSEEN` elements.

    The first token begins `root`, the last one ends it.
    """
    tokens: list[Token] = []
    opened: list[tuple[etree._Element, int]] = []
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            name = _bare(element.tag)
            if name in UNSEEN:
                walker.skip_subtree()
                continue
            attributes = element.items()
            kind = _kind(element, name, attributes) if attributes or name in _KINDS else ""
            if kind or name in _MARKED or element is root:
                opened.append((element, len(tokens)))
                tokens.append(HtmlTag(element, name, kind))
            if text := element.text:
                tokens.append(text)
            continue
        if event == "end" and opened and opened[-1][0] is element:
            tokens.append(opened.pop()[1])
        if (text := element.tail) and element is not root:
            tokens.append(text)
    return tokens


def tag_at(tokens: Sequence[Token], place: int) -> HtmlTag:
    """
    Return the tag at a place.

    Raises:
        InvariantError: there is none.
    """
    tag = tokens[place]
    if not isinstance(tag, HtmlTag):
        raise InvariantError(f"token {place} of a page is no tag")
    return tag


@cache
def _bare(tag: str) -> str:
    return re.split(r"[:}]", tag)[-1]


def _kind(element: etree._Element, name: str, attributes: list[tuple[str, str]]) -> str:
    """Return why an element is looked at; "" if there is no reason."""
    if len(attributes) == 1 and attributes[0][0] == "class":
        kind = _kind_by_class(attributes[0][1], name)
    else:
        kind = _kind_by_attributes(dict(attributes), name) if attributes else ""
    if kind or name not in _KINDS:
        return kind
    if name == "a":
        return "link" if element.get("href") is not None else ""
    shown = name == "template" and element.get("shadowrootmode")
    return "" if shown or (name == "button" and _is_heading(element)) else _KINDS[name]


def _kind_by_attributes(attributes: dict[str, str], name: str) -> str:
    role = attributes.get("role", "")
    if _is_hidden(attributes, role):
        return "hidden"
    if role in _ROLES:
        return _ROLES[role]
    return _kind_by_class(attributes["class"], name) if "class" in attributes else ""


@lru_cache(4_096)
def _kind_by_class(classes: str, name: str) -> str:
    if name in ("html", "body", "main", "article"):
        return ""
    if name in ("a", "span", "button") and _PERMALINK.search(classes):
        return "permalinks"
    if _NUMBERS.search(classes):
        return "line numbers"
    if name in BLOCKS and name not in HEADINGS:
        if _FURNITURE.search(classes):
            return "navigation"
        if _MENU.search(classes):
            return "menu"
        if _CONTENTS.search(classes):
            return "table of contents"
        if _NOTE.search(classes):
            return "aside"
    return ""


def _is_hidden(attributes: dict[str, str], role: str) -> bool:
    """Tell whether an element is never shown; panels behind tabs are, one after the other."""
    if role == "tabpanel":
        return False
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" and _RENDERED.search(attributes.get("class", "")):
        return True
    return "style" in attributes and _HIDDEN_STYLE.search(attributes["style"]) is not None


def _is_heading(element: etree._Element) -> bool:
    """Tell whether a button is what a heading says, as in pages that fold, not one beside it."""
    parent = element.getparent()
    if parent is None or not (parent.tag in HEADINGS or parent.tag == "summary"):
        return False
    return parent[0] is element and not (parent.text or "").strip()
