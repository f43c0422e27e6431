"""
HTML pages as Markdown. The text of a page stays in its order; what surrounds it on a site
(navigation, scripts, controls) is left out and counted.
"""

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.encodings import decode_page
from ccrag.corpus.readers.html_source import parse
from ccrag.corpus.readers.html_survey import Survey, survey
from ccrag.corpus.readers.html_tables import Repeats
from ccrag.corpus.readers.html_tokens import HtmlTag, Token, tokens_of
from ccrag.corpus.readers.html_writer import MarkdownWriter, tidy
from ccrag.corpus.readers.page import Loss, ReadPage
from ccrag.corpus.readers.source import PageSource

_DECLARED = re.compile(
    rb"""<meta\s[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})"""
    rb"""|<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_HEAD_BYTES = 4_096
"""Bytes in which a page may declare its encoding; browsers look at the first 1,024."""


def read_html(source: PageSource) -> ReadPage:
    """
    Return the text of a page as Markdown, and what was left out of it.

    Raises:
        RecordError: there is nothing to read in it.
    """
    found = _DECLARED.search(_COMMENT.sub(b"", source.data[:_HEAD_BYTES]))
    declared = (found[1] or found[2]).decode("ascii") if found else None
    markup, undecoded = decode_page(source.data, declared=declared)
    page = page_of(parse(markup), markup_chars=len(markup))
    return page._replace(losses=(*undecoded, *page.losses))


def page_of(root: etree._Element, *, markup_chars: int) -> ReadPage:
    """
    Return a parsed page's text as Markdown.

    Args:
        markup_chars: the length of its markup, which bounds what its tables may repeat.

    Raises:
        RecordError: there is nothing to read in it.
    """
    tokens = tokens_of(root)
    found, repeats = survey(tokens), Repeats(markup_chars)
    writer = MarkdownWriter(tokens, found, repeats)
    for start, end in found.roots:
        writer.write(start, end)
    text = writer.text()
    if not text.strip():
        raise RecordError("no text", _without_text(root))
    title = writer.title or _title(root, tokens, found)
    return ReadPage(
        title, text, words_in_file=found.words, losses=(*found.losses, *_parts(root, repeats))
    )


def _parts(root: etree._Element, repeats: Repeats) -> Iterator[Loss]:
    """Yield the losses that are counted in parts, not in words."""
    scripts = sum(1 for _ in root.iter("script", "style"))
    if scripts:
        yield Loss("scripts and styles", scripts, "parts", intended=True)
    if repeats.refused:
        kind = "table cells written once, not in each row or column they reach over"
        yield Loss(kind, repeats.refused, "parts", intended=True)


def _title(root: etree._Element, tokens: Sequence[Token], found: Survey) -> str:
    """Return a heading of the first rank outside the main part, else the window's title."""
    for at, token in enumerate(tokens):
        if isinstance(token, HtmlTag) and token.name == "h1":
            title = MarkdownWriter(tokens, found, Repeats(0)).inline(at)
            if title:
                return title
    titles = (tidy("".join(map(str, element.itertext()))) for element in root.iter("title"))
    return next(filter(None, titles), "")


def _without_text(root: etree._Element) -> str:
    """Return why there is nothing to read."""
    frames = [source for frame in root.iter("frame", "iframe") if (source := frame.get("src"))]
    if frames:
        return f"the page holds no text but frames ({', '.join(frames[:3])}): give those files"
    return "the page holds no text; is it made by a script?"
