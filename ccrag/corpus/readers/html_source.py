"""HTML markup as a tree, through lxml, without the limits at which libxml2 drops text. Pure."""

import re
from collections import Counter
from collections.abc import Iterator
from html import escape

from lxml import etree

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.html_tokens import BLOCKS

MAX_DEPTH = 500
"""
The depth to which the tags of a page are used if it nests deeper than libxml2 reads (2,048);
below it, tags are ignored and the text stays.
"""
MAX_FRAMES = 3
"""Pages inside pages (`<iframe srcdoc>`) that are opened."""
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)[^<>]*>")
_NOT_NESTED = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "iframe", "img", "input", "link", "meta",
     "noframes", "param", "plaintext", "script", "source", "style", "textarea", "title", "track",
     "wbr", "xmp")
)  # fmt: skip
"""Elements that hold none or nothing but characters: their tags always stay."""
_END_LEFT_OUT = frozenset(
    ("p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "rt", "rp")
)
"""Elements that usually end without a tag that says so: not counted as open."""


def parse(markup: str) -> etree._Element:
    """
    Return the root of a page, with its inner pages (`srcdoc`, `noframes`) in its tree.

    Raises:
        RecordError: there is nothing in it that could be parsed.
    """
    return _parsed(_with_character_data(markup), MAX_FRAMES)


def _parsed(markup: str, frames: int) -> etree._Element:
    root, truncated = _tree(markup)
    if truncated:
        root, truncated = _tree(_flattened(markup))
    if root is None or truncated:
        problem = "nests its elements too deep" if truncated else "it holds no element"
        raise RecordError("syntax", f"not HTML that can be read: {problem}")
    if frames:
        for frame, inner in list(_inner_pages(root)):
            _fill(frame, _parsed(inner, frames - 1))
    return root


def _tree(markup: str) -> tuple[etree._Element | None, bool]:
    """
    Return the root, None if there is none, and True if libxml2 truncated the text at its own depth.
    """
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        root = etree.fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except etree.XMLSyntaxError:
        return None, False
    return root, any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)


def _flattened(markup: str) -> str:
    """Return `markup` without the tags of elements that are nested deeper than `MAX_DEPTH`."""
    stack: list[str] = []
    opened: Counter[str] = Counter()

    def shallow(tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name in _NOT_NESTED:
            return tag[0]
        if name not in _END_LEFT_OUT:
            if not tag[1]:
                stack.append(name)
                opened[name] += 1
                deep = len(stack) > MAX_DEPTH
            else:
                deep = len(stack) > MAX_DEPTH
                while opened[name]:
                    closed = stack.pop()
                    opened[closed] -= 1
                    if closed == name:
                        break
        else:
            deep = len(stack) > MAX_DEPTH
        if not deep:
            return tag[0]
        return "<hr>" if name in BLOCKS else ""

    return _TAG.sub(shallow, markup)


def _with_character_data(markup: str) -> str:
    """
    Return `markup` with CDATA sections as text, as in XHTML; those of scripts stay as they are.
    """
    parts: list[str] = []
    at = 0
    while (start := markup.find("<![CDATA[", at)) >= 0:
        end = markup.find("]]>", start)
        end = len(markup) if end < 0 else end
        before = markup[at:start]
        quoted = max(map(before.rfind, ("<script", "<style"))) > before.rfind("</")
        inside = markup[start + 9 : end]
        parts += (before, markup[start : end + 3] if quoted else escape(inside, quote=False))
        at = end + 3
    return "".join([*parts, markup[at:]]) if parts else markup


def _inner_pages(root: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    for frame in root.iter("iframe", "noframes"):
        inner = frame.get("srcdoc", "") if frame.tag == "iframe" else frame.text or ""
        if inner.strip():
            yield frame, inner


def _fill(frame: etree._Element, root: etree._Element) -> None:
    """Put the body of an inner page in the place of what a browser shows without it."""
    body = root.find("body")
    content = root if body is None else body
    frame.tag = "div"
    frame[:] = list(content)
    frame.text = content.text
